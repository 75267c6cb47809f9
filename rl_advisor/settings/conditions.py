"""What a row of facts may ask of a run: a statistic of a metric, set against a bound. Patterns and checks that are data share it.

A condition is ``statistic metric``, perhaps compared with a number, with a statistic of another metric, or with a number times it; ``not``
denies it. Metrics are ours (``a|b``: the first that is logged); ``score`` is the held-out score, ``reward`` the training reward,
``outcome`` the one to go by, ``it`` the one of several that a row is asked of in turn, ``samples/x`` a measure of the sampled text. Some
statistics are asked of the run (``setting target_kl``, ``thriving run``).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from math import isfinite
from typing import Any

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.course import course_of
from rl_advisor.curves.logged import logged
from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Onset, Outcome, number
from rl_advisor.gpu import facts as gpu_facts
from rl_advisor.output.wording import from_to, percent
from rl_advisor.run import Curve, Run
from rl_advisor.samples.person import agreement, scored
from rl_advisor.samples.rows import reference_columns
from rl_advisor.samples.text_change import onset
from rl_advisor.settings.given import Given, said, settings_of
from rl_advisor.settings.not_finite import blank, broken, called, sound
from rl_advisor.settings.of_run import OF_RUN, setting_of, usual, value_of
from rl_advisor.settings.of_samples import OF_SAMPLES, SAMPLES, of_samples, stretches_or_none
from rl_advisor.settings.priors import Prior
from rl_advisor.settings.restarts import resumed, steps_beside
from rl_advisor.settings.statistics import FEWEST, OF_COURSE, OF_STRETCH, OF_VALUES, logged_curve, parts_of
from rl_advisor.vocabulary import metric_unit

OUTCOMES: Mapping[str, Callable[[Run], Curve | None]] = {
    "score": outcomes.held_out, "reward": outcomes.training, "outcome": outcomes.outcome,
}  # fmt: skip
SHARES, NUMBERS = (
    ("zeros", "pinned", "negative", "gpu_share", "all_at", "farthest", "unbaselined", "restarted"),
    ("points", "peaks", "spikes", "bursts"),
)
"""Statistics that are shares of points, and those that count whatever the metric's unit."""
LOGGED = {"starts": "first", "best": "best", "ends": "last"}
"""Numbers of an outcome that a reader looks up in the log, and what they are called there."""
SAYS = {"fault": Outcome.PRESENT, "note": Outcome.UNCLEAR, "fine": Outcome.ABSENT, "not_given": Outcome.NOT_LOGGED}
"""The outcomes of a check, as users know them."""
STEPS, COUNTS = ("best_step", "jump_step", "alone_at", "resumed"), ("points", "zeros", "level", "median", "begin", "now", "three_times")
"""Statistics that are said as steps, and those that ask for no number of points."""
_STAYED = re.compile(r"went from about (-?\d[\d.,e+-]*(?: %)?) to \1(?=[\s,;:]|$)")
"""What went from a value to the same value stayed there."""
_NUMBER = re.compile(r"\{(\w{1,60}) ([^{}]{1,160})\}")
"""A number in a row's sentence: a statistic of a metric."""
_CONDITION = re.compile(r"(not )?(\w+) (\S+)(?: ([<>])(?: (-?[\d.e-]+))?(?: ([a-z]\w*) (\S+))?)?")
Written = Sequence[str] | Sequence[Sequence[str]]
"""Conditions that all hold, or several ways in which they do."""


@dataclass(frozen=True)
class Condition:
    """What a row asks for."""

    denied: bool
    statistic: str
    metric: str
    sign: str
    bound: float
    beside: tuple[str, str] | None


@cache
def condition(text: str) -> Condition:
    """A condition as it is written in a row."""
    found = _CONDITION.fullmatch(text)
    if found is None or not {found[2], found[6] or "end"} <= KNOWN or (found[4] and not found[5] and not found[6]):
        raise ValueError(f"no condition: {text!r}")
    beside = (found[6], found[7]) if found[6] else None
    return Condition(bool(found[1]), found[2], found[3], found[4] or ">", float(found[5] or bool(found[6])), beside)


def ways(written: Written) -> list[list[Condition]]:
    """The ways in which a row may come true, each with all of its conditions."""
    every = [written] if written and isinstance(written[0], str) else written
    return [[condition(str(text)) for text in way] for way in every]


def named(text: str) -> list[tuple[str, str]]:
    """The numbers of a row's sentence: statistic and metric."""
    return [(statistic, metric) for statistic, metric in _NUMBER.findall(text) if statistic not in WORDS]


@dataclass(frozen=True)
class View:
    """A run as a row asks of it."""

    run: Run
    it: str = ""
    """The metric that the row is asked of."""
    fewest: int = FEWEST
    """Points below which nothing is said of a curve; 1 where rows are asked what each of them proves."""

    def named(self, metric: str) -> str:
        """A metric by its name, where the row says ``it``."""
        return self.it + metric[2:] if metric == "it" or metric.startswith("it=") else metric

    def curve(self, metric: str) -> Curve | None:
        """The first of the metrics that has a value; an outcome of a few points is none."""
        metric = self.named(metric)
        if metric in OUTCOMES:
            found = OUTCOMES[metric](self.run)
            return found if found is not None and found.numbers.size >= self.fewest else None
        return logged_curve(self.run, metric)

    @lru_cache(maxsize=4096)  # noqa: B019  what several rows ask is measured once; a few runs stay
    def number(self, statistic: str, metric: str) -> float | None:
        """The statistic of a metric; None where it is not logged."""
        metric = self.named(metric)
        if statistic in OF_RUN:
            return OF_RUN[statistic](self.run, metric)
        if metric.startswith(SAMPLES):
            return of_samples(self.run, statistic, metric.removeprefix(SAMPLES))
        curve = self.curve(metric)
        if curve is None or statistic not in {*OF_VALUES, *OF_STRETCH, *OF_COURSE}:
            return None
        value = curve.numbers
        if value.size < self.fewest and statistic not in COUNTS:
            raise TooFewPoints(f"{value.size} points of {curve.name}, {self.fewest} needed")
        if statistic in OF_VALUES:
            return float(OF_VALUES[statistic](value))
        return float(OF_STRETCH[statistic](curve) if statistic in OF_STRETCH else OF_COURSE[statistic](course_of(curve)))

    def holds(self, asked: Condition) -> bool | None:
        """Whether a condition is met; None where a metric is not logged, which denies nothing."""
        left = self.number(asked.statistic, asked.metric)
        right = self.number(*asked.beside) if asked.beside else 1.0
        if left is None or right is None:
            return True if asked.denied else None
        return (left > asked.bound * right if asked.sign == ">" else left < asked.bound * right) != asked.denied

    def true(self, written: Written) -> bool | None:
        """Whether one of the ways is open; None where none of them could be told.

        Raises:
            TooFewPoints: none is, and for one of them a metric has too few points.
        """
        found: list[bool | None] = []
        short: TooFewPoints | None = None
        for way in ways(written):
            try:
                told = [self.holds(c) for c in way]
                found.append(False if False in told else None if None in told else True)
            except TooFewPoints as error:
                short = error
        if True not in found and short is not None:
            raise short
        return True if True in found else None if found and not any(way is False for way in found) else False

    def so(self, written: Written) -> bool:
        """Whether one of the ways is surely open."""
        try:
            return self.true(written) is True
        except TooFewPoints:
            return False

    def answer(self, row: Mapping[str, Any]) -> tuple[Answer | None, Mapping[str, Any]]:
        """What a row says, and its case: the first that holds where what all need (``of``) holds; nothing where none does."""
        cases = row["cases"] if self.so(row.get("of", [[]])) else ()
        case = next((case for case in cases if self.so(case["when"])), None)
        if case is None:
            return None, {}
        said = "".join(self.says(part["says"]) for part in (case, *case.get("more", ())) if part is case or self.so(part["when"]))
        return Answer(SAYS[case["outcome"]], said, do=self.says(case.get("do", "")), confirmed=self.so(case.get("confirmed", ()))), case

    def measured(self, statistic: str, metric: str) -> float | None:
        """The statistic of a metric; None where it is not logged, or not often enough."""
        try:
            return self.number(statistic, metric)
        except TooFewPoints:
            return None

    def told(self, statistic: str, metric: str) -> float | None:
        """The number as a sentence says it: of an outcome's start, best and end what a reader finds in the log."""
        value, curve = self.measured(statistic, metric), self.curve(metric)
        if value is not None and statistic in LOGGED and curve is not None:
            value = float(getattr(logged(self.run, curve), LOGGED[statistic]))
        return value if value is not None and isfinite(value) else None

    def says(self, text: str) -> str:
        """A sentence of a row with its numbers; a clause (they stand between semicolons) whose numbers are not logged is left out."""
        known = [clause for clause in text.split("; ") if None not in [self.told(*one) for one in named(clause)]]
        return _STAYED.sub(r"stayed at about \1", _NUMBER.sub(lambda m: self._spelled(m[1], m[2]), "; ".join(known or [text])))

    def since(self, text: str) -> Onset | None:
        """When what a row looks for began: metrics (the first that tells), each with one of ``SINCE`` where that is not its main change."""
        kind = ""
        for part in text.split("|"):
            kind, metric = part.split(" ") if " " in part else (kind, part)
            if (found := self._since(kind, self.named(metric))) is not None:
                return found
        return None

    def _since(self, kind: str, metric: str) -> Onset | None:
        if metric.startswith(SAMPLES):
            column, s = metric.removeprefix(SAMPLES), stretches_or_none(self.run)
            return onset(s, column) if s is not None else None
        if kind in ("event", "resumed", "restarted_at"):
            own = self.number(kind, metric) if kind in OF_RUN else None
            at = own or next((e.step for e in self.run.events if e.kind == metric and e.step is not None), None)
            return None if at is None else segments.around(segments.logged(self.run), at)
        if kind == "alone":
            found = outcomes.lone_step(self.run, metric)
            return Onset(found.at, found.before, found.at) if found is not None else None
        curve = self.curve(metric)
        if curve is None and kind == "start" and metric == self.it:
            return Onset(self.run.first_step, self.run.first_step, self.run.first_step)
        return segments.SINCE[kind](curve) if curve is not None else None

    def _spelled(self, statistic: str, metric: str) -> str:
        if statistic in WORDS:
            return WORDS[statistic](self, self.named(metric))
        value, curve = self.measured(statistic, metric), self.curve(metric)
        if value is None:
            return "unknown"
        if statistic in STEPS:
            return f"{value:.0f}"
        if statistic in LOGGED and curve is not None:
            told = logged(self.run, curve)
            return told.said(getattr(told, LOGGED[statistic]))
        share = statistic not in NUMBERS and {metric_unit(name.rstrip("*")) for name in metric.split("|")} == {"share"}
        return percent(value) if share or statistic in SHARES else number(value)


def _fact(run: Run, asked: str, written: Written) -> bool | None:
    """Whether a fact is true of the run, or of one of a family; None where it cannot be told."""
    if asked.endswith("/"):
        return any(View(run, name, 1).so(written) for name in parts_of(run, asked))
    try:
        return View(run, fewest=1).true(written)
    except TooFewPoints:
        return None


OF_RUN |= {name: partial(_fact, written=written) for name, written in table(__file__, "facts.toml").items()}
KNOWN = {*OF_VALUES, *OF_STRETCH, *OF_COURSE, *OF_RUN, *OF_SAMPLES}


def _of_curve(view: View, metric: str, says: Callable[[View, Curve], str]) -> str:
    curve = view.curve(metric)
    return says(view, curve) if curve is not None else view.named(metric).removeprefix(SAMPLES)


def _written(view: View, names: str) -> list[Given]:
    """The settings of those names that are given."""
    return [found for name in names.split("|") if (found := settings_of(view.run).given(name)) is not None]


def _usual(view: View, metric: str, says: Callable[[Prior, float], str]) -> str:
    """What the table of priors says of a setting's value."""
    value, row = value_of(view.run, metric), usual(view.run, metric)
    return says(row, value) if row is not None and value is not None else "unknown"


_SAID_OF_CURVES: Mapping[str, Callable[[View, Curve], str]] = {
    "name": lambda _, c: c.name,
    "called": lambda _, c: c.raw,
    "way": lambda _, c: "flat" if segments.at_rest(found := course_of(c)) else found.direction(),
    "beside": lambda view, c: steps_beside(view.run, c, OF_STRETCH["jump_step"](c)),
    "went": lambda _, c: from_to(*c.numbers[[0, -1]]),
    "fell": lambda _, c: from_to(float(c.numbers.max()), c.numbers[-1]),
}
WORDS: Mapping[str, Callable[[View, str], str]] = {
    **{word: partial(_of_curve, says=says) for word, says in _SAID_OF_CURVES.items()},
    "break": lambda view, _: (resumed(view.run) or (0, ""))[1],
    "broken": lambda view, names: called(broken(view.run, names)),
    "sound": lambda view, names: called(sound(view.run, names), 3),
    "blank": lambda view, names: called(blank(view.run, names)),
    "unpaid": lambda view, prefix: " or ".join(c.raw for c in view.run.family(prefix).values() if not c.numbers.any()),
    "risen": lambda view, prefix: " and ".join(
        c.raw for c in view.run.family(prefix).values() if View(view.run, c.name).so(table(__file__, "facts.toml")["part_rises"])
    ),
    "agreement": lambda view, _: "; ".join(
        f"{n} {percent(a['share'])} ({percent(a['low'])} to {percent(a['high'])})" for n, a in agreement(scored(view.run)).items()
    ),
    "judge_names": lambda view, _: ", ".join(name.removeprefix("other/") for name in reference_columns(view.run.rollouts)),
    "gpu_name": lambda view, name: gpu_facts.NAMES[name](view.run),
    "setting_name": lambda _, name: setting_of(name),
    "given": lambda view, names: said(_written(view, names)),
    "text": lambda view, names: ", ".join(
        str(part) for g in _written(view, names) for part in (g.value if isinstance(g.value, list) else [g.value])[:3]
    ),
    "key": lambda view, names: next((g.key for g in _written(view, names)), names),
    "value": lambda view, metric: number(value_of(view.run, metric) or 0.0),
    "usual": partial(_usual, says=lambda row, _: f"{number(row.usual[0])} to {number(row.usual[1])}"),
    "middle": partial(_usual, says=lambda row, _: number(row.middle)),
    "means": partial(_usual, says=Prior.means),
}
"""What a sentence may say that is no number: a curve's name and direction, settings as they were written, and what is usual for one."""
