"""A goal that somebody sets: reached beyond noise the call is to stop, whatever more could be had; else how far it is, and how likely."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import rl_advisor as rl
from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.tools.workers import isolated

from doors import with_client


def rising(folder: Path, noise: float = 0.02, steps: int = 400) -> Path:
    """A score that rises in a straight line from .2 to .8 ."""
    rng = np.random.default_rng(5)
    rows = [
        {"step": 5 * i, "eval/accuracy": 0.2 + 0.6 * i / 80 + noise * rng.standard_normal(), "reward": i / 80} for i in range(steps // 5)
    ]
    folder.mkdir(exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One such run."""
    return rising(tmp_path_factory.mktemp("goal") / "run")


def goal_of(run: Path, goal: float) -> tuple[str, str, str]:
    """Call, its reason, and what the page says of the goal."""
    a = rl.assess(run, goal=goal)
    (said,) = [line.split(maxsplit=1)[1] for line in str(a).splitlines() if line.strip().startswith("Goal ")]
    return a.call, a.call_reason, said


def test_what_is_reached_is_enough(run: Path) -> None:
    assert rl.assess(run).call_reason == "pays"
    for goal in (0.3, 0.7):
        call, reason, said = goal_of(run, goal)
        assert (call, reason) == ("stop", "solved") and said.startswith(f"{goal} is reached")
    a = rl.assess(run, goal=0.7)
    assert a.next_experiment.do.startswith("Stop here, the goal is reached") and "Stop: the goal is reached." in a.summary
    assert a.p_continue_pays == rl.assess(run).p_continue_pays, "what more could be had is as likely as before"


def test_noise_does_not_reach_it(tmp_path: Path) -> None:
    noisy = rising(tmp_path / "noisy", noise=0.2)
    assert goal_of(noisy, 0.79)[1] != "solved"


def test_what_is_not_reached_is_so_far_away(run: Path) -> None:
    near, far = (goal_of(run, goal) for goal in (0.9, 3.0))
    assert near[:2] == far[:2] == ("continue", "pays")
    assert near[2].startswith("0.9 is not reached: eval/accuracy stands at about 0.77") and "0.13 below" in near[2]
    assert re.search(r"at this pace it (likely gets|may get) there by step 527 \(\d+ %\)", rl.assess(run, goal=0.9).summary)
    assert "hardly gets there by step 527" in rl.assess(run, goal=3.0).summary


def test_what_is_broken_stays_broken(tmp_path: Path) -> None:
    run = rising(tmp_path / "run")
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    rows += [{"step": 400 + 5 * i, "eval/accuracy": 0.02, "reward": 0.0} for i in range(40)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    call, reason, said = goal_of(run, 0.7)
    assert (call, reason) == ("stop", "broken") and "was reached" in said and "lost again" in said


def test_a_cost_reaches_its_goal_from_above(tmp_path: Path) -> None:
    """Of what should become less, whose sign is turned, the goal is turned as well."""
    rng = np.random.default_rng(3)
    rows = [f"{i},{100 - 0.5 * i + rng.standard_normal():.3f}" for i in range(100)]
    (tmp_path / "progress.csv").write_text("\n".join(["step,cost", *rows]) + "\n")
    assert goal_of(tmp_path, 60)[:2] == ("stop", "solved")
    call, _, said = goal_of(tmp_path, 20)
    assert call == "continue" and said.startswith("-20 is not reached: -cost stands at about -5")


def test_every_door_takes_it(run: Path) -> None:
    """The commands, the server's tools and a watch: each comes to the same call."""
    ask = CliRunner().invoke
    told = json.loads(ask(main, ["assess", str(run), "--goal", "0.7", "--json"]).stdout)
    assert (told["call"], told["call_reason"]) == ("stop", "solved") and "is reached" in told["story"]["facts"]["Goal"]
    rows = [json.loads(ask(main, ["triage", str(run), "--no-store", "--json", *goal]).stdout) for goal in ((), ("--goal", "0.7"))]
    assert [row["call"] for row in rows] == ["continue", "stop"]
    watched = ask(main, ["watch", str(run), "--goal", "0.7", "--every", "0.01", "--idle", "0.01"])
    assert watched.exit_code == 10 and "stop" in watched.stdout
    page = run.parent / "page.md"
    ask(main, ["report", str(run), "--goal", "0.7", "--out", str(page)])
    assert "is reached" in page.read_text()
    brief = isolated.answer({"verb": "assess_run", "run": str(run), "goal": 0.7})
    assert brief["call_reason"] == "solved" and "is reached" in brief["goal"]
    triaged = with_client([run.parent], lambda c: c.call_tool("triage_runs", {"goal": 0.7})).structured_content
    assert triaged["runs"][0]["call"] == "stop"
