"""Many runs judged: every one has its row, the urgent first; nothing is judged twice, and a bad one costs its own row."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor.cli import main
from rl_advisor.output.errors import UsageError
from rl_advisor.tools.triage import How, Place, Store, triage
from rl_advisor.tools.triage.row import CONTRACT
from rl_advisor.tools.triage.urgency import order, whole
from rl_advisor.tools.triage.work import work

from small_runs import CURVES, written
from test_bombs import BOMBS

POISON = ("dict, a long number", "parquet, one text", "sqlite, one leaf", "JSON, deep in a line")
NO_ENGINE = How(engine="none")


def asked(*arguments: object) -> list[dict]:
    done = CliRunner().invoke(main, ["triage", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_run_has_a_line_the_urgent_first(sweep: Path, tmp_path: Path) -> None:
    """As the contract says; a run that was just written and collapsed burns."""
    rows = asked(sweep, "--store", tmp_path / "s.sqlite")
    assert {f"{name}-{seed}" for name in ("rising", "broken", "flat") for seed in range(2)} == {row["run"] for row in rows}
    assert {"broken-0", "broken-1"} == {row["run"] for row in rows[:2]}
    assert all(set(CONTRACT) <= set(row) for row in rows)
    assert tuple(rows[0][k] for k in ("urgency", "verdict", "call", "error")) == ("burning", "collapsed", "stop", None)
    one = CliRunner().invoke(main, ["assess", str(sweep / "broken-0"), "--json"])
    assert json.loads(one.stdout)["verdict"] == next(r["verdict"] for r in rows if r["run"] == "broken-0")


def test_an_unchanged_run_is_known_a_grown_one_is_judged(sweep: Path, tmp_path: Path) -> None:
    """The second look needs no engine; a changed run needs one again."""
    with Store(tmp_path / "s.sqlite") as store:
        first = triage([str(sweep)], How(jobs=2), store)
        second = triage([str(sweep)], NO_ENGINE, store)
        assert [r["verdict"] for r in first] == [r["verdict"] for r in second]
        with (sweep / "flat-0" / "progress.csv").open("a") as file:
            file.write("61,0.5\n")
        with pytest.raises(UsageError):
            triage([str(sweep)], NO_ENGINE, store)
        (grown,) = [r for r in triage([str(sweep)], How(), store) if r["run"] == "flat-0"]
        assert grown["step"] == 61


def test_a_full_disk_loses_no_answer(sweep: Path, tmp_path: Path) -> None:
    """What cannot be written is told all the same, once, and made again when there is room."""
    with Store(tmp_path / "s.sqlite") as store:
        room = store._base.execute("PRAGMA page_count").fetchone()[0]
        store._base.execute(f"PRAGMA max_page_count = {room}")
        rows = triage([str(sweep)], How(jobs=2), store)
        assert len({r["run"] for r in rows}) == len(rows) and all(r["error"] is None for r in rows)
        assert store.unwritten
        assert [r["verdict"] for r in triage([str(sweep)], NO_ENGINE, store)] == [r["verdict"] for r in rows]
    with Store(tmp_path / "s.sqlite") as store:
        assert len(triage([str(sweep)], How(jobs=2), store)) == len(rows)
        assert not store.unwritten


def test_several_runs_in_one_file_have_a_row_each(tmp_path: Path) -> None:
    """What names cannot tell the reader tells; the rows are kept like any other."""
    (tmp_path / "a").mkdir()
    several = {name: [{"step": i, "reward": float(v)} for i, v in enumerate(values)] for name, values in CURVES.items()}
    (tmp_path / "a" / "sweep.json").write_text(json.dumps(several))
    with Store(None) as store:
        names = {row["run"] for row in triage([str(tmp_path)], How(), store)}
        assert {f"a/sweep.json#{name}" for name in CURVES} == names
        assert names == {row["run"] for row in triage([str(tmp_path)], NO_ENGINE, store)}
        assert {f"{tmp_path}/a/sweep.json#{n}" for n in CURVES} == {r["run"] for r in triage([f"{tmp_path}/a/sweep.json"], How(), store)}


def test_what_cannot_be_read_says_so_last_and_is_not_tried_again(sweep: Path) -> None:
    """Its row has the reason and no judgement."""
    (sweep / "bad").mkdir()
    (sweep / "bad" / "metrics.jsonl").write_text("\x00not json\n" * 5)
    with Store(None) as store:
        rows = triage([str(sweep)], How(jobs=2), store)
        assert (rows[-1]["run"], rows[-1]["verdict"], rows[-1]["urgency"]) == ("bad", None, "unread")
        assert "could be read" in rows[-1]["error"]
        assert str(sweep) not in rows[-1]["error"]
        assert len(triage([str(sweep)], NO_ENGINE, store)) == 7


def test_a_run_that_needs_too_much_costs_its_own_row(sweep: Path) -> None:
    """A long log with too little time or memory: both tries together have no more than the limit, the other runs are judged."""
    long = sweep / "long" / "metrics.json"
    long.parent.mkdir()
    line = json.dumps({"step": 0, **{f"m{i}": i / 7 for i in range(200)}})
    long.write_text("[" + ",".join(line.replace('"step": 0', f'"step": {i}') for i in range(6_000)) + "]")
    assert "seconds" in work(Place("long", str(long.parent), "", 0.0), How(seconds=0))["error"]
    rows = triage([str(sweep)], How(jobs=2, memory=48 << 20), Store(None))
    assert len(rows) == 7
    assert [r["run"] for r in rows if r["error"]] == ["long"]


def test_poisoned_runs_cost_their_own_rows(sweep: Path) -> None:
    """Small files that cost much, beside sound runs: every one has a row, and those of the sound runs are what they are without them."""

    def judged() -> dict[str, dict]:
        return {r["run"]: {**r, "age_s": 0} for r in triage([str(sweep)], How(jobs=2), Store(None))}

    sound = judged()
    for number, kind in enumerate(POISON):
        (sweep / f"poison-{number}").mkdir()
        BOMBS[kind](sweep / f"poison-{number}")
    rows = judged()
    assert {*sound, *(f"poison-{n}" for n in range(len(POISON)))} == {*rows}
    assert sound == {name: rows[name] for name in sound}


def test_two_triages_at_once_share_a_store(sweep: Path, tmp_path: Path) -> None:
    """Both give every row, and what they left behind answers a third that may judge nothing."""
    command = [sys.executable, "-m", "rl_advisor", "triage", str(sweep), "--store", str(tmp_path / "s.sqlite"), "--jobs", "1", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    said = [[{**json.loads(line), "age_s": 0} for line in each.communicate()[0].splitlines()] for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert said[0] == said[1]
    assert len(said[0]) == len({row["run"] for row in said[0]}) == 6
    with Store(tmp_path / "s.sqlite") as store:
        assert len(triage([str(sweep)], NO_ENGINE, store)) == 6


def test_a_killed_triage_goes_on(sweep: Path, tmp_path: Path) -> None:
    """Killed twice on its way; every run has one row in the end, as without a kill."""
    command = [sys.executable, "-m", "rl_advisor", "triage", str(sweep), "--store", str(tmp_path / "s.sqlite"), "--jobs", "1", "--json"]
    for seconds in (1.1, 1.5):
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    rows = asked(sweep, "--store", tmp_path / "s.sqlite")
    assert 6 == len(rows) == len({row["run"] for row in rows})
    assert [{**r, "age_s": 0} for r in asked(sweep, "--no-store")] == [{**r, "age_s": 0} for r in rows]


def test_the_table_counts_and_shows(sweep: Path, tmp_path: Path) -> None:
    """In the terminal: how many of each kind, and the names."""
    done = CliRunner().invoke(main, ["triage", str(sweep), "--store", str(tmp_path / "s.sqlite"), "--jobs", "2"])
    assert re.match(r"6 runs: \d dead and still running, ", done.stdout)
    assert "broken-0" in done.stdout


def test_mistakes_are_the_callers(tmp_path: Path) -> None:
    """A root that is not there, a store that is none, an empty folder."""
    runner = CliRunner()
    assert runner.invoke(main, ["triage", str(tmp_path / "nothing")]).exit_code == 2
    (tmp_path / "none.sqlite").write_text("no database " * 100)
    assert runner.invoke(main, ["triage", str(tmp_path), "--store", str(tmp_path / "none.sqlite")]).exit_code == 2
    empty = runner.invoke(main, ["triage", str(tmp_path / "none.sqlite").removesuffix("none.sqlite"), "--no-store", "--json"])
    assert empty.exit_code == 0
    with pytest.raises(UsageError, match="processes"):
        triage([str(written(tmp_path / "a", "flat"))], How(engine="process"), Store(None))


URGENT = [
    ("burning", {"verdict": "collapsed", "call": "stop"}, 60),
    ("gamed", {"verdict": "reward_hacking", "call": "stop"}, 60),
    ("degrading", {"verdict": "degrading", "call": "continue"}, 60),
    ("dead", {"verdict": "collapsed", "call": "stop"}, 9_000),
    ("dead", {"verdict": "collapsed", "call": "stop", "finished": True}, 60),
    ("undecided", {"verdict": "undecidable", "call": "undecided"}, 60),
    ("sound", {"verdict": "improving", "call": "continue"}, 60),
    ("unread", {"error": "nothing could be read"}, 60),
]


def test_urgency_orders() -> None:
    """Dead and still running first, what could not be read last; the clock alone ends a burning run."""
    rows = [whole({"p": 0.5, "step": 10, **row}, Place(str(i), "", "", 1e9 - age), now=1e9) for i, (_, row, age) in enumerate(URGENT)]
    assert [name for name, _, _ in URGENT] == [row["urgency"] for row in rows]
    assert list(range(len(rows))) == [int(row["run"]) for row in sorted(rows, key=order)]


def test_stopping_is_worth_what_is_left() -> None:
    """GPU hours to the planned end, only for a run that goes on and should not; slow steps keep a run alive for longer."""
    cost = {"hours": 100.0, "hours_left": 10.0, "gpu_hours_left": 80.0}
    row, ago = {"verdict": "collapsed", "call": "stop", "step": 10, "cost": cost}, Place("a", "", "", 1e9 - 7_200)
    assert whole(row, ago, now=1e9)["saves_gpu_hours"] == 80.0
    assert whole({**row, "verdict": "improving", "call": "continue"}, ago, now=1e9)["saves_gpu_hours"] is None
    assert whole({**row, "step": 10_000}, ago, now=1e9)["saves_gpu_hours"] is None


def test_a_store_is_opened_and_closed_by_many_at_once(tmp_path: Path) -> None:
    """Opening waits while another opens or closes the file, and nothing that was kept is lost."""

    def kept(who: int) -> None:
        for number in range(10):
            with Store(tmp_path / "s.sqlite") as store:
                store.keep(f"{who}-{number}", number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(kept, range(4)))
    with Store(tmp_path / "s.sqlite") as store:
        assert all(store.known(f"{who}-{number}") is not None for who in range(4) for number in range(10))
