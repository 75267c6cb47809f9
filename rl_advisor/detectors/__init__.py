"""One failure pattern a module or a row of ``rows.toml``; its docstring, or the row's page, is the manual page.

A row is a pattern that comes down to "statistic of a metric, bound, sentence"::

    when = ["fall pairs/chosen > 0.25 rise pairs/margin"]    every condition holds: present; a list of lists: one of the lists does
    unless = ["rose score"]                                  one of these holds: absent all the same
    perhaps = ["fall pairs/chosen > 0"]                      as ``when``, where that does not hold: unclear
    says = "{start pairs/chosen} at first, {end pairs/chosen} now"

A condition is ``statistic metric``, perhaps compared with a number, or with a number times a statistic of another metric. Metrics are ours
(``a|b``: the first that is logged), ``score`` is the held-out score, ``reward`` the training reward, ``outcome`` the one to go by, and
``setting`` asks what the run was started with.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.discovery import modules
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, not_logged, number, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Curve, Run
from rl_advisor.settings.given import Settings
from rl_advisor.vocabulary import Link
from rl_advisor.vocabulary import metric as of_name

OF_OUTCOME = "eval/score/*|reward/mean|reward/success|reward/used|reward/component/*|pairs/accuracy"
"""What may be the outcome."""
FEWEST = 6
"""Points below which a row says nothing."""
HEADINGS = ("Looks for", "Means", "Not to be confused with", "Next test", "Source")
OUTCOMES: Mapping[str, Callable[[Run], Curve | None]] = {
    "score": outcomes.held_out, "reward": outcomes.training, "outcome": outcomes.outcome,
}  # fmt: skip
STATISTICS: Mapping[str, Callable[[Curve], float]] = {
    "first": lambda c: float(c.finite()[1][0]),
    "start": lambda c: float(np.median(segments.opening(c))),
    "end": lambda c: float(np.median(segments.final(c))),
    "half": lambda c: float(np.median(c.finite()[1][c.finite()[1].size // 2 :][:5])),
    "last": lambda c: float(np.median(segments.final(c, 0.05))),
    "size": lambda c: abs(float(np.median(segments.final(c, 0.4)))),
    "spread": lambda c: float(np.std(segments.final(c, 0.4))),
    "begins": lambda c: float(c.finite()[0][0] / max(c.step[-1], 1e-9)),
    "median": lambda c: float(np.median(c.finite()[1])),
    "max": lambda c: float(c.finite()[1].max()),
    "min": lambda c: float(c.finite()[1].min()),
    "points": lambda c: float(c.finite()[1].size),
    "rise": lambda c: outcomes.course_of(c).gain.low,
    "fall": lambda c: -outcomes.course_of(c).gain.high,
    "rose": lambda c: float(outcomes.course_of(c).rose),
    "fell": lambda c: float(outcomes.course_of(c).fell),
    "kept": lambda c: float(outcomes.course_of(c).rose and not outcomes.course_of(c).fell),
    "grew": lambda c: float(outcomes.course_of(c).got_somewhere),
    "flat": lambda c: float(outcomes.course_of(c).direction() == "flat"),
    "solved": lambda c: float(outcomes.course_of(c).at_ceiling),
}
"""What a condition may ask of a curve; ``rise`` and ``fall`` are what it surely gained or lost, its noise taken off."""
_NUMBER = re.compile(r"\{(\w{1,60}) ([^{}]{1,60})\}")
"""A number in a row's sentence: a statistic of a metric."""
_CONDITION = re.compile(r"(not )?(\w+) (\S+)(?: ([<>]) (-?[\d.e-]+)(?: (\w+) (\S+))?)?")


@dataclass(frozen=True)
class Detector:
    """A failure pattern: what it is, what it tends to bring about, and how to look for it."""

    name: str
    link: Link
    role: Role
    needs: tuple[str, ...]
    """What must be logged; alternatives are joined by ``|``."""
    detect: Callable[[Run], Answer]
    text: str
    """The manual page."""
    weight: float = 1.0
    """How strongly it speaks when it is present: 1 speaks, 2 strongly, 3 all but settles (natural log of the odds)."""
    speaks: Mapping[str, float] = field(default_factory=dict)
    """Verdict -> what it adds to the logarithm of its odds, where that is not what its role says."""
    change: tuple[tuple[str, str], ...] = ()
    """What to turn in an experiment: a setting in our words, and the value or the share of the present one (empty: a switch)."""
    kinds: tuple[str, ...] = ()
    """The kinds of training of which it is asked; of all that learn by reward where it names none."""

    @property
    def brings(self) -> frozenset[str]:
        """The patterns that it tends to bring about."""
        return graph().get(self.name, frozenset())

    @property
    def page(self) -> dict[str, str]:
        """The manual page by its headings, with the first sentence as the title."""
        parts = re.split(rf"({'|'.join(HEADINGS)}): ", re.sub(r"\s+", " ", self.text))
        return {"Title": parts[0].strip()} | {head: body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def patterns() -> Mapping[str, Detector]:
    """Every pattern by its name, outside-in along the loop."""
    order = {link: place for place, link in enumerate(Link)}
    found = [*map(_of_module, modules("rl_advisor.detectors", "LINK", "NEEDS", "detect")), *map(_of_row, rows(), rows().values())]
    return {d.name: d for d in sorted(found, key=lambda d: (order[d.link], d.name))}


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """The patterns that are data."""
    return tomllib.loads((Path(__file__).parent / "rows.toml").read_text(encoding="utf-8"))


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """What each pattern tends to bring about: the one graph, of ``brings.toml``."""
    told = tomllib.loads((Path(__file__).parent / "brings.toml").read_text(encoding="utf-8"))
    return {cause: frozenset(effects) for cause, effects in told.items()}


def _of_module(module: ModuleType) -> Detector:
    """The detector that a module defines."""
    own = {name: getattr(module, name.upper()) for name in ("weight", "speaks", "change", "kinds") if hasattr(module, name.upper())}
    name = module.__name__.rpartition(".")[2]
    return Detector(name, module.LINK, module.ROLE, module.NEEDS, module.detect, module.__doc__ or "", **own)


def _of_row(name: str, row: Mapping[str, Any]) -> Detector:
    """The detector that a row stands for; what it looks at it needs, but for what only denies it."""
    asked = [c.metric for way in _ways(row["when"]) for c in way if c.statistic != "setting"]
    needs = dict.fromkeys("eval/score/*" if m == "score" else OF_OUTCOME if m in OUTCOMES else m for m in asked)
    needs = row.get("needs", needs)
    own = {key: row[key] for key in ("weight", "speaks") if key in row}
    change = tuple((str(ours), str(to)) for ours, to in row.get("change", {}).items())
    link, role = Link(row["link"]), Role(row["role"])
    detect = partial(_detect, row=row)
    return Detector(name, link, role, tuple(needs), detect, row["page"], change=change, kinds=tuple(row.get("kinds", ())), **own)


@dataclass(frozen=True)
class Condition:
    """What a row asks for."""

    denied: bool
    statistic: str
    metric: str
    sign: str
    bound: float
    beside: tuple[str, str] | None

    def holds(self, run: Run) -> bool | None:
        """Whether it is so; None where a metric is not logged."""
        left = asked(run, self.statistic, self.metric)
        right = asked(run, *self.beside) if self.beside else 1.0
        if left is None or right is None:
            return True if self.denied else None
        return (left > self.bound * right if self.sign == ">" else left < self.bound * right) != self.denied


@cache
def condition(text: str) -> Condition:
    """A condition as it is written in a row."""
    found = _CONDITION.fullmatch(text)
    if found is None or not {found[2], found[6] or "end"} <= {*STATISTICS, "setting"}:
        raise ValueError(f"no condition: {text!r}")
    return Condition(
        bool(found[1]), found[2], found[3], found[4] or ">", float(found[5] or 0.0), (found[6], found[7]) if found[6] else None
    )


def asked(run: Run, statistic: str, metric: str) -> float | None:
    """The statistic of a metric; None where it is not logged."""
    if statistic == "setting":
        return Settings(run).number(metric)
    curve = _curve(run, metric)
    if curve is None:
        return None
    if curve.finite()[1].size < FEWEST:
        raise TooFewPoints(f"{curve.finite()[1].size} points of {curve.name}, {FEWEST} needed")
    return STATISTICS[statistic](curve)


def _curve(run: Run, metric: str) -> Curve | None:
    """The first of the metrics that has a value."""
    if metric in OUTCOMES:  # of a few evaluations nothing is known
        found = OUTCOMES[metric](run)
        return found if found is not None and found.finite()[1].size >= FEWEST else None
    logged = (run.curves[name] for name in metric.split("|") if name in run.curves)
    return next((curve for curve in logged if curve.finite()[1].size), None)


def _ways(written: Sequence[str] | Sequence[Sequence[str]]) -> list[list[Condition]]:
    """The ways in which a row may come true, each with all of its conditions."""
    ways = [written] if written and isinstance(written[0], str) else written
    return [[condition(str(text)) for text in way] for way in ways]


def _true(run: Run, written: Sequence[str] | Sequence[Sequence[str]]) -> bool | None:
    """Whether one of the ways is open; None where what would tell is not logged."""
    told = [[c.holds(run) for c in way] for way in _ways(written)]
    ways = [False if False in way or not any(way) else None if None in way else True for way in told]
    return True if True in ways else None if None in ways else False


def _detect(run: Run, row: Mapping[str, Any]) -> Answer:
    """What a row answers of a run."""
    every = [c for way in (*_ways(row["when"]), *_ways(row.get("unless", ()))) for c in way]
    if any(c.beside and c.beside[0] == "setting" and asked(run, *c.beside) is None for c in every):
        return not_logged("The setting that it is held against is not given.")
    curves = {c.metric: curve for c in every if c.statistic != "setting" and (curve := _curve(run, c.metric)) is not None}
    where = tuple(Evidence(c.name, float(c.step[0]), float(c.step[-1])) for c in dict.fromkeys(curves.values()))
    named = [*((c.statistic, c.metric) for c in every), *((s, m) for s, m in _NUMBER.findall(row["says"]) if s != "name")]
    measures = {f"{statistic} {metric}": value for statistic, metric in named if (value := asked(run, statistic, metric)) is not None}
    text, told = _spelled(run, row["says"]), _true(run, row["when"])
    if any(condition(text).holds(run) for text in row.get("unless", ())):
        return absent(f"{text}.", measures=measures, evidence=where)
    if told:
        return present(f"{text}: {row['shows']}.", _since(curves, row.get("since", "")), measures, where)
    if told is None or _true(run, row.get("perhaps", ())):
        return unclear(f"{text}; {row.get('but', 'what would tell is not logged')}.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)


def _since(curves: Mapping[str, Curve], named: str) -> Onset | None:
    """When a curve's main change began, or (``start ...``) its first step; None where a row names none."""
    start, metric = named.startswith("start "), named.removeprefix("start ")
    curve = curves.get(metric)
    if curve is None:
        return None
    return segments.around(curve.step, float(curve.step[0])) if start else segments.began(curve)


def _spelled(run: Run, text: str) -> str:
    """A sentence of a row with its numbers."""
    return _NUMBER.sub(lambda m: _number(run, m[1], m[2]), text)


def _number(run: Run, statistic: str, metric: str) -> str:
    if statistic == "name":
        curve = _curve(run, metric)
        return curve.name if curve is not None else metric
    value = asked(run, statistic, metric)
    if value is None:
        return "unknown"
    return percent(value) if all((known := of_name(name)) and known.unit == "share" for name in metric.split("|")) else number(value)
