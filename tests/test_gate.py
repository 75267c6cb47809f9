"""The gate for pipelines: exit code 10 for the verdicts that were named, files written before, wrong names refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.cli.gate import wasted

ROOT = Path(__file__).parents[1]
RUN = str(ROOT / "examples" / "grpo-run")


@pytest.mark.parametrize(
    ("judged", "share"),
    [
        ({"verdict": "collapsed", "call": "stop", "step": 200, "best_checkpoint": {"step": 50}}, 0.75),
        ({"verdict": "plateaued", "call": "stop", "step": 200, "best_checkpoint": 200}, 0.0),
        ({"verdict": "not_learning", "call": "stop", "step": 200, "best_checkpoint": None}, 1.0),
        ({"verdict": "improving", "call": "stop", "step": 200, "best_checkpoint": 50}, 0.0),
        ({"verdict": "degrading", "call": "continue", "step": 200, "best_checkpoint": 50}, 0.0),
        ({"verdict": None, "error": "unread"}, 0.0),
    ],
)
def test_what_a_run_wasted(judged: dict[str, object], share: float) -> None:
    assert wasted(judged) == pytest.approx(share)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["assess", RUN, "--json"], 0),
        (["assess", RUN, "--json", "--fail-on", "reward-hacking,collapsed"], 10),
        (["assess", RUN, "--fail-on", "improving,plateaued"], 0),
        (["assess", RUN, "--fail-on-cost", "0.5"], 10),
        (["assess", RUN, "--fail-on-cost", "0.99"], 0),
        (["triage", RUN, "--no-store", "--json", "--jobs", "1", "--fail-on", "collapsed"], 10),
    ],
)
def test_the_gate_closes_on_what_was_named(given: list[str], code: int) -> None:
    done = CliRunner().invoke(main, given)
    assert done.exit_code == code, done.stderr
    assert ("the gate closes" in done.stderr) == (code == 10)
    if "--json" in given:
        assert json.loads(done.stdout)["verdict"] == "collapsed"


def test_both_pages_are_written_before_the_gate_closes(tmp_path: Path) -> None:
    pages = [tmp_path / "page.html", tmp_path / "summary.md"]
    done = CliRunner().invoke(main, ["report", RUN, *(x for p in pages for x in ("--out", str(p))), "--fail-on", "collapsed"])
    assert done.exit_code == 10
    assert all(page.stat().st_size > 500 for page in pages)


def test_a_verdict_that_there_is_not_is_refused_with_the_nearest() -> None:
    refused = CliRunner().invoke(main, ["assess", RUN, "--fail-on", "colapsed"])
    assert refused.exit_code == 2
    assert "did you mean collapsed" in refused.output
