"""What a run shows beside its outcome, as amounts: how far the policy moved, and how many groups teach nothing.

A policy can be lost while its reward stands still, and a reader looks there first. Each amount goes into the verdict by fitted weights, as
the amounts of the outcome do, and what is not logged says nothing.
"""

import numpy as np

from rl_advisor.curves.course import FEWEST
from rl_advisor.curves.segments import final, opening
from rl_advisor.output.wording import pair
from rl_advisor.run import Run
from rl_advisor.vocabulary import metric

SIGNS = {"distance": "kl/ref", "flat groups": "reward/flat_groups"}
"""The amounts, and the metric of each."""


def ends(run: Run, name: str) -> tuple[float, float] | None:
    """Where a metric began and where it ended: medians of its first and last fifth; None with fewer than five points."""
    curve = run.curves.get(name)
    if curve is None or curve.finite()[1].size < FEWEST:
        return None
    return float(np.median(opening(curve, 0.2))), float(np.median(final(curve)))


def signs(run: Run) -> dict[str, float]:
    """The amounts of a run; those of metrics that are not logged are left out."""
    found = {name: at[1] for name, of in SIGNS.items() if (at := ends(run, of)) is not None}
    if "distance" in found:  # nats grow by factors
        found["distance"] = float(np.clip(np.log(abs(found["distance"]) + 1e-4), -9, 5))
    return found


def says(sign: str, run: Run) -> str:
    """From where to where the metric of a sign went, in one sentence."""
    at, of = ends(run, SIGNS[sign]), metric(SIGNS[sign])
    if at is None:
        return ""
    first, last = pair(*at, of.unit if of else "")
    return f"{SIGNS[sign]} went from about {first} to {last}" if first != last else f"{SIGNS[sign]} stays at about {first}"
