"""Numbers that are none: the stages of an update by the metrics that show them, which broke, and whether the run went on as before."""

from collections.abc import Iterable

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.discovery import table
from rl_advisor.run import Curve, Run

STAGES = table(__file__, "stages.toml")
"""The stages along the loop, and what every update computes."""
LATE = STAGES["core"]
"""What an update computes, in its order; what is not among it is there before."""
LATER = 3
"""Points of the outcome that show that it went on."""


def curves_of(run: Run, names: str) -> list[Curve]:
    """The logged curves of a stage, or of names joined by ``|``, whether or not a number stands in them."""
    return [c for n in STAGES.get(names, names.split("|")) if (c := run.curves.get(n)) is not None and c.value.size]


def broken(run: Run, names: str) -> list[Curve]:
    """Those that end in NaN or infinity, and after which the outcome did not go on: the first first, else in the order of the loop."""
    bad = [(turned(c), c) for c in curves_of(run, names) if not np.isfinite(c.value[-1])]
    kept = [(at or -np.inf, c) for at, c in bad if at is None or not unharmed(run, c.name, at)]
    return [c for _, c in sorted(kept, key=lambda one: (one[0], one[1].name in LATE and LATE.index(one[1].name)))]


def sound(run: Run, names: str) -> list[Curve]:
    """Those that end in a number."""
    return [c for c in curves_of(run, names) if np.isfinite(c.value[-1])]


def blank(run: Run, names: str) -> list[Curve]:
    """Those that hold no number at all."""
    return [c for c in curves_of(run, names) if not np.isfinite(c.value).any()]


def called(curves: Iterable[Curve], most: int = 4) -> str:
    """What the user calls them."""
    return ", ".join([c.raw for c in curves][:most])


def turned(curve: Curve) -> float | None:
    """The step from which a curve is NaN or infinite to its end, or None; gaps between finite points do not count.

    One bad row at the end is enough where no earlier row was bad, and so is a log of nothing else: a crash leaves no second one.
    """
    bad = ~np.isfinite(curve.value)
    if not bad.size or not bad[-1]:
        return None
    if bad.all():
        return float(curve.step[0]) if curve.name in STAGES["computed"] else None
    last_good = int(np.flatnonzero(~bad)[-1])
    usual = float(np.mean(bad[: last_good + 1]))
    enough = usual == 0 or (usual < 0.3 and curve.value.size - last_good > 2)
    return float(curve.step[last_good + 1]) if enough else None


def unharmed(run: Run, name: str, at: float) -> bool:
    """Whether the outcome went on after a metric was no number: weights that are none act at random or not at all.

    Then what is not finite is a fact of logging, or of updates that the trainer skipped.
    """
    for outcome in (outcomes.held_out(run), outcomes.training(run)):
        if outcome is None or outcome.name == name:
            continue
        step, x = outcome.finite()
        before, after = x[step <= at], x[step > at]
        if after.size >= LATER and np.ptp(after) > 0 and (before.size < LATER or np.median(after[-LATER:]) >= np.quantile(before, 0.25)):
            return True
    return False
