"""What the names of an unknown framework probably mean: roles and the outcome, by words, numbers, place, configuration and README.

One weight of words decides between several that may be meant. Where no name says that it is the outcome the best one is used, and called a
guess together with the runner-up and its odds. What only a supervised trainer writes has none.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.run import Curve, Curves, Guess, Named, is_straight
from rl_advisor.vocabulary import metric, words

_UNITS = ("episodes", "env steps", "iterations", "updates")
OUTCOMES = ("eval/score/{}", "reward/mean", "kl/teacher")
LEAST = -1.0
"""Weight from which a metric is used at all; what nothing speaks for has about 0, and its odds say so."""
_LESS = 2.5
"""Weight of a word for what should become less."""
_ASKED_FOR = re.compile(r"(?i)metric|monitor|objective|reward_key|target|optimi[sz]e|score")
SPEAKS = 2.0
"""Weight of a name from which it speaks for itself, even where its numbers go straight up."""
LOST = -5.0
"""Weight of a name up to which it is surely something else."""
_ONE = 3.0
"""Weight of being the only thing that was measured."""


_TOLD = table(__file__, "metric_words.toml")
"""What the names of strangers' metrics say."""


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", lambda group: rf"\b({_TOLD['words'][group[1]]})\b", text), re.MULTILINE)


def says(pattern: str, text: str) -> bool:
    """Whether words stand in a line of a text; ``{group}`` is one of that group of the file."""
    return _pattern(pattern).search(text) is not None


def guess(curves: Curves, roles: Collection[str] = (), unit: str = "episodes") -> Curves:
    """The curves with guessed names where words and numbers fit a role that no other curve has; where two fit equally, none is taken.

    ``roles`` are those to look for; all when it is empty. Where neither ``unit``, what the steps count, nor another name speaks of
    reinforcement learning, a bare score is anybody's.
    """
    out = {name: _as_ours(curve) for name, curve in curves.items()}
    spoken = "\n".join({words(c.raw) for c in curves.values()})
    anybodys = unit not in _UNITS and not says("{learner}", spoken)
    for row in _TOLD["role"]:
        role = row["name"]
        if (roles and role not in roles) or not _may_be(row, spoken, out):
            continue
        fitting = [c for c in out.values() if not c.mapped and not c.guessed and _fits(row, c)]
        fitting = [c for c in fitting if role != "reward/mean" or not (anybodys and says(r"\bscores?\b", words(c.raw)))]
        if "{}" not in role:
            fitting = [] if role in out else _only(fitting)
        for curve in fitting:
            name = role.format(re.sub(r"(?i)^(eval|evaluation|test|val|validation)[/_]", "", curve.raw))
            if name not in out:
                del out[curve.name]
                out[name] = replace(curve, name=name, guessed=True, note="meaning guessed from its name and numbers")
    return out


def _may_be(row: Named, spoken: str, known: Collection[str]) -> bool:
    """Whether the names of a run allow a role, given what was found before."""
    there = all(says(pattern, spoken) for pattern in row.get("beside", ())) and not says(row.get("without", "(?!)"), spoken)
    return (
        there
        and any(n.startswith(tuple(row.get("after", [""]))) for n in known)
        and not any(n.startswith(row.get("unless", "\n")) for n in known)
    )


def _fits(row: Named, curve: Curve) -> bool:
    """Whether a curve's words and numbers are those of a role."""
    text = words(curve.raw)
    if not says(row["must"], text) or (says("{setting}", text) and not row.get("setting")) or says(row.get("must_not", "(?!)"), text):
        return False
    value = curve.numbers
    return bool(value.size) and bool(row.get("low", -np.inf) <= value.min() and value.max() <= row.get("high", np.inf))


def _as_ours(curve: Curve) -> Curve:
    """A curve that its writer calls as we do."""
    if curve.mapped or curve.name != curve.raw or metric(curve.name) is None:
        return curve
    return replace(curve, guessed=True, note=curve.note or "meaning guessed from its name")


def _only(fitting: Sequence[Curve]) -> list[Curve]:
    """The one that fits best, of equals that with the shorter name; nothing where two are equal, or differ in a word each: two teams.

    What has less than a fair share of the points of the longest was written once or twice, and is a summary.
    """
    longest = max((curve.step.size for curve in fitting), default=0)
    ranked = sorted((c for c in fitting if 4 * c.step.size >= longest), key=lambda c: (-_of_words(c.raw), len(c.raw)))
    if len(ranked) > 1 and _of_words(ranked[0].raw) == _of_words(ranked[1].raw):
        one, two = (words(c.raw).split() for c in ranked[:2])
        if len(ranked[0].raw) == len(ranked[1].raw) or (len(one) == len(two) > 2 and len({*one} ^ {*two}) == 2):
            return []
    return ranked[:1]


@dataclass(frozen=True)
class Told:
    """What lies around the metrics of a run."""

    config: Mapping[str, object]
    readme: str = ""
    order: Sequence[str] = ()
    """Raw names as they stand in the files."""
    kind: str = ""
    """What is trained, in words, where that is told."""


def with_outcome(curves: Curves, told: Told) -> tuple[Curves, Guess | None]:
    """The curves with the likeliest outcome named so, and the guess; unchanged where nothing may be one."""
    unknown = [c for c in curves.values() if not c.explained and c.value.size >= 2]
    free = [c for c in unknown if _moves(c)] or [c for c in unknown if _of_words(c.raw) > LEAST + 1 or np.unique(c.numbers % 1).size > 1]
    spoken = "\n".join(words(curve.raw) for curve in curves.values())
    if not free or (not told.kind and says("{trainer}", spoken) and not says("{learner}", spoken)):
        return curves, None
    weights = _weights(free, told)
    ranked = sorted(range(len(free)), key=lambda i: -weights[i])
    if weights[ranked[0]] < LEAST:
        return curves, None
    curve = free[ranked[0]]
    next_best = next((free[i].raw for i in ranked[1:] if weights[i] >= LEAST), "")
    name = f"eval/score/{curve.raw}" if says("{held_out}", words(curve.raw)) else "reward/mean"
    lower = says("{lower}", words(curve.raw))
    note = "taken as the outcome by its name and numbers: a guess" + ("; less of it is better, so its sign is turned" if lower else "")
    named = replace(curve, raw="-" * lower + curve.raw, value=-curve.value if lower else curve.value, name=name, guessed=True, note=note)
    found = Guess(name, curve.raw, next_best, lower, float(np.exp(max(weights)) / (1 + np.exp(weights).sum())))
    return {**{n: c for n, c in curves.items() if c is not curve}, name: named}, found


def with_loss(curves: Curves, *, held_only: bool) -> tuple[Curves, Guess | None]:
    """The curves of training that is judged by a loss, with that loss as the outcome, its sign turned; a held-out one comes first."""
    losses = [c for c in curves.values() if c.varies and says(r"\bloss$", words(c.raw))]
    held = [c for c in losses if says("{held_out}", words(c.raw))]
    longest = partial(max, key=lambda c: (c.value.size, -len(c.raw)), default=None)
    own = longest(c for c in losses if c not in held)
    if own is not None and not own.mapped:
        curves = {n: c for n, c in curves.items() if c is not own} | {
            "policy/total_loss": replace(own, name="policy/total_loss", guessed=True)
        }
    if (curve := longest(held or ([] if held_only else losses))) is None:
        return curves, None
    name = f"eval/score/{curve.raw}" if held else "pairs/loss"
    note = "a loss, of which less is better: its sign is turned"
    named = replace(curve, raw=f"-{curve.raw}", value=-curve.value, name=name, guessed=True, note=note)
    return {**curves, name: named}, Guess(name, curve.raw, lower_is_better=True, p=1.0)


def _weights(free: Sequence[Curve], told: Told) -> list[float]:
    """How much speaks for each metric being the outcome: its words, its points beside the longest, its place, what is said of it."""
    longest = max(c.step.size for c in free)
    place = {raw: i / len(told.order) for i, raw in enumerate(told.order)}
    asked = {str(value) for key, value in told.config.items() if _ASKED_FOR.search(str(key))}
    found = []
    for curve in free:
        raw, own = curve.raw, _of_words(curve.raw)
        own += _ONE * (len(free) == 1 and own > LOST)
        if own < SPEAKS:  # a name that says nothing is explained by its file
            own += 0.6 * max(0.0, _of_words(re.sub(r"^.*/|\.\w+$", "", curve.source.split(", ", 1)[0])))
        own += 4.0 * (raw in asked or raw.rpartition("/")[2] in asked) + (_said(raw, told.readme) if len(raw) > 3 else 0.0)
        found.append(own + 0.5 * (curve.step.size / longest) - 2.0 * (curve.step.size < 3) - 0.5 * place.get(raw, 1.0))
    return found


def _said(raw: str, readme: str) -> float:
    """What the README adds: that it names a metric as what is aimed at, or names it at all."""
    lines = [line for line in readme.splitlines() if raw in line] if raw in readme else []
    aimed = any(re.search(r"(?i)reward|score|primary|main metric|outcome|headline|best", line.replace(raw, "")) for line in lines)
    return 1.5 if aimed else 0.5 * bool(lines)


@lru_cache(4_096)
def _of_words(raw: str) -> float:
    """The weight of the words in a name: the best that speaks for it, and all that speak against it."""
    text = words(raw) or raw.lower()
    speaking = (row["weight"] for row in _TOLD["speaks"] if says(rf"\b(?:{row['words']})\b", text))
    adds = sum(row["weight"] * len(set(_pattern(rf"\b(?:{row['words']})\b").findall(text))) for row in _TOLD["adds"])
    return float(max(speaking, default=_LESS * says("{lower}", text)) + adds)


def _moves(curve: Curve) -> bool:
    """Whether a curve has two different numbers and is no counter or clock."""
    value, own = curve.numbers, _of_words(curve.raw)
    whole = not (value % 1).any()
    ones = value.size > 2 and bool(np.all(np.diff(value) == 1))
    counts = is_straight(value) or ((own < 0 or whole) and bool(np.all(np.diff(value) >= 0)))
    return curve.varies and (own >= SPEAKS or not (counts if value.size >= 8 else ones))
