"""What comes out besides the table: changes of a watch, told and posted once; Parquet, a page and reports on disk."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from rl_advisor.cli import main
from rl_advisor.output.errors import UsageError
from rl_advisor.triage import Store
from rl_advisor.triage.page import encoded
from rl_advisor.triage.row import CONTRACT
from rl_advisor.triage.watching import watch


def row(run, urgency, verdict, confidence="high", **more):
    return {
        "run": run,
        "where": run,
        "urgency": urgency,
        "verdict": verdict,
        "call": "stop",
        "cause": "none",
        "confidence": confidence,
        "error": None,
        **more,
    }


LOOKS = [
    ([row("a", "sound", "improving"), row("b", "burning", "collapsed")], ["b"]),
    ([row("a", "sound", "improving"), row("b", "burning", "collapsed")], []),
    ([row("a", "burning", "collapsed"), row("b", "dead", "collapsed")], ["a", "b"]),
    ([row("a", "sound", "plateaued", "low"), row("b", "dead", "collapsed")], []),
    ([row("a", "burning", "collapsed"), row("b", "dead", "collapsed")], []),
    ([row("a", "sound", "plateaued", "low"), row("b", "dead", "collapsed")], []),
    ([row("a", "sound", "plateaued", "low"), row("c", "gamed", "reward_hacking")], ["a", "c"]),
]


def test_a_watch_tells_only_what_changed() -> None:
    """At first what is urgent, then changes: at once where they are sure, else when two looks agree; also after a restart."""
    with Store(None) as store:
        for rows, expected in LOOKS:
            told: list[dict] = []
            watch(["root"], lambda r=rows: r, store, told.append, every=1, looks=1)
            assert expected == [change["run"] for change in told]
            assert all(change["text"] and change["id"] for change in told)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict], list[int]]]:
    """A server that takes posts, with the codes that it answers: its address, what came, and the codes to come."""
    came: list[dict] = []
    codes: list[int] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(codes.pop(0) if codes else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/secret", came, codes
    server.shutdown()
    server.server_close()


def test_a_refused_post_is_tried_again_at_the_next_look(hook, capsys) -> None:
    """With the same name, and the address is not repeated; no other address than the web's is taken."""
    address, came, codes = hook
    codes.append(503)
    with Store(None) as store:
        for _ in range(3):
            watch(["root"], lambda: LOOKS[0][0], store, lambda _: None, every=1, looks=1, webhook=address)
        assert [change["run"] for change in came] == ["b", "b"]
        assert len({change["id"] for change in came}) == 1
        assert "secret" not in capsys.readouterr().err
        with pytest.raises(UsageError, match="http"):
            watch(["root"], list, store, print, every=1, looks=1, webhook="file:///tmp/x")


def test_files_beside_the_table(sweep: Path, tmp_path: Path) -> None:
    """Parquet has the contract's columns, the page links the reports, and what the runs share stands on it."""
    out = tmp_path / "out"
    out.mkdir()
    given = [
        "--store",
        out / "s",
        "--parquet",
        out / "rows.parquet",
        "--page",
        out / "page.html",
        "--reports",
        out / "reports",
        "--jobs",
        "2",
    ]
    done = CliRunner().invoke(main, ["triage", str(sweep), "--json", *map(str, given)])
    assert done.exit_code == 0, done.output
    table = pq.read_table(out / "rows.parquet")
    assert set(CONTRACT) <= set(table.column_names)
    assert [json.loads(line)["run"] for line in done.stdout.splitlines()] == table["run"].to_pylist()
    reports = list((out / "reports").iterdir())
    page = (out / "page.html").read_text()
    assert 6 == len(reports) == page.count("reports/")
    assert all(report.read_text().startswith("<!doctype html>") for report in reports)
    shared = CliRunner().invoke(main, ["triage", str(sweep), "--common", "--json", "--store", str(out / "s")])
    assert json.loads(shared.stdout)["runs"] == 6


def test_a_curve_is_a_letter_a_point() -> None:
    """Lowest 0, highest z; a flat one in the middle."""
    assert (encoded([0.0, 0.49, 1.0]), encoded([3.0, 3.0]), encoded([])) == ("0hz", "hh", "")
