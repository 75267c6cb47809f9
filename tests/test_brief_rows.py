"""The rows of numbers that a brief holds: stretches under common steps, what single points did, what stands beside, and what gives way."""

import numpy as np
import pytest
from rl_advisor.answers.brief import FEW, brief, briefs, characters
from rl_advisor.answers.story.rows import rows
from rl_advisor.run import Curve, Run


def run_of(**curves: tuple[list[float], list[float]]) -> Run:
    """A run of curves by our names (``__`` for ``/``), each with its steps and values; a name in capitals is nobody's."""
    named = {name.replace("__", "/"): points for name, points in curves.items()}
    known = {n: Curve(n, n, "a.csv", np.array(s, float), np.array(v, float), mapped=n.islower()) for n, (s, v) in named.items()}
    return Run(name="run", curves=known)


LONG = list(range(48))
UP = [float(i % 2 + i // 24) for i in LONG]
"""Two levels, 0.5 and 1.5, with points half above and half below."""


@pytest.mark.parametrize(
    ("steps", "values", "starts", "ends"),
    [
        (LONG[:3], [1, 2, 4.0], "1 2 4", "4"),  # as many points as stretches: themselves, and nothing of single ones
        (LONG, UP, ".5 .5", "last of 48: 1 2 1 2 1 2 1 2"),
        ([*LONG, *[s + 0.5 for s in LONG]], [*UP, *UP], ".5±.5 .5±.5", "1 1 2 2 1 1 2 2"),
        (LONG, [3.0] * 48, "3 throughout", "3 throughout"),
        ([7], [3.0], "3 once, at step 7", "at step 7"),
    ],
)
def test_an_outcome_is_told_in_stretches_with_their_scatter(steps, values, starts, ends) -> None:
    """Means of two points have no scatter, of three they have; a curve that rests is one number."""
    order = np.argsort(steps, kind="stable")
    told = rows(run_of(reward__mean=(np.array(steps)[order].tolist(), np.array(values)[order].tolist())))
    assert told["reward/mean"].startswith(starts) and told["reward/mean"].endswith(ends)


def test_what_stands_beside_comes_at_half_of_the_steps_and_never_twice() -> None:
    """What is known first, then what moved of what nobody explained, then the rest; no clock, no copy, no resting curve."""
    run = run_of(
        reward__mean=(LONG, UP),
        STILL=(LONG, [float(i % 3) for i in LONG]),
        RISES=(LONG, [float(i) + i % 2 for i in LONG]),
        COPY=(LONG, UP),
        STEPTIME=(LONG, [float(i % 5) for i in LONG]),
        entropy__mean=(LONG[:24:6], [4, 3, 2, 1.0]),
        kl__ref=(LONG, [0.0] * 48),
    )
    told = rows(run, [])
    assert list(told) == ["steps", "reward/mean", "steps of what follows", "entropy/mean", "RISES", "STILL"]
    assert [len(told[name].split()) for name in ("steps", "steps of what follows", "RISES")] == [24, 12, 12]
    assert told["entropy/mean"] == "4 3 - 2 1 - - - - - - -"
    assert "RISES" not in rows(run)


@pytest.mark.parametrize(("names", "kept"), [(3, 3), (60, None)])
def test_what_speaks_least_gives_way(names: int, kept: int | None) -> None:
    """Rows are left out from the end until the brief fits, never cut in their middle."""
    told = {f"curve {i}": "1.25 " * 24 for i in range(names)}
    answer = {"story": {"rows": told, "facts": {}, "settings": {}}, "probabilities": {}, "confidence": "low", "rivals": [], "context": {}}
    short = brief("assess", answer)
    assert characters(short) <= briefs()["assess"]["longest"]
    assert all(short["curves"][name] == told[name] for name in short["curves"]) and "cut" not in short
    assert len(short["curves"]) == kept if kept else FEW < len(short["curves"]) < names


@pytest.mark.parametrize(("many", "told"), [(4, True), (5, False)])
def test_a_table_of_few_runs_holds_their_curves(many: int, told: bool) -> None:
    """Up to four runs are told with their numbers; of more there is a row each."""
    answer = {"runs": [{"run": str(i), "curve": {"steps": "1 2"}} for i in range(many)]}
    assert all(bool(row["curve"]) == told for row in brief("assess", answer)["runs"])
