"""A folder or a file that holds several runs is a table: one row each, worst first; what is refused shows what it looks like."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.cli.commands import main
from rl_advisor.tools.workers import isolated

STEPS = np.arange(1, 61)
NOISE = np.random.default_rng(5).normal(0, 0.02, (3, STEPS.size))
RUNS = {
    "rising": 0.2 + 0.01 * STEPS + NOISE[0],
    "broken": np.where(STEPS < 30, 0.1 + 0.02 * STEPS, 0.02) + NOISE[1],
    "flat": 0.5 + NOISE[2],
}


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Three runs in one document."""
    rows = {name: [{"step": int(s), "reward": float(v)} for s, v in zip(STEPS, values, strict=True)] for name, values in RUNS.items()}
    (tmp_path / "sweep.json").write_text(json.dumps(rows))
    return tmp_path


@pytest.mark.parametrize("asked", [".", "sweep.json"])
def test_several_runs_are_a_table_worst_first(several: Path, asked: str) -> None:
    """By the folder and by the file; every name in it can be asked for, and no run is chosen in silence."""
    rows = tools.assess_run(several / asked)["runs"]
    assert rows[0]["run"] == "sweep.json#broken"
    assert {row["verdict"] for row in rows} >= {"collapsed"}
    for row in rows:
        one = tools.assess_run(several / row["run"])
        assert (one["verdict"], one["call"]) == (row["verdict"], row["call"])
    loaded = tools.load_run(several / asked)["runs"]
    assert {(row["run"], row["outcome"], row["steps"]["last"]) for row in loaded} == {(f"sweep.json#{name}", "reward", 60) for name in RUNS}


def test_several_folders_are_a_table(several: Path) -> None:
    """Runs in sub-folders stand by these."""
    (several / "sweep.json").unlink()
    for name, values in RUNS.items():
        (several / name).mkdir()
        rows = "".join(f"{s},{v}\n" for s, v in zip(STEPS, values, strict=True))
        (several / name / "progress.csv").write_text("step,reward\n" + rows)
    assert {row["run"] for row in tools.assess_run(several)["runs"]} == set(RUNS)


@pytest.mark.parametrize("command", ["assess", "load"])
def test_where_one_run_was_needed_the_exit_code_says_so(several: Path, command: str) -> None:
    """The table is printed and the code is that of a wrong call; a run named among them ends with 0."""
    runner = CliRunner()
    many = runner.invoke(main, [command, str(several), "--json"])
    assert many.exit_code == 2
    assert len(json.loads(many.stdout)["runs"]) == 3
    plain = runner.invoke(main, [command, str(several)])
    assert plain.exit_code == 2
    assert plain.stdout.index("sweep.json#") > 0
    assert runner.invoke(main, [command, str(several / "sweep.json#flat"), "--json"]).exit_code == 0


def test_a_refusal_shows_what_the_file_looks_like(tmp_path: Path) -> None:
    """In the terminal under its own heading, to a client in an envelope beside the way to say what a name means."""
    (tmp_path / "people.csv").write_text("name,town\nAnn,Ulm\nBob,Kiel\n")
    refused = CliRunner().invoke(main, ["load", str(tmp_path / "people.csv")])
    assert refused.exit_code == 3
    assert "begins: name,town" in refused.stderr
    with pytest.raises(isolated.Refused, match="mapping") as told:
        isolated.answer({"verb": "load_run", "run": str(tmp_path / "people.csv")})
    assert '"untrusted":"begins: name,town' in str(told.value)


def test_a_mapping_reaches_the_run_through_the_server(tmp_path: Path) -> None:
    """What was not understood can be said, by the tool as in the terminal."""
    rows = [{"step": i, "zeal": i / 9, "entropy": 1 - i / 20} for i in range(12)]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    given = isolated.answer({"verb": "load_run", "run": str(tmp_path / "log.json"), "mapping": {"reward/mean": "zeal"}, "detail": "all"})
    assert {"reward/mean": "zeal"}.items() <= {m["name"]: m["raw"] for m in given["metrics"]}.items()


@pytest.mark.parametrize(
    ("asked", "named"),
    [("rewards=zeal", "reward/mean"), ("accuracy=zeal", "pairs/accuracy"), ("kl=zeal", "kl/ref"), ("reward/mean=zeel", "zeal")],
)
def test_a_wrong_mapping_names_what_is_near(tmp_path: Path, asked: str, named: str) -> None:
    """In the user's own words, without the path of a module."""
    rows = [{"step": i, "zeal": i / 9, "entropy": 1 - i / 20} for i in range(12)]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    refused = CliRunner().invoke(main, ["load", str(tmp_path / "log.json"), "--map", asked])
    assert refused.exit_code == 2
    assert named in refused.stderr
    assert "vocabulary" not in refused.stderr
