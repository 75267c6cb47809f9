"""A band of one's own: what stays in it, what leaves it and when, and how the doors take the sound runs."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.cli.commands import main
from rl_advisor.curves import band
from rl_advisor.detectors import patterns
from rl_advisor.finding import Outcome
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.judgement.verdict import judge
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Curve, Run

STEP = np.arange(1.0, 121.0)
DETECTOR = patterns()["unlike_sound_runs"]


def drawn(seed: int, steps: np.ndarray = STEP, **changed: np.ndarray) -> Run:
    """A run that learns, with its own luck; what is named is added to a metric."""
    luck, share = np.random.default_rng(seed), steps / steps[-1]
    base = {
        "reward/mean": 0.2 + 0.6 * (1 - np.exp(-4 * share * luck.uniform(0.9, 1.1))) + luck.normal(0, 0.04, steps.size),
        "entropy/mean": 1.2 - 0.6 * share + luck.normal(0, 0.03) + luck.normal(0, 0.03, steps.size),
        "policy/grad_norm": np.exp(luck.normal(0, 0.5, steps.size)),
    }
    values = {name.replace("_", "/", 1): value for name, value in changed.items()}
    curves = {n: Curve(n, n, "log", steps, v + values.get(n, 0.0), mapped=True) for n, v in base.items()}
    return Run(name=f"run-{seed}", curves=curves, planned_steps=int(steps[-1]))


def beside(run: Run, count: int = 3) -> Run:
    """The run beside so many sound ones."""
    return replace(run, sound=tuple(drawn(100 + i) for i in range(count)))


LATE = np.where(STEP >= 60, 1.0, 0.0)


@pytest.mark.parametrize(
    ("changed", "outcome", "link"),
    [
        ({}, "absent", None),
        ({"entropy_mean": -0.5 * LATE}, "present", "exploration"),
        ({"reward_mean": -0.4 * LATE}, "present", "reward_signal"),
        ({"reward_mean": 0.4 * LATE}, "absent", None),  # better than the sound ones is no fault
        ({"entropy_mean": np.where(np.abs(STEP - 60) < 1, -3.0, 0.0)}, "absent", None),  # one step is no departure
        ({"policy_grad_norm": 0.05 * LATE}, "absent", None),
    ],
    ids=["sound", "entropy falls out", "reward falls out", "reward rises out", "one outlier", "a little"],
)
def test_what_leaves_the_band(changed, outcome, link) -> None:
    """A lasting departure on the bad side is found, on its metric's link, at about its step; nothing else is."""
    found = run_detector(DETECTOR, beside(drawn(7, **changed)))
    assert found.outcome == outcome, found.statement
    if link:
        assert found.link == link
        assert found.onset is not None
        assert found.onset.low <= 66
        assert found.onset.high >= 54


def test_few_sound_runs_make_a_wide_band() -> None:
    """The fewer runs, the farther off a departure must lie."""
    sizes = [band.limit(runs, 1 - band.ALARMS) for runs in (1, 2, 3, 10)]
    assert sizes == sorted(sizes, reverse=True)
    mild = drawn(7, entropy_mean=-0.2 * LATE)
    widths = [float((b.high - b.low).mean()) for n in (1, 3) for b in band.bands(beside(mild, n)) if b.name == "reward/mean"]
    assert widths[0] > widths[1]


def test_the_more_metrics_the_farther_off_one_of_them_must_lie() -> None:
    """What counts as outside with one metric does not with many, at the same departure."""
    odd = next(b for b in band.bands(beside(drawn(7, entropy_mean=-0.12 * LATE))) if b.name == "entropy/mean")
    sizes = [band.limit(3, 1 - band.ALARMS / n) for n in (1, 5, 20)]
    assert sizes == sorted(sizes)
    assert odd.shared == 3
    between = replace(odd, off=np.full(24, sizes[1]), among=0.0)
    assert [replace(between, shared=n).outside for n in (1, 20)] == [True, False]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sound_runs_seldom_leave_the_band_of_others(count) -> None:
    """Of forty sound runs at most two are taken for others."""
    alarms = sum(run_detector(DETECTOR, beside(drawn(seed), count)).outcome == "present" for seed in range(40))
    assert alarms <= 2


def test_without_sound_runs_nothing_is_said_and_nothing_weighed() -> None:
    """The finding says that no run was named; inside of the band the outcome speaks for the run."""
    alone, kin = open_case(drawn(7)), open_case(beside(drawn(7)))
    assert alone.findings["unlike_sound_runs"].outcome is Outcome.NOT_LOGGED
    good = [sum(judge(case).probabilities[v] for v in ("improving", "plateaued")) for case in (alone, kin)]
    assert good[1] > good[0]


def test_what_sound_runs_show_too_is_no_cause() -> None:
    """A finding on a metric that goes where it went in the sound runs is usual for the set-up."""
    case = open_case(beside(drawn(7)))
    assert "reward/mean" in case.usual
    assert not open_case(drawn(7)).usual
    odd = open_case(beside(drawn(7, entropy_mean=-0.5 * LATE)))
    assert "entropy/mean" not in odd.usual


def test_other_plans_are_compared_by_their_share() -> None:
    """Sound runs twice as long are laid over this one by the share of the plan, not by the step."""
    long = np.arange(2.0, 241.0, 2.0)
    run = replace(drawn(7), sound=tuple(drawn(100 + i, long) for i in range(3)))
    assert band.pace(run, run.sound[0]) == pytest.approx(0.5)
    assert run_detector(DETECTOR, run).outcome == "absent"


@pytest.fixture
def logs(tmp_path):
    """Three sound runs and one that parts from them, as files."""
    for name, run in {"a": drawn(1), "b": drawn(2), "c": drawn(3), "odd": drawn(4, entropy_mean=-0.7 * LATE)}.items():
        (tmp_path / name).mkdir()
        rows = ["step,reward,entropy"]
        rows += [
            f"{s:.0f},{r:.4f},{e:.4f}"
            for s, r, e in zip(STEP, run.curves["reward/mean"].value, run.curves["entropy/mean"].value, strict=True)
        ]
        (tmp_path / name / "metrics.csv").write_text("\n".join(rows))
    return tmp_path


def test_the_terminal_takes_several_sound_runs(logs) -> None:
    """``--against a b c`` in one go; what left the band is the cause, or beside it."""
    said = CliRunner().invoke(
        main, ["assess", str(logs / "odd"), *(word for n in "abc" for word in ("--against", str(logs / n))), "--json"]
    )
    assert said.exit_code == 0, said.output
    assert "left the band of 3 earlier sound runs" in said.output


def test_too_many_sound_runs_are_refused(logs) -> None:
    """More than sixteen are an error that says so."""
    with pytest.raises(UsageError, match="16 are enough"):
        tools.assess_run(logs / "odd", against=[logs / "a"] * 17)
