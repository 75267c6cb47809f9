"""Do the training engine and the inference engine agree: two dumps of responses to the same prompts, compared token by token."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.mismatch import first_difference, mismatch
from rl_advisor.features.trend import trend
from rl_advisor.finding import number
from rl_advisor.priors import prior
from rl_advisor.reading import read_run
from rl_advisor.run import Floats

if TYPE_CHECKING:
    import pandas as pd

TRAINER = ("prev_logprobs", "old_log_probs", "old_logprobs", "train_logprobs", "trainer_logprobs", "actor_log_probs")
ENGINE = (
    "generation_logprobs",
    "rollout_log_probs",
    "rollout_logprobs",
    "engine_logprobs",
    "sampling_logprobs",
    "vllm_logprobs",
    "sglang_logprobs",
)
EITHER = ("logprobs", "log_probs", "token_logprobs", "output_logprobs", "response_logprobs", "completion_logprobs")
_FEWEST_STEPS = 5
_GROWTH = 1.5
"""How many times the first level the fitted last level must be for a gap to be called growing."""


def consistency(trainer: Path, engine: Path, until: float | None = None) -> dict[str, Any]:
    """Two dumps of the same prompts compared, of the training engine and of the inference engine (they may be one file).

    Gives ``pairs``, ``exact_match`` (share), ``first_divergence`` (characters), ``logprobs`` (gap, k1, k3, ratios), ``by_step``, ``shape``
    and ``statement``. The shape is ``constant`` (as by precision), ``growing`` (as in a vicious circle), ``none`` or ``undecidable``.
    Raises ValueError when the dumps have no prompt in common or hold no responses; responses of steps after ``until`` are left out.
    """
    left, right = (
        rows if until is None else rows[rows["step"] <= until].reset_index(drop=True) for rows in (_rows(trainer), _rows(engine))
    )
    pairs = _pairs(left, right)
    if not len(pairs):
        raise ValueError(
            f"{trainer} and {engine} have no response to the same prompt at the same step: {left['prompt'].nunique()} and "
            f"{right['prompt'].nunique()} prompts, steps {_span(left)} and {_span(right)}"
        )
    logs = _logprobs(pairs)
    by_step = [_of_step(float(str(step)), part, logs.get(float(str(step)))) for step, part in pairs.groupby("step")]
    found: dict[str, Any] = {
        "pairs": len(pairs),
        "only_in_a": len(left) - len(pairs),
        "only_in_b": len(right) - len(pairs),
        "steps": len(by_step),
        **_texts(pairs),
        "logprobs": _summary([pair for step in logs.values() for pair in step]),
        "by_step": by_step,
    }
    shape, statement = _shape(by_step, found)
    cannot = (
        [] if found["logprobs"] else ["no equally long log-probabilities of equal responses on both sides: the gap itself cannot be told"]
    )
    return {**found, "shape": shape, "statement": f"{statement} {usual(found)}".strip(), "cannot_tell": cannot}


def usual(found: dict[str, Any]) -> str:
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


def _rows(path: Path) -> pd.DataFrame:
    rows = read_run(path).rollouts
    if not len(rows) or not rows["prompt"].str.len().any():
        raise ValueError(f"{path} holds no responses with their prompts")
    return rows[np.array([isinstance(r, str) for r in rows["response"]], dtype=bool)].reset_index(drop=True)


def _pairs(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Responses to one prompt at one step beside each other: equal ones first, in whatever order they were written, then by their order."""
    import pandas as pd

    on = ["step", "prompt"]
    left, right = (side.assign(number=side.index) for side in (left, right))
    same = _joined(left, right, [*on, "response"])
    same = same.assign(response_a=same["response"], response_b=same["response"]).drop(columns="response")
    rest = _joined(left.drop(index=same["number_a"].tolist()), right.drop(index=same["number_b"].tolist()), on)
    return pd.concat([same, rest], ignore_index=True)


def _joined(left: pd.DataFrame, right: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Rows with the same values in ``on``, the first with the first, the second with the second."""
    placed = [side.assign(place=side.groupby(on).cumcount()) for side in (left, right)]
    return placed[0].merge(placed[1], on=[*on, "place"], suffixes=("_a", "_b"))


def _span(rows: pd.DataFrame) -> str:
    return f"{rows['step'].min():g} to {rows['step'].max():g}"


def _texts(pairs: pd.DataFrame) -> dict[str, Any]:
    """How many pairs are equal, and where the others part."""
    answers = list(zip(pairs["response_a"], pairs["response_b"], strict=True))
    apart = [place for x, y in answers if (place := first_difference(x, y)) is not None]
    found: dict[str, Any] = {"exact_match": 1 - len(apart) / len(answers)}
    if apart:
        shares = [p / max(len(x), len(y), 1) for (x, y), p in zip([q for q in answers if q[0] != q[1]], apart, strict=True)]
        found["first_divergence"] = {
            "median_character": float(np.median(apart)),
            "earliest": min(apart),
            "median_share": float(np.median(shares)),
        }
    return found


def _logprobs(pairs: pd.DataFrame) -> dict[float, list[tuple[Floats, Floats]]]:
    """Step -> (trainer, engine) log-probabilities of each pair that has equally many of an equal response."""
    names = {str(c) for c in pairs.columns}
    a = next((f"{n}_a" for n in (*TRAINER, *EITHER) if f"{n}_a" in names), next((n for n in TRAINER if n in names), None))
    b = next((f"{n}_b" for n in (*ENGINE, *EITHER) if f"{n}_b" in names), next((n for n in ENGINE if n in names), None))
    if a is None or b is None:
        return {}
    found: dict[float, list[tuple[Floats, Floats]]] = {}
    for step, same, x, y in zip(pairs["step"], pairs["response_a"] == pairs["response_b"], pairs[a], pairs[b], strict=True):
        left, right = _numbers(x), _numbers(y)
        if same and left.size and left.size == right.size:
            found.setdefault(float(step), []).append((left, right))
    return found


def _numbers(cell: Any) -> Floats:
    """A cell's list of numbers; None inside counts as missing, anything else gives an empty array."""
    if not isinstance(cell, (list, tuple, np.ndarray)):
        return np.empty(0)
    return np.array([float(v) if isinstance(v, (int, float)) else np.nan for v in cell], np.float64)


def _summary(pairs: list[tuple[Floats, Floats]]) -> dict[str, float]:
    try:
        return asdict(mismatch(np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs]))) if pairs else {}
    except TooFewPoints:
        return {}


def _of_step(step: float, part: pd.DataFrame, logs: list[tuple[Floats, Floats]] | None) -> dict[str, Any]:
    found = _summary(logs or [])
    kept: dict[str, Any] = {k: found[k] for k in ("gap_mean", "gap_p99", "k1", "k3", "ratio_max", "effective_share") if k in found}
    return {"step": step, "pairs": len(part), "exact_match": float((part["response_a"] == part["response_b"]).mean()), **kept}


def _shape(by_step: list[dict[str, Any]], found: dict[str, Any]) -> tuple[str, str]:
    """What the gap does over the steps, and that in words."""
    logs = found["logprobs"]
    what = "the mean log-probability gap" if logs else "the share of responses that differ"
    points = [(s["step"], s["gap_mean"] if logs else 1 - s["exact_match"]) for s in by_step if not logs or "gap_mean" in s]
    step, value = (np.array(v, np.float64) for v in zip(*points, strict=True))
    if not value.any():
        return "none", "Both sides agree on every response and every log-probability that can be compared."
    if step.size < _FEWEST_STEPS:
        return (
            "undecidable",
            f"{what[0].upper()}{what[1:]} is {number(float(value.mean()))}; {step.size} steps are too few to tell whether it grows.",
        )
    line = trend(step, value)
    first = float(value.mean() - line.slope * (step.mean() - step[0]))
    last, change = first + line.slope * line.span, (line.low * line.span, line.high * line.span)
    said = f"{what[0].upper()}{what[1:]} goes from {number(max(first, 0.0))} to {number(last)} (fitted)"
    if change[0] > 0 and last > _GROWTH * max(first, 0.0):
        why = "as when sampling and training drive each other apart, or when the engine does not get the trainer's weights"
        return "growing", f"{said}: it grows as training goes on, {why}."
    if max(abs(change[0]), abs(change[1])) < 0.5 * float(value.mean()):
        return "constant", f"{said}: it does not grow, as by different precision or kernels."
    return "undecidable", f"{said}; its change could be anything from {number(change[0])} to {number(change[1])}."
