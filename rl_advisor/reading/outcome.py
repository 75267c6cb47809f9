"""Which metric of a stranger is the outcome, where no framework says it: ranked by words, numbers, place, configuration and README.

The best one is used, and called a guess together with the runner-up. What only a supervised trainer writes is none.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from rl_advisor.reading.guessing import metric_words, says
from rl_advisor.run import Curve, Floats, Guess
from rl_advisor.vocabulary import words

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


@dataclass(frozen=True)
class Told:
    """What lies around the metrics of a run."""

    config: Mapping[str, object]
    readme: str = ""
    order: Sequence[str] = ()
    """Raw names as they stand in the files."""

    @cached_property
    def place(self) -> Mapping[str, float]:
        """Where each name stands among all, 0 for the first and 1 for the last."""
        return {raw: i / len(self.order) for i, raw in reversed([*enumerate(self.order)])}

    @cached_property
    def asked(self) -> Collection[str]:
        """The values of settings that name what is aimed at."""
        return {str(value) for key, value in self.config.items() if _ASKED_FOR.search(str(key))}


def with_outcome(curves: Mapping[str, Curve], told: Told) -> tuple[dict[str, Curve], Guess | None]:
    """The curves with the likeliest outcome named so, and the guess; unchanged where nothing may be one."""
    unknown = [c for c in curves.values() if not (c.mapped or c.guessed) and c.value.size >= 2]
    free = [c for c in unknown if _moves(c)] or [c for c in unknown if _of_words(_text(c.raw)) > LEAST + 1 or _differs(c.value)]
    if not free or not _of_a_learner(curves):
        return dict(curves), None
    longest = max(c.step.size for c in free)
    weights = (weight(c, told, longest, alone=len(free) == 1) for c in free)
    ranked = sorted(((w, -told.place.get(c.raw, 1.0), c.raw) for w, c in zip(weights, free, strict=True)), reverse=True)
    best, _, raw = ranked[0]
    if best < LEAST:
        return dict(curves), None
    curve = next(c for c in free if c.raw == raw)
    next_best = next((name for other, _, name in ranked[1:] if other >= LEAST), "")
    name = f"eval/score/{curve.raw}" if says("{held_out}", words(curve.raw)) else "reward/mean"
    lower = says("{lower}", words(curve.raw))
    note = "taken as the outcome by its name and numbers: a guess" + ("; less of it is better, so its sign is turned" if lower else "")
    named = replace(curve, name=name, guessed=True, note=note, value=-curve.value if lower else curve.value)
    odds = np.exp([0.0, *(weight for weight, _, _ in ranked)])
    found = Guess(name, raw, next_best, lower, float(odds[1] / odds.sum()))
    return {**{n: c for n, c in curves.items() if c is not curve}, name: named}, found


def weight(curve: Curve, told: Told, longest: int, *, alone: bool) -> float:
    """How much speaks for a metric being the outcome: its words, its points beside the longest, its place, what is said of it."""
    own = _of_words(_text(curve.raw))
    if alone and own > LOST:
        own += _ONE
    if own < SPEAKS:  # a name that says nothing is explained by its file
        own += 0.6 * max(0.0, _of_words(words(re.sub(r"^.*/|\.\w+$", "", curve.source.split(", ", 1)[0]))))
    thin = 0.0 if curve.step.size >= 3 else 2.0
    return own + 0.5 * (curve.step.size / longest) - thin - 0.5 * told.place.get(curve.raw, 1.0) + _said(curve.raw, told)


def _of_words(text: str) -> float:
    """The weight of the words in a name: the best that speaks for it, and all that speak against it."""
    told = metric_words()
    best = max((row["weight"] for row in told["speaks"] if _any_of(row["words"]).search(text)), default=_LESS * says("{lower}", text))
    return float(best + sum(row["weight"] * len(set(_any_of(row["words"]).findall(text))) for row in told["adds"]))


@cache
def _any_of(names: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{names})\b")


def _said(raw: str, told: Told) -> float:
    """What the configuration and the README add: that they name it as what is aimed at, or name it at all."""
    asked = raw in told.asked or raw.rpartition("/")[2] in told.asked
    lines = [line for line in told.readme.splitlines() if raw in line] if len(raw) > 3 and raw in told.readme else []
    aimed = any(re.search(r"(?i)reward|score|primary|main metric|outcome|headline|best", line.replace(raw, "")) for line in lines)
    return 4.0 * asked + (1.5 if aimed else 0.5 if lines else 0.0)


def _moves(curve: Curve) -> bool:
    """Whether a curve has two different numbers and is no counter or clock."""
    value = curve.value[np.isfinite(curve.value)]
    return bool(value.size >= 2 and value.min() < value.max()) and (_of_words(_text(curve.raw)) >= SPEAKS or not _is_counter(value))


def _text(raw: str) -> str:
    """The words of a name, without accents; of one in another script its letters."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", raw) if not unicodedata.combining(c))
    return words(plain) or raw.lower()


def _differs(value: Floats) -> bool:
    """Whether there are two different numbers that are not whole."""
    return bool((value[np.isfinite(value)] % 1 != 0).any()) and np.unique(value).size > 1


def _is_counter(value: Floats) -> bool:
    """Whether the numbers go up all the time at nearly one pace."""
    pace = np.diff(value)
    if value.size < 8 or not (pace >= 0).all():
        return False
    straight = np.corrcoef(value, np.arange(value.size))[0, 1]
    return bool(straight > 0.999 and (pace > 0).mean() > 0.9)


def _of_a_learner(curves: Mapping[str, Curve]) -> bool:
    """Whether the names may be of one who learns by reward: one of them says so, or none is a trainer's loss."""
    texts = [words(curve.raw) for curve in curves.values()]
    return any(says("{learner}", text) for text in texts) or not any(says("{trainer}", text) for text in texts)
