"""Signs that text got worse, each measured against the run's own first samples; None where it cannot be told."""

from __future__ import annotations

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.features.dependence import own_group
from rl_advisor.features.payoff import difference
from rl_advisor.finding import Evidence
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, word_order_of
from rl_advisor.samples.rows import numbers, reference_columns
from rl_advisor.samples.text_change import shift_or_none

_CLUSTERING = 2.0
"""Responses to one prompt are no independent trials; their errors are widened by this."""


def held_out_rose(run: Run) -> bool | None:
    """Whether the held-out score gained more than noise and kept it; of fewer points, whether it ended higher. None when none is logged."""
    curve = outcomes.held_out(run)
    if curve is None:
        return None
    try:
        shape = outcomes.course_of(curve)
        return (shape.rose or shape.direction() == "rising") and shape.last > shape.start + shape.margin
    except TooFewPoints:
        value = curve.finite()[1]
        return bool(value[-1] > value[0]) if value.size > 1 else None


def word_order_lost(s: Stretches, keep: float = 0.75, least: float = 1.0) -> bool | None:
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
    return bool(np.nanmean(first) > least and np.nanmean(latest) < keep * np.nanmean(first) and high < 0)


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
    changes = []
    for name in reference_columns(s.table):
        told = Stretches(*(part.assign(**{name: numbers(part, name)}) for part in (s.first, s.latest, s.table)))
        changes += [change] if (change := shift_or_none(told, name)) is not None else []
    return any(change.down for change in changes) if changes else None


def samples(s: Stretches) -> Evidence:
    """The samples as evidence."""
    return Evidence("rollouts", float(s.table["step"].min()), float(s.table["step"].max()))
