"""What episodes did is a metric of the run, and tools that are given up are a finding; skill that needs fewer calls is none."""

from collections.abc import Callable

import pandas as pd
import pytest
from rl_advisor.detectors import patterns
from rl_advisor.features.text.behaviour import behaviour
from rl_advisor.features.text.turns import Turn
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Run
from rl_advisor.samples.episodes import with_episode_curves

CALL = Turn("assistant", "I look.", (("search", "x"),))
ASK = Turn("assistant", "Wait, let me try again.", (("read", "y"),))
SEEN, LAST = Turn("tool", "found"), Turn("assistant", "It is x.")
Write = Callable[[float], tuple[tuple[Turn, ...], float]]


def run_of(write: Write, steps: int = 10) -> Run:
    """Eight episodes a step; ``write`` takes the progress and gives turns and reward."""
    rows = []
    for step in range(steps):
        for i in range(8):
            turns, reward = write(step / (steps - 1))
            text = "\n".join(t.text for t in turns) + str(i)
            row = {"step": float(step), "prompt": f"q{i // 4}", "group": str(i // 4), "response": text, "reward": reward, "turns": turns}
            rows.append(row)
    return with_episode_curves(Run(rollouts=pd.DataFrame(rows)))


def test_numbers_of_one_episode() -> None:
    """Turns are those of the model, an answer seen before changes nothing, and what is not there is not 0 but missing."""
    found = behaviour((CALL, SEEN, ASK, SEEN, CALL, Turn("tool", "Error: bad"), LAST))
    told = {k: found[k] for k in ("turns", "tool_calls", "tools", "first_call", "corrections", "pretended")}
    assert told == {"turns": 4, "tool_calls": 3, "tools": 2, "first_call": 1, "corrections": 2, "pretended": 0}
    assert [round(found[k], 2) for k in ("repeated_calls", "tool_failures", "idle_turns")] == [0.33, 0.33, 0.33]
    assert behaviour((LAST,))["tool_failures"] != behaviour((LAST,))["tool_failures"]


@pytest.mark.parametrize(
    ("turns", "pretends"),
    [
        ((Turn("assistant", "I have searched for it: x."),), 1),
        ((Turn("assistant", "I searched for it: x.", (("search", "x"),)), SEEN), 0),
        ((CALL, SEEN, Turn("assistant", "<tool_response>made up</tool_response> so x")), 1),
        ((Turn("assistant", "One could search for it."),), 0),
    ],
)
def test_pretending(turns: tuple[Turn, ...], pretends: float) -> None:
    """A call that is claimed and never made, and an answer that the model wrote itself."""
    assert behaviour(turns)["pretended"] == pretends


def test_behaviour_is_a_metric() -> None:
    """Curves by step, a tool each, the reward where nothing else says how the run does; a log's own metric stays, text alone gets none."""
    run = run_of(lambda t: ((CALL, SEEN, ASK, SEEN, LAST) if t < 0.5 else (CALL, SEEN, LAST), t))
    assert run.curves["episode/calls/read"].value.tolist() == [1.0] * 5 + [0.0] * 5
    assert run.curves["episode/turns"].value.tolist() == [3.0] * 5 + [2.0] * 5
    assert run.curves["reward/mean"].value[-1] == 1
    assert set(run.until(3).curves["episode/turns"].step) == {0, 1, 2, 3}
    assert with_episode_curves(run) is run
    plain = with_episode_curves(Run(rollouts=run.rollouts.drop(columns="turns").assign(response="words")))
    assert not plain.family("episode/")


def fades(t: float) -> tuple[tuple[Turn, ...], float]:
    return ((CALL, SEEN, LAST), 0.8) if t < 0.4 else ((LAST,), 0.0)


def learns(t: float) -> tuple[tuple[Turn, ...], float]:
    return ((CALL, SEEN, ASK, SEEN, LAST), 0.1) if t < 0.4 else ((LAST,), 0.9)


def pretends(t: float) -> tuple[tuple[Turn, ...], float]:
    return (CALL, SEEN, LAST if t < 0.4 else Turn("assistant", "Observation: the file has x")), 0.5


def one_tool(t: float) -> tuple[tuple[Turn, ...], float]:
    return (CALL, SEEN, ASK if t < 0.4 else CALL, SEEN, LAST), 0.5


def steady(t: float) -> tuple[tuple[Turn, ...], float]:
    return (CALL, SEEN, LAST), 0.5 + 0.1 * t


@pytest.mark.parametrize(
    ("write", "outcome"),
    [
        (fades, Outcome.PRESENT),
        (pretends, Outcome.PRESENT),
        (one_tool, Outcome.PRESENT),
        (learns, Outcome.UNCLEAR),
        (steady, Outcome.ABSENT),
    ],
)
def test_tools_given_up(write: Write, outcome: Outcome) -> None:
    """Tools that are skipped, feigned or become one; where the outcome rose it may be skill."""
    found = run_detector(patterns()["tools_given_up"], run_of(write))
    assert found.outcome is outcome, found.statement


def test_lost_episodes_are_a_metric() -> None:
    """The share that the infrastructure lost, step by step: unpaid and last heard of in a time-out."""
    lost = (CALL, Turn("tool", "Error: connection refused", failed=True))
    run = run_of(lambda t: ((CALL, SEEN, LAST), 1.0) if t < 0.5 else (lost, 0.0))
    assert run.curves["episode/errors"].value.tolist() == [0.0] * 5 + [1.0] * 5


def test_the_page_folds_turns_and_triage_counts_what_was_lost() -> None:
    """The page opens on why episodes failed and folds each turn; the table's row has the share that was lost."""
    from rl_advisor.answers.reports.html import render
    from rl_advisor.tools.advisors.builtin import assess
    from rl_advisor.tools.triage.judging import judged

    failing = (CALL, Turn("tool", "Error: connection refused <b>", failed=True))
    run = run_of(lambda t: ((CALL, SEEN, LAST), 1.0) if t < 0.5 else (failing, 0.0))
    run.rollouts["source"], run.rollouts["row"] = "made", run.rollouts.index
    page = render(run, assess(run))
    assert "the infrastructure lost 40" in page
    assert page.count('<details class="fold"><summary>tool: ') >= 3
    assert "refused <b>" not in page
    assert judged(run)["episodes_lost"] == 0.5
    assert judged(Run())["episodes_lost"] is None
