"""What a model claims about a run, as data: each claim is held against the log, or what a tool showed, and stands or falls by it."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from rl_advisor.answers.curves import SKETCH, sketch
from rl_advisor.answers.story.quantities import unit_of
from rl_advisor.curves.course import FEWEST, OUTSIDES, course
from rl_advisor.curves.untrail import untrailed
from rl_advisor.features.trend import Direction, direction, trend
from rl_advisor.finding import Verdict
from rl_advisor.output.wording import WHOLE, pair, percent, plain, value
from rl_advisor.run import Curve, Run

Says = Literal["is", "rose", "fell", "flat", "highest", "lowest"]
WAYS: Mapping[Says, Direction] = {"rose": "rising", "fell": "falling", "flat": "flat"}
FARTHEST = 1e15
"""Steps beyond which nobody counts."""
COMPARED = 400
"""Names that an unknown one is compared with, so that a hundred unknown ones take no time."""
HOLDERS = frozenset({"measures", "config", "settings", "metrics", "statistics"})
"""Pieces of a path that say where a value stands, and nothing about what it is."""
NEAR = 0.5
"""Steps are shown whole."""
PERCENT, SHARES = ("percent", "%"), ("share", "score", "")
"""The words for it, and the units that may be said so."""
TWICE = 1.1
"""A number that is quoted with fewer digits than it was shown with was rounded twice: a tenth more than once."""
Said = float | str | None
Told = tuple[str, float, float]
"""A claim in our words, and from which step to which it reaches."""


class WrongClaim(Exception):  # noqa: N818 - it names what went wrong
    """A claim does not hold; the message says why, in one plain sentence."""


class Claim(BaseModel, extra="forbid", allow_inf_nan=False, frozen=True):
    """One thing that the log shows."""

    metric: str = Field(
        min_length=1,
        max_length=200,
        description="A logged metric, by the run's name or ours; or the dotted path of a value in a tool's answer, "
        "as findings.truncation.measures.now or load_run.config.beta.",
    )
    says: Says = Field(
        default="is",
        description="is: `value` at `step`, or, with from_step and from_value, a change between the two, no direction claimed. "
        "rose, fell, flat: measured so between the steps. highest, lowest: the extreme of the curve.",
    )
    value: Said = Field(default=None, description="As a tool showed it; text only for a path.")
    step: float | None = Field(default=None, ge=-FARTHEST, le=FARTHEST, description="The last when left out.")
    from_value: float | None = None
    from_step: float | None = Field(default=None, ge=-FARTHEST, le=FARTHEST, description="The first when left out.")
    unit: str = Field(default="", max_length=20, description="percent, where a share is given as percent; else may be left out.")
    speaks_for: Verdict | None = Field(default=None, description="The verdict it speaks for; yours when left out.")


@dataclass(frozen=True)
class Checked:
    """A claim with what became of it."""

    claim: Claim
    says: str = ""
    """The claim in our words, numbers as logged; empty when it does not stand."""
    why: str = ""
    """Why it does not stand; empty when it does."""
    metric: str | None = None
    """Our name of the curve it rests on."""
    steps: tuple[float, float] | None = None


class Evidence:
    """What claims are held against: a run, and what the tools showed of it."""

    def __init__(self, run: Run, shown: Sequence[tuple[str, Any]], aliases: Mapping[str, str]) -> None:
        """Take the answers as pairs of tool and answer; ``aliases`` are the names that stand for odd ones of the run."""
        self.run, self._answers, self._aliases = run, shown, aliases

    @cached_property
    def shown(self) -> Mapping[str, Sequence[float | str]]:
        """Every number and word in the tools' answers, by its dotted path."""
        found: dict[str, list[float | str]] = {}
        for tool, answer in self._answers:
            for path, x in _values(answer, tool):
                found.setdefault(path, []).append(x)
        return found

    def check(self, claim: Claim) -> Checked:
        """What became of a claim; about several curves of a name, of the one that bears it out."""
        name = self._aliases.get(claim.metric, claim.metric)
        curves: list[Curve | None] = [c for c in self.run.curves.values() if name in (c.name, c.raw)]
        found = [self._held(claim, c) for c in curves or [None]]
        return next((c for c in found if not c.why), found[0])

    def _held(self, claim: Claim, curve: Curve | None) -> Checked:
        """A claim about a curve, which goes by its alias where its name reads like a sentence, or about a value that a tool showed."""
        try:
            if curve is None:
                return Checked(claim, self._on_path(claim))
            name = next((alias for alias, odd in self._aliases.items() if odd == curve.name), curve.name)
            says, first, last = Points(self.run, curve, name, claim.unit.strip().casefold()).told(claim)
        except WrongClaim as wrong:
            return Checked(claim, why=str(wrong))
        return Checked(claim, says, metric=curve.name, steps=(first, last))

    def _on_path(self, claim: Claim) -> str:
        if claim.metric not in self.shown:
            raise WrongClaim(f"there is no metric and no value in an answer of this name{self._nearest(claim.metric)}")
        if claim.says != "is" or claim.value is None or claim.step is not None:
            raise WrongClaim("a value of an answer has no steps: give it with `is` and `value` alone")
        shown, said, share = self.shown[claim.metric], claim.value, claim.unit in PERCENT
        if isinstance(said, str):
            stands, told = said.casefold() in {str(x).casefold() for x in shown}, plain(said)
        else:
            stands = any(isinstance(x, float) and fits(said, x, share=share) for x in shown)
            told = percent(said / 100) if share else value(said, digits=3)
        if not stands:
            raise WrongClaim(f"it was shown as {shown[0]}")
        return f"{', '.join(plain(piece) for piece in claim.metric.split('.')[1:] if piece not in HOLDERS)} is {told}"

    def _nearest(self, name: str) -> str:
        tool = name.partition(".")[0]
        known = [n for c in self.run.curves.values() for n in (c.name, c.raw)] + [p for p in self.shown if p.startswith(f"{tool}.")]
        near = difflib.get_close_matches(name, dict.fromkeys(known[:COMPARED]), 3, 0.5)
        return f"; did you mean {' or '.join(near)}?" if near else ""


def _values(answer: Any, path: str) -> Iterator[tuple[str, float | str]]:
    """Every number and single word of an answer with its path; what the run wrote is left out."""
    if isinstance(answer, Mapping):
        if "untrusted" not in answer:
            for key, part in answer.items():
                yield from _values(part, path if path == key else f"{path}.{key}")
    elif isinstance(answer, list):
        for i, part in enumerate(answer):
            yield from _values(part, f"{path}.{_label(part, i)}")
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        yield path, float(answer)
    elif isinstance(answer, str) and len(answer) <= 40 and answer.replace("_", "").isalnum():
        yield path, answer


def _label(part: Any, i: int) -> str:
    """What an item of a list is called: its name, or its place."""
    named = (part.get(key) for key in ("name", "pattern", "metric", "path", "phase", "step")) if isinstance(part, Mapping) else ()
    return str(next((x for x in named if isinstance(x, str | int | float)), i))


def fits(said: float, measured: float, unit: str = "", *, share: bool = False) -> bool:
    """Whether a measure is a number that was said in this unit, or as percent of a ``share``, to the digits that answers print."""
    text, size = f"{said:.10g}".partition("e")[0], abs(measured)
    if share:
        said, half = said / 100, 0.005 * 10.0 ** -len(text.partition(".")[2])
    elif unit in WHOLE and said.is_integer() and 1 <= size < 1000:
        half = 0.5
    else:  # from a hundred on nothing is shown with fewer than three digits, millions apart
        digits = max(len(text.lstrip("-0.").replace(".", "").rstrip("0")), 3 if 100 <= size < 1e6 else 2)
        half = 0.5 * 10.0 ** (np.floor(np.log10(size)) - digits + 1) if size else 0.0
    return bool(abs(measured - said) <= TWICE * half + 1e-12)


class Point(NamedTuple):
    """A value at a step; ``about`` where it is the mean of a stretch, as a sketch shows it."""

    step: float
    value: float
    about: str = ""


class Points:
    """One curve as claims are held against it: what was logged or shown at a step, and which way it went between two steps."""

    def __init__(self, run: Run, curve: Curve, name: str, unit: str) -> None:
        """Take the finite points, and those of the sketch where that shows means; ``unit`` is the claim's."""
        self.run, self.curve, self.name, self.unit = run, curve, name, unit_of(curve)
        self.step, self.value = curve.finite()
        if not self.step.size:
            raise WrongClaim(f"{name} has no finite value")
        logged = [Point(s, v) for s, v in zip(self.step.tolist(), self.value.tolist(), strict=True)]
        means = sketch(self.step, self.value)[:-1] if self.step.size > SKETCH else []
        self._points = [*logged, *(Point(s, v, "about ") for s, v in means)]
        self._share, known = unit in PERCENT, self.unit
        if known not in SHARES if self._share else unit and known and unit not in (known, f"{known}s", known.removesuffix("s")):
            raise WrongClaim(f"{name} is in {known}, not in {unit}")

    def told(self, claim: Claim) -> Told:
        """The claim where it holds."""
        first, last = self._place(claim.from_step, 0), self._place(claim.step, -1)
        if claim.says in ("highest", "lowest"):
            i = int(self.value.argmax() if claim.says == "highest" else self.value.argmin())
            top, place = float(self.value[i]), float(self.step[i])
            at = place if claim.step is None else last
            there = any(abs(p.step - at) <= NEAR and fits(float(f"{top:.4g}"), p.value) for p in self._points)
            if not there or (claim.value is not None and not self._fits(claim.value, top)):
                raise WrongClaim(f"{self.name} was {claim.says} at {top:.4g} (step {place:.0f})")
            return f"{self.name} was {claim.says} at step {at:.0f}, at {value(top, self.unit)}", at, at
        if claim.says == "is" and claim.from_step is None and claim.from_value is None:
            found = self._at(last, claim.value)
            return f"{self.name} is {found.about}{value(found.value, self.unit)} at step {found.step:.0f}", found.step, found.step
        return self._moved(claim, first, last)

    def _moved(self, claim: Claim, first: float, last: float) -> Told:
        """A change or a direction: the values that are given were logged, and the direction was measured."""
        if first >= last:
            raise WrongClaim(f"from_step {first:.0f} is not before step {last:.0f}")
        between = f"from step {first:.0f} to {last:.0f}"
        given = [(s, v) for s, v in ((first, claim.from_value), (last, claim.value)) if v is not None or claim.says == "is"]
        ends = [self._at(step, said) for step, said in given]
        if claim.says in WAYS and (way := self._way(first, last)) != WAYS[claim.says]:
            told = f"no direction of {self.name} can be told {between}; `is` gives two values without one"
            raise WrongClaim(told if way == "undecidable" else f"{self.name} is measured as {way} {between}")
        if len(ends) < 2 or claim.says == "flat":
            return f"{self.name} {'is flat' if claim.says == 'flat' else claim.says} {between}", first, last
        a, b = ends
        if claim.says in WAYS and (b.value > a.value) != (claim.says == "rose"):
            raise WrongClaim(f"from {a.value:.4g} to {b.value:.4g} is the other way")
        before, after = pair(a.value, b.value, self.unit)
        verb = "went" if claim.says == "is" else claim.says
        return f"{self.name} {verb} from {before} at step {a.step:.0f} to {after} at step {b.step:.0f}", a.step, b.step

    def _place(self, step: float | None, end: int) -> float:
        """A step of the run, or that end of the curve."""
        if step is not None and step > self.run.last_step + NEAR:
            raise WrongClaim(f"the run was only seen to step {self.run.last_step:.0f}")
        return float(self.step[end]) if step is None else step

    def _fits(self, said: Said, measured: float) -> bool:
        if said is None or isinstance(said, str):
            raise WrongClaim("this claim needs a number as value")
        return fits(said, measured, self.unit, share=self._share)

    def _at(self, step: float, said: Said) -> Point:
        """The point at a step that has the value that was said."""
        there = [p for p in self._points if abs(p.step - step) <= NEAR]
        if not there:
            right = int(np.searchsorted(self.step, step))
            beside = [f"{self.value[i]:.4g} at step {self.step[i]:.0f}" for i in (right - 1, right) if 0 <= i < self.step.size]
            raise WrongClaim(f"{self.name} was not logged at step {step:.0f}; it was {' and '.join(beside)}")
        if (found := next((p for p in there if self._fits(said, p.value)), None)) is None:
            raise WrongClaim(f"{self.name} was {there[0].value:.4g} at step {step:.0f}")
        return found

    def _way(self, first: float, last: float) -> Direction:
        """Which way the curve went between two steps: the line there, else its level at both, in every course that may be."""
        whole = course(untrailed(self.run, self.curve), FEWEST)
        if whole is None:
            return "undecidable"
        there = (whole.step >= first - NEAR) & (whole.step <= last + NEAR)
        least = whole.margin
        if there.sum() >= FEWEST and (line := direction(trend(whole.step[there], whole.value[there]), least)) != "undecidable":
            return line
        begins, ends = (whole.level.draws[:, np.abs(whole.level.step - step).argmin()] for step in (first, last))
        low, high = np.quantile(ends - begins, OUTSIDES)
        if max(-low, high) <= least:
            return "flat"
        return "rising" if low > 0 else "falling" if high < 0 else "undecidable"
