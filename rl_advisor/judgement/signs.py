"""What a run shows beside its outcome, as amounts: how far the policy moved, what is cut off, how many groups teach nothing.

A policy can be lost while its reward stands still, and a reader looks there first. Each amount goes into the verdict by fitted weights, as
the amounts of the outcome do, and what is not logged says nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rl_advisor.curves.task import task
from rl_advisor.output.wording import pair
from rl_advisor.run import Run
from rl_advisor.vocabulary import metric


@dataclass(frozen=True)
class Ends:
    """Where a metric began and where it ended: medians of its first and last fifth, and its range."""

    first: float
    last: float
    reach: float

    @property
    def grew(self) -> float:
        """How much larger it became, as a logarithm between -3 and 3."""
        least = 0.01 * self.reach + 1e-9
        return float(np.clip(np.log((abs(self.last) + least) / (abs(self.first) + least)), -3, 3))

    @property
    def more(self) -> float:
        """How much was added."""
        return self.last - self.first

    @property
    def size(self) -> float:
        """How large it is at the end, as a logarithm between -9 and 5."""
        return float(np.clip(np.log(abs(self.last) + 1e-4), -9, 5))


@dataclass(frozen=True)
class Sign:
    """One amount: of which metric, what of its ends, and what that is."""

    metric: str
    of: Callable[[Ends], float]
    meaning: str


LANGUAGE = "language"
"""The amount that says whether a language model is trained."""
SIGNS: dict[str, Sign] = {
    "drift": Sign("kl/ref", lambda e: e.grew, "how much the distance from the reference grew"),
    "distance": Sign("kl/ref", lambda e: e.size, "how large it ended"),
    "more cut off": Sign("response/truncated", lambda e: e.more, "how many more responses are cut off"),
    "flat groups": Sign("reward/flat_groups", lambda e: e.last, "how many groups end without a spread of rewards"),
    "longer episodes": Sign("episode/length", lambda e: e.grew, "how much longer episodes became"),
}
"""The amounts of single metrics."""
NAMES = (LANGUAGE, *SIGNS)


def ends(run: Run, name: str) -> Ends | None:
    """Where a metric began and ended; None with fewer than five points."""
    curve = run.curves.get(name)
    x = curve.finite()[1] if curve is not None else np.empty(0)
    if x.size < 5:
        return None
    few = max(3, x.size // 5)
    return Ends(float(np.median(x[:few])), float(np.median(x[-few:])), float(np.ptp(x)))


def signs(run: Run) -> dict[str, float]:
    """The amounts of a run; those of metrics that are not logged are left out."""
    found = {name: sign.of(at) for name, sign in SIGNS.items() if (at := ends(run, sign.metric)) is not None}
    kinds = task(run).traits & {"language", "control"}
    return {LANGUAGE: float("language" in kinds), **found} if kinds else found


def metric_of(sign: str) -> str:
    """The metric that a sign is of; empty for the kind of training."""
    return SIGNS[sign].metric if sign in SIGNS else ""


def says(name: str, run: Run) -> str:
    """From where to where a metric went, in one sentence; empty for the kind of training, which is no evidence to tell."""
    at, of = ends(run, name), metric(name)
    if at is None:
        return ""
    first, last = pair(at.first, at.last, of.unit if of else "")
    return f"{name} went from about {first} to {last}" if first != last else f"{name} stays at about {first}"
