"""Signs that text got worse or that its bulk is what the reward pays for, each measured against the run's own first samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.features.dependence import own_group
from rl_advisor.features.payoff import difference
from rl_advisor.finding import Evidence, number
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, word_order_of
from rl_advisor.samples.rows import reference_columns
from rl_advisor.samples.text_change import shift_or_none


@dataclass(frozen=True)
class Sign:
    """One sign: whether it is there, in words, with its numbers, and the column that shows when it came."""

    there: bool
    words: str
    measures: Mapping[str, float] = field(default_factory=dict)
    column: str = ""


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


def word_order(s: Stretches, keep: float = 0.75, least: float = 1.0) -> Sign | None:
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
    a, b = float(np.nanmean(first)), float(np.nanmean(latest))
    measures = {"word_order_first": a, "word_order_latest": b}
    text = f"the words' order says less about the next word than at the start ({number(a)} nats then, {number(b)} now)"
    return Sign(a > least and b < keep * a and high < 0, text, measures, "words")


def dependence(s: Stretches, keep: float = 0.7) -> Sign | None:
    """Whether answers depend less on their prompt: how often the most similar response answers the same prompt, first against latest."""
    try:
        a = own_group(s.first["response"].tolist(), s.first["cluster"].tolist())
        b = own_group(s.latest["response"].tolist(), s.latest["cluster"].tolist())
    except TooFewPoints:
        return None
    above_first, above_latest = a.accuracy - a.chance, b.accuracy - b.chance
    error = np.sqrt(a.accuracy * (1 - a.accuracy) / a.n + b.accuracy * (1 - b.accuracy) / b.n) * _CLUSTERING
    fell = above_first > 0.2 and above_latest < keep * above_first and above_first - above_latest > 1.96 * error
    said = f"{percent(b.accuracy)} of cases, {percent(a.accuracy)} at the start (chance {percent(b.chance)})"
    text = f"the most similar response answers the same prompt in {said}"
    measures = {"own_prompt_first": a.accuracy, "own_prompt_latest": b.accuracy, "own_prompt_chance": b.chance}
    return Sign(bool(fell), text, measures, "")


_CLUSTERING = 2.0
"""Responses to one prompt are no independent trials; their errors are widened by this."""


def turned_reference(s: Stretches) -> Sign | None:
    """Whether an independent judgement in the samples (a human's, a reference score, being correct) fell by more than chance.

    None where no column holds one, or all of them say the same as the reward.
    """
    import pandas as pd

    columns = reference_columns(s.table)
    first, latest, table = (
        part.assign(**{c: pd.to_numeric(part[c], errors="coerce") for c in columns}) for part in (s.first, s.latest, s.table)
    )
    s = Stretches(first, latest, table)
    known = {c: change for c in columns if (change := shift_or_none(s, c)) is not None}
    if not known:
        return None
    name = min(known, key=lambda c: known[c].high)
    bare, measures = name.removeprefix("other/"), {f"reference_{k}": getattr(known[name], k) for k in ("first", "latest")}
    return Sign(known[name].down, f"{bare}, which judges the same responses, went {known[name].words}", measures, name)


def samples(s: Stretches) -> Evidence:
    """The samples as evidence."""
    return Evidence("rollouts", float(s.table["step"].min()), float(s.table["step"].max()))
