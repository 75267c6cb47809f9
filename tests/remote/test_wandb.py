"""W&B through its own client, from a server on this machine that answers its queries with the rows of a real run."""

import base64
import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from rl_advisor import tools
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.formats import wandb_run
from rl_advisor.reading.remote import guarded
from rl_advisor.reading.remote.stores import wandb as store
from tests.remote.conftest import KEY

REAL = next((Path(__file__).parents[1] / "data" / "trackers").rglob("*.wandb"))


def _rows() -> list[dict[str, Any]]:
    """The history of the real run, one object a row, as the server keeps it."""
    rows = []
    for record in wandb_run._records(REAL, []):
        places = wandb_run.inside(record, 0, len(record), wandb_run._HISTORY)
        rows += [dict(wandb_run.flat(wandb_run._items(record, *place, 1))) for place in places]
    return rows


def _answer(query: str, variables: dict[str, Any], rows: list[dict[str, Any]], page: str) -> dict[str, Any]:
    """What W&B's server says to each of the client's questions (shapes as in the client's own code)."""
    run: dict[str, Any] = {}
    if "RunFragment" in query:
        run = {
            "projectId": "7", "id": "UnVuOnYx", "name": "run1", "displayName": "grpo", "state": "finished", "tags": [], "sweepName": None,
            "config": json.dumps({"learning_rate": {"value": 1e-5}, "_wandb": {"value": {}}}), "group": None, "jobType": None,
            "commit": None, "readOnly": False, "createdAt": "2026-11-21T00:00:00Z", "heartbeatAt": "2026-11-21T00:00:00Z",
            "description": "", "notes": "", "systemMetrics": "{}", "summaryMetrics": "{}", "historyLineCount": len(rows),
            "user": {"name": "n", "username": "u"}, "historyKeys": {"lastStep": len(rows) - 1, "sets": [], "keys": {}},
        }  # fmt: skip
    elif "RunHistoryKeys" in query:
        run = {"historyKeys": {"lastStep": len(rows) - 1}}
    elif "parquetHistory" in query:
        run = {"parquetHistory": {"parquetUrls": [], "liveData": rows}}
    elif "HistoryPage" in query:
        some = [r for r in rows if variables["minStep"] <= r["_step"] < variables["maxStep"]]
        run = {"history": [json.dumps(r) for r in some[: variables["pageSize"]]]}
    elif "events(" in query:
        at = [{"_timestamp": 1795218561.0 + 30 * i, "system.gpu.0.powerWatts": 300.0 + i, "system.gpu.0.gpu": 90} for i in range(4)]
        run = {"events": [json.dumps(row) for row in at]}
    elif "RunFilesFragment" in query:
        names = ("output.log", "../escape.log", "model.safetensors")
        node = {"id": "1", "url": page, "directUrl": page, "sizeBytes": "20", "mimetype": "", "updatedAt": "2026-11-21T00:00:00", "md5": ""}
        edges = [{"node": node | {"name": name}, "cursor": "c"} for name in names]
        run = {"fileCount": len(names), "files": {"edges": edges, "pageInfo": {"endCursor": "c", "hasNextPage": False}}}
    viewer = {"id": "u", "username": "u", "entity": "me", "email": "e", "flags": "{}", "teams": {"edges": []}}
    found = None if variables.get("name", variables.get("runName")) == "none" else run
    return {"data": {"viewer": viewer, "project": {"internalId": "7", "run": found}}}


@pytest.fixture
def server(serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """The stand-in; the authorisations that it was shown."""
    rows, shown = _rows(), []
    for i, row in enumerate(rows):
        row["_step"] = i

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, body: bytes, code: int = 200) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if self.path == "/file":
                assert KEY in base64.b64decode(self.headers["Authorization"].split()[1]).decode()
                self.send_response(302)
                self.send_header("Location", "/storage")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            assert "Authorization" not in self.headers
            self._send(b"CUDA out of memory.\n")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            if not self.path.endswith("/graphql"):
                self._send(b"")
                return
            asked = json.loads(body)
            shown.append(self.headers.get("Authorization", ""))
            page = f"http://{self.headers['Host']}/file"
            self._send(json.dumps(_answer(asked["query"], asked.get("variables") or {}, rows, page)).encode())

        def log_message(self, *_: object) -> None: ...

    monkeypatch.setenv("WANDB_BASE_URL", serve(Handler))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield shown
    import wandb

    wandb.teardown()


def test_run_reads_as_its_own_file_does(server: list[str], tmp_path: Path) -> None:
    """History, configuration, GPU statistics and log of the served run; every curve equals that of the run's own binary file."""
    got, want = tools.read("wandb://me/proj/run1"), read_run(REAL)
    assert server
    assert got.frameworks == want.frameworks == ("trl",)
    same = {n: c for n, c in want.curves.items() if c.mapped}
    assert {n: c.value.tolist() for n, c in got.curves.items() if n in same} == {n: c.value.tolist() for n, c in same.items()}
    assert {n: c.step.tolist() for n, c in got.curves.items() if n in same} == {n: c.step.tolist() for n, c in same.items()}
    assert got.settings["learning_rate"] == pytest.approx(1e-5)
    assert got.telemetry["power_w"].tolist() == [300.0, 301.0, 302.0, 303.0]
    assert [e.kind for e in got.events] == ["out_of_memory"]
    assert any("names" in gap.why for gap in got.gaps)
    assert not list(tmp_path.parent.glob("escape.log"))


def test_missing_run_is_the_callers_mistake(server: list[str]) -> None:
    """A run that the server does not know is said plainly."""
    assert server == []
    with pytest.raises(FileNotFoundError, match="no run at wandb://me/proj/none"):
        tools.read("wandb://me/proj/none")


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key is a clear message, never a question on the terminal."""
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(UnreadableRun, match="WANDB_API_KEY"):
        tools.read("wandb://me/proj/run1")


def test_addresses() -> None:
    """The browser's address and the short one name the same run; others are refused with the form."""
    assert store.path_of("https://wandb.ai/me/proj/runs/run1?nw=x") == store.path_of("wandb://me/proj/run1") == "me/proj/run1"
    with pytest.raises(UsageError, match="wandb://ENTITY/PROJECT/RUN"):
        store.path_of("wandb://me/proj")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://localhost:{port}/x", "not public"),
        ("http://169.254.169.254/latest/meta-data", "not public"),
        ("http://10.0.0.1/x", "not public"),
        ("http://[::1]:{port}/x", "not public"),
        ("https://127.0.0.1:{port}/x", "another scheme"),
        ("file:///etc/passwd", "another scheme|not allowed|302"),
    ],
)
def test_a_file_that_lies_with_a_private_address_is_not_fetched(serve, location: str, said: str) -> None:
    """The named host alone may be private; neither this machine under another name nor the cloud's own address is asked."""
    reached = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reached.append(self.path)
            self.send_response(302)
            self.send_header("Location", location.format(port=self.server.server_address[1]))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    home = serve(Handler)
    with pytest.raises(OSError, match=said):
        guarded.opened(f"{home}/file", home, {"Authorization": "Basic x"})
    assert reached == ["/file"]
