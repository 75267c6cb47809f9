"""What the names of an unknown framework probably mean: roles guessed from the words and from the numbers, marked as guesses."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.run import Curve
from rl_advisor.vocabulary import metric, words

_UNITS = ("episodes", "env steps", "iterations", "updates")
OUTCOMES = ("eval/score/{}", "reward/mean")


@dataclass(frozen=True)
class Role:
    """A row of ``metric_words.toml``: what a metric is in our words, and by what it is told."""

    name: str
    must: str
    must_not: str = "(?!)"
    low: float = -np.inf
    high: float = np.inf
    beside: Sequence[str] = ()
    without: str = "(?!)"
    after: str = ""

    def may_be(self, spoken: Collection[str], known: Iterable[str]) -> bool:
        """Whether the names of a run allow it, given what was found before."""
        there = all(any(re.search(_spelled(pattern), text) for text in spoken) for pattern in self.beside)
        other = any(re.search(_spelled(self.without), text) for text in spoken)
        return there and not other and any(name.startswith(self.after) for name in known)

    def fits(self, curve: Curve) -> bool:
        """Whether a curve's words and numbers are those of the role."""
        text, value = words(curve.raw), curve.value[np.isfinite(curve.value)]
        said = says("{setting}", text) or not says(self.must, text) or says(self.must_not, text)
        return not said and bool(value.size) and bool(((value >= self.low) & (value <= self.high)).all())


@cache
def metric_words() -> Mapping[str, Any]:
    """What the names of strangers' metrics say, as the file beside this one has it."""
    return tomllib.loads(Path(__file__).with_name("metric_words.toml").read_text(encoding="utf-8"))


@cache
def _spelled(pattern: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda group: rf"\b({metric_words()['words'][group[1]]})\b", pattern)


def says(pattern: str, text: str) -> bool:
    """Whether words stand in a text; ``{group}`` is one of that group of the file."""
    return re.search(_spelled(pattern), text) is not None


def guess(curves: Mapping[str, Curve], roles: Collection[str] = (), unit: str = "episodes") -> dict[str, Curve]:
    """The curves with guessed names where words and numbers fit a role that no other curve has; where two fit equally, none is taken.

    ``roles`` are those to look for; all when it is empty. Where neither ``unit``, what the steps count, nor another name speaks of
    reinforcement learning, a bare score is anybody's.
    """
    out = {name: _as_ours(curve) for name, curve in curves.items()}
    spoken = {words(c.raw) for c in curves.values()}
    anybodys = unit not in _UNITS and not any(says("{learner}", text) for text in spoken)
    for role in (Role(**row) for row in metric_words()["role"]):
        if (roles and role.name not in roles) or not role.may_be(spoken, out):
            continue
        fitting = [c for c in out.values() if not c.mapped and not c.guessed and role.fits(c)]
        fitting = [c for c in fitting if role.name != "reward/mean" or not (anybodys and says(r"\bscores?\b", words(c.raw)))]
        if "{}" not in role.name:
            fitting = [] if role.name in out else _only(_full(fitting))
        for curve in fitting:
            name = role.name.format(re.sub(r"(?i)^(eval|evaluation|test|val|validation)[/_]", "", curve.raw))
            if name not in out:
                del out[curve.name]
                out[name] = replace(curve, name=name, guessed=True, note="meaning guessed from its name and numbers")
    return out


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
    return says("{partial}", text), not says(whole, text), not says(mean, text), len(curve.raw)
