"""What the names of an unknown framework probably mean: roles guessed from the words and from the numbers, marked as guesses."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Floats
from rl_advisor.vocabulary import metric, words

_ANY = (-np.inf, np.inf)
_SHARE = (-1e-6, 1.0 + 1e-6)
_POSITIVE = (-1e-6, np.inf)
_HELD_OUT = r"\b(eval|evaluation|test|val|validation)\b"
_PARTIAL = r"\b(batch|instant|instantaneous|immediate|intrinsic|discounted|shaped|minibatch|step)\b"
"""Words of a name that is second choice: a part of what is meant, or a moment of it."""
_KNOB = (
    r"\b(coef|coeff|coefficient|weight|weights|weighting|scale|scaling|threshold|target|limit|budget|schedule|scheduler|decay|warmup"
    r"|gamma|lambda|alpha|beta|penalty|bonus|neg|negative|minus|count|counts|num|number|per second|sps)\b"
)
"""Words of a setting, a count or a part, whatever else the name says: none of our roles."""
_NOT_THE_TASK = (
    r"\b(rm|model|chosen|rejected|cost|costs|f1|bleu|rouge|bert|precision|recall|auc|lr|grad|gradient|best|initial|predicted"
    r"|prediction|estimate|estimated|expected|normed|nonzero|code|learning|to go|curiosity|extrinsic)\b"
)
"""Words beside a reward or score that make it another thing than what the task gave."""
_LEARNING = (
    r"\b(ep|eps|episode|episodes|episodic|reward|rewards|return|returns|policy|actor|critic|entropy|kl|epsilon|rollout|env|advantage)\b"
)
_BARE_KL = r"^((train|actor|policy|mean|avg|average) )*kl( (divergence|div|mean|avg|average))*$"
_LANGUAGE = r"\b(gold|responses?|completions?|tokens?|prompts?|answers?|format|correctness|accuracy|judge|rubric)\b"
_CONTROL = r"\b(ep|episode|episodes|env|timesteps|vf|value loss|explained variance|action|clipfrac)\b"
_TRUE = r"\b(gold|golden|oracle|true|ground truth|gt|hidden|intended|unhacked)\b"
_PROXY = r"\b(proxy|observed|learned|hackable|misspecified|imperfect|reward model|rm)\b"
_EARNED = r"( (reward|rewards|return|returns|score|scores|performance|objective|utility|mean|avg|average))*"
"""What a reward of which the truth is known beside it is called, and the truth."""
_UNITS = ("episodes", "env steps", "iterations", "updates")
OUTCOMES = ("eval/score/{}", "reward/mean")
ROLES: tuple[tuple[str, str, str, tuple[float, float]], ...] = (
    (
        "eval/score/{}",
        (
            r"\b(eval|evaluation|test|val|validation|holdout|held out)\b"
            r".*\b(reward|rewards|return|returns|score|scores|accuracies|accuracy|acc|success|pass|correct|pass1|win|wins|solved)\b"
        ),
        rf"\b(std|min|max|loss|length|len|time|step|steps|discounted|var|norm)\b|{_NOT_THE_TASK}",
        _ANY,
    ),
    ("eval/score/{}", r"\b(elo|rating)\b", r"\b(std|min|max|loss|opponent|initial|k factor|count)\b", _ANY),
    ("eval/score/{}", rf"{_HELD_OUT}.*\b(em|f1|exact match)\b", r"\b(std|min|max|loss|time|step|steps)\b", _SHARE),
    (
        "reward/mean",
        r"\b(reward|rewards|return|returns|rew|score|scores|ret)\b",
        (
            r"\b(std|min|max|var|loss|eval|evaluation|test|val|validation|length|len|kl|norm|margins?|baseline|advantages?|component|time|success)\b"
            rf"|\b(clip|running|normali[sz]ed|accuracy|accuracies|error|diff|env infos)\b|{_NOT_THE_TASK}"
        ),
        _ANY,
    ),
    (
        "reward/std",
        r"\b(reward|rewards|return|returns|rew|score)\b.*\b(std|stddev|dev)\b",
        rf"{_HELD_OUT}|\b(group|min|max|running)\b|{_NOT_THE_TASK}",
        _POSITIVE,
    ),
    (
        "reward/success",
        r"\b(success|solved|win|pass)\b( rate| ratio)?",
        r"\b(eval|evaluation|test|val|validation|std|loss|reward|time|length|steps|best)\b",
        _SHARE,
    ),
    (
        "episode/length",
        r"\b(ep|episode|eps)\b.*\b(len|length|steps)\b",
        r"\b(min|max|std|eval|evaluation|test|val|return|reward|total|env infos)\b",
        _POSITIVE,
    ),
    (
        "response/length",
        r"\b(response|completion|generation|output)\b.*\b(len|length|tokens)\b",
        r"\b(min|max|std|eval|evaluation|test|val|total|clip|ratio|second|speed|throughput|cost|time)\b",
        _POSITIVE,
    ),
    ("response/truncated", r"\b(truncated|truncation|overlong)\b", r"\b(eval|test|val|importance|is)\b", _SHARE),
    (
        "kl/old",
        r"\b(approx kl|approxkl|kl old|old kl|ppo kl|kl divergence policy|policy kl)\b",
        r"\b(ref|reference|max|min|std|loss|reward)\b",
        (-1.0, np.inf),
    ),
    (
        "kl/ref",
        r"\bkl\b.*\b(ref|reference|base|init|sft)\b|\b(ref|reference)\b.*\bkl\b",
        r"\b(max|min|std|loss|reward)\b",
        (-1.0, np.inf),
    ),
    ("entropy/mean", r"\bentropy\b", r"\b(loss|min|max|std|cross|grad|reward|time)\b", _ANY),
    (
        "ratio/clip_fraction",
        r"\b(clip|clipped) ?(frac|fraction|ratio)\b|\bclipfrac\b|\bfraction clipped\b",
        r"\b(value|vf|low|high|lower|upper|length|response|completions?|min|max|grad|reward)\b",
        _SHARE,
    ),
    ("value/explained_variance", r"\bexplained (variance|var)\b", r"\b(reward|cost|std)\b", (-np.inf, 1.0 + 1e-6)),
    (
        "value/loss",
        r"\b(value|vf|critic|v|q|qf|td|baseline) ?loss\b|\bloss (value|critic|vf|q)\b",
        rf"{_HELD_OUT}|\b(cost|reward|std)\b",
        _ANY,
    ),
    (
        "policy/loss",
        r"\b(policy|actor|action|pg|pi|surrogate|policy gradient) ?loss\b|\bloss (policy|actor|pi|pg|objective|surrogate)\b",
        rf"{_HELD_OUT}|\b(std|cost|reward)\b",
        _ANY,
    ),
    ("policy/grad_norm", r"\bgrad(ient|ients)? ?(global )?norm\b", r"\b(clip|max|value|vf|q|qf|critic|reward|cost|disc|rm)\b", _POSITIVE),
    (
        "policy/learning_rate",
        r"\b(learning rate|lr)\b",
        r"\b(critic|value|vf|q|reward|cost|disc|rm|step|min|max|final|initial)\b",
        (-1e-12, 10.0),
    ),
    ("policy/total_loss", r"^((train|training|total|overall|mean|avg|average|losses?) )*loss( (total|mean|avg))?$", r"$^", _ANY),
)  # fmt: skip
"""Our name, words that must be there, words that must not, and the range of every value."""


def guess(curves: Mapping[str, Curve], roles: Collection[str] = (), unit: str = "episodes") -> dict[str, Curve]:
    """The curves with guessed names where words and numbers fit a role that no other curve has; where two fit equally, none is taken.

    ``roles`` are those to look for; all when it is empty. Where neither ``unit``, what the steps count, nor another name speaks of
    reinforcement learning, a bare score is anybody's.
    """
    out = {name: _as_ours(curve) for name, curve in curves.items()}
    spoken = {c.raw: words(c.raw) for c in curves.values()}
    anybodys = unit not in _UNITS and not any(re.search(_LEARNING, text) for text in spoken.values())
    for template, must, must_not, (low, high) in (
        *_of_pairs(spoken.values()),
        *_truth(spoken.values()),
        *ROLES,
        *_bare_kl(spoken.values()),
    ):
        if roles and template not in roles:
            continue
        if template == "policy/total_loss" and not any(name.startswith("reward/") for name in out):
            continue  # the loss of a run that earns nothing may be of any training
        free = [c for c in out.values() if not c.mapped and not c.guessed and _fits(spoken[c.raw], must, must_not)]
        fitting = [c for c in free if _within(c.value, low, high)]
        fitting = [c for c in fitting if template != "reward/mean" or not (anybodys and re.search(r"\bscores?\b", spoken[c.raw]))]
        if "{}" not in template:
            fitting = [] if template in out else _only(_full(fitting))
        for curve in fitting:
            name = template.format(re.sub(r"(?i)^(eval|evaluation|test|val|validation)[/_]", "", curve.raw))
            if name not in out:
                del out[curve.name]
                out[name] = replace(curve, name=name, guessed=True, note="meaning guessed from its name and numbers")
    return out


def _truth(spoken: Iterable[str]) -> list[tuple[str, str, str, tuple[float, float]]]:
    """The roles of a true score and of what is paid instead, where both are logged: the first judges the second."""
    true, proxy = (rf"^((mean|avg|average|train|training|episode) )*{kind}{_EARNED}$" for kind in (_TRUE, _PROXY))
    told = list(spoken)
    reward = rf"{proxy}|^((mean|avg|average|train|training|episode) )*(reward|return)s?( mean)?$"
    both = any(re.search(true, text) for text in told) and any(re.search(reward, text) for text in told)
    return [("eval/score/{}", true, r"$^", _ANY), ("reward/mean", proxy, r"$^", _ANY)] if both else []


_PAIRS: tuple[tuple[str, str, str, tuple[float, float]], ...] = (
    (
        "pairs/accuracy",
        r"^((rewards?|pair|pairwise|preference|ranking|train) )*(accuracies|accuracy|acc)$|\brewards? (accuracies|accuracy)\b",
        _HELD_OUT,
        _SHARE,
    ),
    ("pairs/margin", r"\bmargins?\b", _HELD_OUT, _ANY),
    ("pairs/chosen", r"\brewards? chosen\b|\bchosen rewards?\b|\b(positive|chosen) scores?\b", _HELD_OUT, _ANY),
    ("pairs/rejected", r"\brewards? rejected\b|\brejected rewards?\b|\b(negative|rejected) scores?\b", _HELD_OUT, _ANY),
    ("pairs/logp_chosen", r"\blogps? chosen\b|\bchosen logps?\b", _HELD_OUT, _ANY),
    ("pairs/logp_rejected", r"\blogps? rejected\b|\brejected logps?\b", _HELD_OUT, _ANY),
)
"""What is logged of pairs of which one is preferred."""


def _of_pairs(spoken: Iterable[str]) -> tuple[tuple[str, str, str, tuple[float, float]], ...]:
    """The roles of pairs, where both sides of a pair are logged."""
    told = " | ".join(spoken)
    return _PAIRS if re.search(r"\b(chosen|positive)\b", told) and re.search(r"\b(rejected|negative)\b", told) else ()


def _bare_kl(spoken: Iterable[str]) -> list[tuple[str, str, str, tuple[float, float]]]:
    """The role of a KL that does not say to what: trainers of language models mean the reference, others the policy that sampled."""
    told = list(spoken)
    language = any(re.search(_LANGUAGE, text) for text in told)
    control = any(re.search(_CONTROL, text) for text in told)
    return [("kl/ref" if language else "kl/old", _BARE_KL, r"$^", (-1.0, np.inf))] if language != control else []


def _as_ours(curve: Curve) -> Curve:
    """A curve that its writer calls as we do."""
    if curve.mapped or curve.name != curve.raw or metric(curve.name) is None:
        return curve
    return replace(curve, guessed=True, note=curve.note or "meaning guessed from its name")


def _full(fitting: list[Curve]) -> list[Curve]:
    """Those with a fair share of the points of the longest: what was written once or twice is a summary."""
    longest = max((curve.step.size for curve in fitting), default=0)
    return [curve for curve in fitting if 4 * curve.step.size >= longest]


def _only(fitting: list[Curve]) -> list[Curve]:
    """The one that fits best: of whole episodes, a mean before others, then the shorter name; nothing when two are equal."""
    ranked = sorted(fitting, key=_rank)
    tie = len(ranked) > 1 and (_rank(ranked[0]) == _rank(ranked[1]) or _apart(ranked[0], ranked[1]))
    return [] if tie else ranked[:1]


def _apart(one: Curve, two: Curve) -> bool:
    """Whether two names of one rank differ in a word each: the win rates of two teams."""
    a, b = set(words(one.raw).split()), set(words(two.raw).split())
    return _rank(one)[:3] == _rank(two)[:3] and len(a) == len(b) > 2 and len(a ^ b) == 2


def _rank(curve: Curve) -> tuple[bool, bool, bool, int]:
    text = words(curve.raw)
    whole, mean = r"\b(ep|eps|episode|episodes|episodic|return|returns)\b", r"\b(mean|avg|average)\b"
    return re.search(_PARTIAL, text) is not None, re.search(whole, text) is None, re.search(mean, text) is None, len(curve.raw)


def _fits(text: str, must: str, must_not: str) -> bool:
    return re.search(must, text) is not None and re.search(must_not, text) is None and re.search(_KNOB, text) is None


def _within(value: Floats, low: float, high: float) -> bool:
    finite = value[np.isfinite(value)]
    return bool(finite.size) and bool(((finite >= low) & (finite <= high)).all())
