"""What the names of an unknown framework probably mean: roles guessed from the words and from the numbers, marked as guesses."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Floats

_ANY = (-np.inf, np.inf)
_SHARE = (-1e-6, 1.0 + 1e-6)
_POSITIVE = (-1e-6, np.inf)
_HELD_OUT = r"\b(eval|evaluation|test|val|validation)\b"
_PARTIAL = r"\b(batch|instant|instantaneous|immediate|intrinsic|discounted|shaped|minibatch)\b"
"""Words of a name that is second choice: a part of what is meant, or a moment of it."""
ROLES: tuple[tuple[str, str, str, tuple[float, float]], ...] = (
    (
        "eval/score/{}",
        (
            r"\b(eval|evaluation|test|val|validation|holdout|held out)\b"
            r".*\b(reward|return|returns|score|accuracy|acc|success|pass|correct|pass1)\b"
        ),
        r"\b(std|min|max|loss|length|len|time|step|steps)\b",
        _ANY,
    ),
    (
        "reward/mean",
        r"\b(reward|rewards|return|returns|rew|score|scores|ret)\b",
        (
            r"\b(std|min|max|var|loss|eval|evaluation|test|val|validation|length|len|kl|norm|margin|baseline|advantage|component|time|success)\b"
            r"|\b(clip|running|normali[sz]ed|scale)\b"
        ),
        _ANY,
    ),
    ("reward/std", r"\b(reward|rewards|return|returns|rew|score)\b.*\b(std|stddev|dev)\b", rf"{_HELD_OUT}|\b(group|min|max)\b", _POSITIVE),
    ("reward/success", r"\b(success|solved|win|pass)\b( rate| ratio)?", r"\b(eval|test|val|validation)\b", _SHARE),
    (
        "episode/length",
        r"\b(ep|episode|eps)\b.*\b(len|length|steps)\b",
        r"\b(min|max|std|eval|evaluation|test|val|return|reward|num|total)\b",
        _POSITIVE,
    ),
    (
        "response/length",
        r"\b(response|completion|generation|output)\b.*\b(len|length|tokens)\b",
        r"\b(min|max|std|eval|evaluation|test|val|total|clip|ratio)\b",
        _POSITIVE,
    ),
    ("response/truncated", r"\b(truncated|truncation|overlong)\b", r"\b(eval|test|val|importance|is)\b", _SHARE),
    (
        "kl/old",
        r"\b(approx kl|approxkl|kl old|old kl|ppo kl|kl divergence policy|policy kl)\b",
        r"\b(ref|reference|coef|coeff|beta|target|max|min|std)\b",
        (-1.0, np.inf),
    ),
    (
        "kl/ref",
        r"\bkl\b.*\b(ref|reference|base|init|sft)\b|\b(ref|reference)\b.*\bkl\b",
        r"\b(coef|coeff|beta|target|max|min|std)\b",
        (-1.0, np.inf),
    ),
    ("entropy/mean", r"\bentropy\b", r"\b(coef|coeff|loss|bonus|min|max|std|cross|target)\b", _ANY),
    (
        "ratio/clip_fraction",
        r"\b(clip|clipped) ?(frac|fraction|ratio)\b|\bclipfrac\b|\bfraction clipped\b",
        r"\b(value|vf|low|high|lower|upper|length|response|completions?|min|max)\b",
        _SHARE,
    ),
    ("value/explained_variance", r"\bexplained (variance|var)\b", r"$^", (-np.inf, 1.0 + 1e-6)),
    ("value/loss", r"\b(value|vf|critic|v|q|qf|td|baseline) ?loss\b|\bloss (value|critic|vf|q)\b", _HELD_OUT, _ANY),
    (
        "policy/loss",
        r"\b(policy|actor|action|pg|pi|surrogate|policy gradient) ?loss\b|\bloss (policy|actor|pi|pg|objective|surrogate)\b",
        rf"{_HELD_OUT}|\bstd\b",
        _ANY,
    ),
    ("policy/grad_norm", r"\bgrad(ient|ients)? ?(global )?norm\b", r"\b(clip|max|value|critic)\b", _POSITIVE),
    ("policy/learning_rate", r"\b(learning rate|lr)\b", r"\b(critic|value|alpha)\b", (-1e-12, 10.0)),
    ("policy/total_loss", r"^((train|training|total|overall|mean|avg|average|losses?) )*loss( (total|mean|avg))?$", r"$^", _ANY),
)  # fmt: skip
"""Our name, words that must be there, words that must not, and the range of every value."""


def guess(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """The curves with guessed names where words and numbers fit a role that no other curve has; where two fit equally, none is taken."""
    out = dict(curves)
    for template, must, must_not, (low, high) in ROLES:
        fitting = [c for c in out.values() if not c.mapped and not c.guessed and _fits(c, must, must_not, low, high)]
        if "{}" not in template:
            fitting = [] if template in out else _only(fitting)
        for curve in fitting:
            name = template.format(re.sub(r"(?i)^(eval|evaluation|test|val|validation)[/_]", "", curve.raw))
            if name not in out:
                del out[curve.name]
                out[name] = replace(curve, name=name, guessed=True, note="meaning guessed from its name and numbers")
    return out


def _only(fitting: list[Curve]) -> list[Curve]:
    """The one that fits best: of whole episodes, a mean before others, then the shorter name; nothing when two are equal."""
    ranked = sorted(fitting, key=_rank)
    tie = len(ranked) > 1 and _rank(ranked[0]) == _rank(ranked[1])
    return [] if tie else ranked[:1]


def _rank(curve: Curve) -> tuple[bool, bool, int]:
    text = words(curve.raw)
    return re.search(_PARTIAL, text) is not None, re.search(r"\b(mean|avg|average)\b", text) is None, len(curve.raw)


def words(raw: str) -> str:
    """The words of a raw name, in lower case, with single spaces between."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", raw)
    return re.sub(r"[^a-z0-9]+", " ", split.lower()).strip()


def _fits(curve: Curve, must: str, must_not: str, low: float, high: float) -> bool:
    text = words(curve.raw)
    return re.search(must, text) is not None and re.search(must_not, text) is None and _within(curve.value, low, high)


def _within(value: Floats, low: float, high: float) -> bool:
    finite = value[np.isfinite(value)]
    return bool(finite.size) and bool(((finite >= low) & (finite <= high)).all())
