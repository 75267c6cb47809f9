"""Do the training engine and the inference engine agree: two dumps of responses to the same prompts, compared token by token."""

from __future__ import annotations

from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.features.mismatch import mismatch
from rl_advisor.features.trend import direction, trend
from rl_advisor.finding import number
from rl_advisor.output import Answer
from rl_advisor.reading import read_run
from rl_advisor.run import Floats
from rl_advisor.settings.priors import prior

if TYPE_CHECKING:
    import pandas as pd

LOGPROBS = table(__file__, "handed_in.toml")
"""What log-probabilities go by, of each engine and of either."""
_FEWEST_STEPS = 5
_GROWTH = 1.5
"""How many times the first level the fitted last level must be for a gap to be called growing."""
_STAYS = "it does not grow, as by different precision or kernels"
_GROWS = (
    "it grows as training goes on, as when sampling and training drive each other apart, "
    "or when the engine does not get the trainer's weights"
)
BY_STEP = ("gap_mean", "gap_p99", "k1", "k3", "ratio_max", "effective_share")
"""What of the gap is told of each step."""


def consistency(trainer: Path, engine: Path, until: float | None = None) -> Answer:
    """Two dumps of the same prompts compared, of the training engine and of the inference engine (they may be one file).

    Gives ``pairs``, ``exact_match`` (share), ``first_divergence`` (characters), ``logprobs`` (gap, k1, k3, ratios), ``by_step``, ``shape``
    and ``statement``. The shape is ``constant`` (as by precision), ``growing`` (as in a vicious circle), ``none`` or ``undecidable``.
    Raises ValueError when the dumps have no prompt in common or hold no responses; responses of steps after ``until`` are left out.
    """
    left, right = (_rows(path, until) for path in (trainer, engine))
    pairs = _pairs(left, right)
    if not len(pairs):
        held = [(rows["prompt"].nunique(), f"{rows['step'].min():g} to {rows['step'].max():g}") for rows in (left, right)]
        raise ValueError(
            f"{trainer} and {engine} have no response to the same prompt at the same step: {held[0][0]} and "
            f"{held[1][0]} prompts, steps {held[0][1]} and {held[1][1]}"
        )
    by_step = [
        {"step": float(str(step)), "pairs": len(part), "exact_match": part["same"].mean()}
        | {name: x for name, x in _gap(part).items() if name in BY_STEP}
        for step, part in pairs.groupby("step")
    ]
    found = {
        "pairs": len(pairs),
        "only_in_a": len(left) - len(pairs),
        "only_in_b": len(right) - len(pairs),
        "steps": len(by_step),
        "exact_match": pairs["same"].mean(),
        **_divergence(pairs[~pairs["same"]]),
        "logprobs": _gap(pairs),
        "by_step": by_step,
    }
    shape, statement = _shape(by_step, found)
    cannot = "no equally long log-probabilities of equal responses on both sides: the gap itself cannot be told"
    told = {"shape": shape, "statement": f"{statement} {usual(found)}".strip(), "cannot_tell": [] if found["logprobs"] else [cannot]}
    return found | told


def usual(found: Answer) -> str:
    """Whether a difference of this size is usual for two engines of one model, in a sentence."""
    if found["exact_match"] == 1 and not found["logprobs"].get("gap_mean"):
        return ""
    known = prior("mismatch/logprob")
    if "gap_mean" not in found["logprobs"] or known is None:
        return "Whether that much is usual only log-probabilities of the same tokens tell; the skill's dump_trainer.py adds them."
    gap, (low, high) = found["logprobs"]["gap_mean"], known.usual
    if known.side(gap) == "usual":
        return f"A mean gap of {number(gap)} nats a token is usual for two engines in mixed precision ({number(low)} to {number(high)})."
    return f"A mean gap of {number(gap)} nats a token is not usual (up to {number(high)} is): another template, precision or weights."


def _rows(path: Path, until: float | None) -> pd.DataFrame:
    rows = read_run(path).rollouts
    if not len(rows) or not rows["prompt"].str.len().any():
        raise ValueError(f"{path} holds no responses with their prompts")
    kept = rows["response"].map(lambda r: isinstance(r, str)) & (True if until is None else rows["step"] <= until)
    return rows[kept].reset_index(drop=True)


def _pairs(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Responses to one prompt at one step beside each other: equal ones first, in whatever order they were written, then by their order.

    ``same``: whether both are equal; ``logs``: both sides' log-probabilities of an equal response, where there are equally many.
    """
    import pandas as pd

    on = ["step", "prompt"]
    left, right = (side.assign(number=side.index) for side in (left, right))
    same = _joined(left, right, [*on, "response"]).assign(same=True)
    rest = _joined(left.drop(index=same["number_a"].tolist()), right.drop(index=same["number_b"].tolist()), on).assign(same=False)
    pairs = pd.concat([same, rest], ignore_index=True).assign(logs=None)
    sides = (("a", LOGPROBS["trainer"]), ("b", LOGPROBS["engine"]))
    names = [next((n for n in (*(f"{n}_{side}" for n in (*own, *LOGPROBS["either"])), *own) if n in pairs), None) for side, own in sides]
    if None not in names:
        rows = zip(pairs["same"], *(pairs[name].map(_numbers) for name in names), strict=True)
        pairs["logs"] = pd.Series([(x, y) if alike and 0 < x.size == y.size else None for alike, x, y in rows], dtype=object)
    return pairs


def _joined(left: pd.DataFrame, right: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Rows with the same values in ``on``, the first with the first, the second with the second."""
    placed = [side.assign(place=side.groupby(on).cumcount()) for side in (left, right)]
    return placed[0].merge(placed[1], on=[*on, "place"], suffixes=("_a", "_b"))


def _divergence(apart: pd.DataFrame) -> Answer:
    """Where responses that are not equal part."""
    answers = list(zip(apart["response_a"], apart["response_b"], strict=True))
    places = [len(commonprefix(pair)) for pair in answers]  # noqa: RUF071  characters are what is compared
    shares = [place / max(1, *map(len, pair)) for pair, place in zip(answers, places, strict=True)]
    told = {"median_character": np.median(places), "earliest": min(places), "median_share": np.median(shares)} if places else {}
    return {"first_divergence": told} if told else {}


def _numbers(cell: Any) -> Floats:
    """A cell's list of numbers; None inside counts as missing, anything else gives an empty array."""
    values = cell if isinstance(cell, (list, tuple, np.ndarray)) else ()
    return np.array([float(v) if isinstance(v, (int, float)) else np.nan for v in values], np.float64)


def _gap(part: pd.DataFrame) -> dict[str, float]:
    """How far both sides' log-probabilities are apart; empty where none can be compared."""
    logs = [pair for pair in part["logs"] if pair is not None]
    try:
        return mismatch(*(np.concatenate(side) for side in zip(*logs, strict=True))) if logs else {}
    except TooFewPoints:
        return {}


def _shape(by_step: list[Answer], found: Answer) -> tuple[str, str]:
    """What the gap does over the steps, and that in words."""
    logs = found["logprobs"]
    what = "the mean log-probability gap" if logs else "the share of responses that differ"
    points = [(s["step"], s["gap_mean"] if logs else 1 - s["exact_match"]) for s in by_step if not logs or "gap_mean" in s]
    step, value = (np.array(v, np.float64) for v in zip(*points, strict=True))
    if not value.any():
        return "none", "Both sides agree on every response and every log-probability that can be compared."
    if step.size < _FEWEST_STEPS:
        few = f"{step.size} steps are too few to tell whether it grows"
        return "undecidable", f"{what[0].upper()}{what[1:]} is {number(value.mean())}; {few}."
    line = trend(step, value)
    first = max(float(value.mean() - line.slope * (step.mean() - step[0])), 0.0)
    last, way = first + line.slope * line.span, direction(line, 0.5 * float(value.mean()))
    shape = "constant" if way == "flat" else "growing" if way == "rising" and last > _GROWTH * first else "undecidable"
    change = f"its change could be anything from {number(line.low * line.span)} to {number(line.high * line.span)}"
    told = {"constant": _STAYS, "growing": _GROWS, "undecidable": change}
    return shape, f"{what[0].upper()}{what[1:]} goes from {number(first)} to {number(last)} (fitted); {told[shape]}."
