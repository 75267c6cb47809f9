"""What changed in the text since a run's first samples: every measure with its interval, its onset, and whether it is paid for.

Besides signs that text got worse, each measured against the run's own first samples; None where it cannot be told.
"""

from functools import lru_cache

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.features.dependence import own_group
from rl_advisor.features.payoff import Payoff, difference, payoff
from rl_advisor.features.series import Change
from rl_advisor.finding import Onset
from rl_advisor.output import Answer
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches, word_order_of
from rl_advisor.samples.rows import Frame, numbers, reference_columns

_HELD = table(__file__, "measures.toml")
MEASURED = tuple(_HELD["measured"])
"""Columns of the measured table that are told of every step and compared."""
MEANINGS: dict[str, str] = {**_HELD["measured"], **_HELD["counted"]}
"""What is told of every step -> what it means."""
_CLUSTERING = 2.0
"""Responses to one prompt are no independent trials; their errors are widened by this."""


def changes(run: Run) -> Answer:
    """``first`` and ``latest`` stretch of steps, and ``measures`` that changed by more than chance, the largest change first.

    Each with its 95 % interval (groups are the independent units), the step it set in, and how the reward follows it among responses to
    one prompt. Changes are ranked by their size over the measure's spread; empty for samples of a single step.
    """
    try:
        s = stretches(run)
    except TooFewPoints as few:
        return {"cannot_tell": str(few)}
    found = [change for name in ("reward", *MEASURED, "distinct", "new_words") if (change := _of(s, name)) is not None]
    found.sort(key=lambda c: -c.pop("weight"))
    first, latest = s.first["step"], s.latest["step"]
    return {
        "first": {"from": float(first.min()), "to": float(first.max()), "responses": len(s.first)},
        "latest": {"from": float(latest.min()), "to": float(latest.max()), "responses": len(s.latest)},
        "steps": [float(s.table["step"].min()), float(s.table["step"].max())],
        "measures": found,
    }


def _of(s: Stretches, name: str) -> Answer | None:
    """One measure's change; None where it did not change by more than chance or cannot be compared."""
    change = shift_or_none(s, name)
    if change is None or not (change.up or change.down):
        return None
    spread = float(np.nanstd(np.concatenate([numbers(part, name) for part in (s.first, s.latest)])))
    found: Answer = {
        "measure": name,
        "first": change.first,
        "latest": change.latest,
        "change": change.delta,
        "interval": [change.low, change.high],
        "weight": abs(change.delta) / spread if spread > 0 else 0.0,
    }
    if when := onset(s, name):
        found["onset"] = {"step": when.step, "low": when.low, "high": when.high}
    if name != "reward" and (pay := follows(s.table, name)):
        found["reward_follows"] = pay
    return found


@lru_cache(maxsize=64)
def shift(s: Stretches, column: str) -> Change:
    """The change of a measure from the first to the latest samples. Raises TooFewPoints when a side has fewer than two groups with it."""
    a, b = (numbers(part, column) for part in (s.first, s.latest))
    delta, low, high = difference(a, b, s.first["cluster"].tolist(), s.latest["cluster"].tolist())
    return Change(float(np.nanmean(a)), float(np.nanmean(b)), delta, low, high)


def shift_or_none(s: Stretches, column: str) -> Change | None:
    """``shift``, or None where there is too little to compare."""
    try:
        return shift(s, column) if column in s.table else None
    except TooFewPoints:
        return None


def paid(table: Frame, column: str) -> Payoff | None:
    """How the reward follows a measure among responses to one prompt of a table; None where too few groups differ."""
    try:
        return payoff(numbers(table, column), numbers(table, "reward"), table["cluster"].tolist())
    except TooFewPoints:
        return None


def follows(table: Frame, column: str) -> Answer:
    """The rank correlation of the reward with a measure among responses to one prompt, with its interval; empty where ``paid`` is None."""
    pay = paid(table, column)
    return {"rank_correlation": pay.rho, "low": pay.low, "high": pay.high, "groups": pay.groups} if pay else {}


def onset(s: Stretches, column: str) -> Onset | None:
    """When a measure crossed, for good, half the way from its first to its latest level: between two steps with samples."""
    means = s.table.groupby("step")[column].mean().dropna()
    steps, values = means.index.to_numpy(np.float64), means.to_numpy(np.float64)
    first, latest = float(s.first[column].mean()), float(s.latest[column].mean())
    beyond = (values - (first + latest) / 2) * np.sign(latest - first) > 0
    if steps.size < 2 or not beyond[-1]:
        return None
    inside = np.flatnonzero(~beyond)
    high = float(steps[inside[-1] + 1]) if inside.size else float(steps[0])
    low = float(steps[inside[-1]]) if inside.size else min(0.0, high)
    return Onset(high, low, high)


def word_order_lost(s: Stretches) -> bool | None:
    """Whether text lost its word order: the latest has less than ``keep`` of what the first had, each judged by its own style.

    The first must have had ``least`` nats of it: an untrained model has none to lose.
    """
    try:
        first, latest = word_order_of(s.first), word_order_of(s.latest)
    except TooFewPoints:
        return None
    if min(np.isfinite(first).mean(), np.isfinite(latest).mean()) < 0.5:
        return None
    _, _, high = difference(first, latest, s.first["cluster"].tolist(), s.latest["cluster"].tolist())
    return bool(np.nanmean(first) > 1.0 and np.nanmean(latest) < 0.75 * np.nanmean(first) and high < 0)


@lru_cache(maxsize=1)
def dependence(s: Stretches) -> tuple[float, float] | None:
    """By how much more than chance the most similar response answered the same prompt at first, and the share that is left of it.

    The share is 1 where it did not surely fall.
    """
    try:
        a, b = (own_group(part["response"].tolist(), part["cluster"].tolist()) for part in (s.first, s.latest))
    except TooFewPoints:
        return None
    first, latest = a.accuracy - a.chance, b.accuracy - b.chance
    error = _CLUSTERING * np.sqrt(a.accuracy * (1 - a.accuracy) / a.n + b.accuracy * (1 - b.accuracy) / b.n)
    return first, latest / first if first > 0.2 and first - latest > 1.96 * error else 1.0


def judged_worse(s: Stretches) -> bool | None:
    """Whether an independent judgement in the samples (a human's, a reference score, being correct) fell by more than chance."""
    changes = [change for name in reference_columns(s.table) if (change := shift_or_none(s, name)) is not None]
    return any(change.down for change in changes) if changes else None


def wilson(hits: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """The interval of a share at so many standard errors (Wilson score), the 95 % one where nothing else is asked."""
    if n == 0:
        return 0.0, 1.0
    z2 = z**2
    middle, reach = (hits + z2 / 2) / (n + z2), np.sqrt(z2) / (n + z2) * np.sqrt(hits * (n - hits) / n + z2 / 4)
    return float(max(middle - reach, 0.0)), float(min(middle + reach, 1.0))


def share_of(hits: int, n: int) -> dict[str, float]:
    """How many of how many, as a share with its interval."""
    low, high = wilson(hits, n)
    return {"count": hits, "share": hits / n, "low": low, "high": high}
