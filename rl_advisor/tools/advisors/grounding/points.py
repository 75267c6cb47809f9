"""One curve as claims are held against it: what was logged or shown at a step, and which way it went between two steps."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.curves import SKETCH, sketch
from rl_advisor.answers.story.quantities import unit_of
from rl_advisor.curves.course import FEWEST, OUTSIDES, course
from rl_advisor.curves.untrail import untrailed
from rl_advisor.features.trend import Direction, direction, trend
from rl_advisor.output.wording import WHOLE
from rl_advisor.output.wording import value as spelled
from rl_advisor.run import Curve, Floats, Run

NEAR = 0.5
"""Steps are shown whole."""
SHARES = frozenset({"share", "score", ""})
"""Units that may be said in percent."""
TWICE = 1.1
"""A number that is quoted with fewer digits than it was shown with was rounded twice: a tenth more than once."""


class WrongClaim(Exception):  # noqa: N818 - it names what went wrong
    """A claim does not hold; the message says why, in one plain sentence."""


@dataclass(frozen=True)
class Point:
    """A value at a step; ``logged`` is False for the mean of a stretch, as a sketch shows it."""

    step: float
    value: float
    logged: bool = True


@dataclass(frozen=True)
class Number:
    """A number as it was said, in the unit of the curve, with the precision that answers print."""

    value: float
    digits: int
    """Significant digits, zeros at the end not counted."""
    decimals: int | None = None
    """Digits behind the point of a percentage."""
    whole: bool = False
    """Whether it may be a rounded count."""

    def fits(self, measured: float) -> bool:
        """Whether a measure, rounded as the number is, is that number."""
        size = abs(measured)
        if self.decimals is not None:
            half = 0.005 * 10.0**-self.decimals
        elif self.whole and 1 <= size < 1000:
            half = 0.5
        else:
            # From a hundred on nothing is shown with fewer than three digits, millions apart.
            digits = max(self.digits, 3 if 100 <= size < 1e6 else 2)
            half = 0.5 * 10.0 ** (np.floor(np.log10(size)) - digits + 1) if size else 0.0
        return bool(abs(measured - self.value) <= TWICE * half + 1e-12)


def number(said: float, unit: str = "", *, percent: bool = False) -> Number:
    """A number with the digits it was said with; ``unit`` is that of the curve."""
    mantissa, _, power = f"{said:.10g}".partition("e")
    digits = len(mantissa.lstrip("-0.").replace(".", "").rstrip("0"))
    if percent:
        return Number(said / 100, digits, max(0, len(mantissa.partition(".")[2]) - int(power or 0)))
    return Number(said, digits, whole=unit in WHOLE and said.is_integer())


class Points:
    """The points of a curve of a run, and how a claim about it says numbers."""

    def __init__(self, run: Run, curve: Curve, name: str, unit: str = "") -> None:
        """Take the finite points, and those of the sketch where that shows means; ``unit`` is the claim's."""
        self.run, self.curve, self.name, self.unit = run, curve, name, unit_of(curve)
        self.step, self.value = curve.finite()
        if not self.step.size:
            raise WrongClaim(f"{name} has no finite value")
        shown = sketch(self.step, self.value)[:-1] if self.step.size > SKETCH else []
        self._means = [Point(s, v, logged=False) for s, v in shown]
        said, known = unit.strip().casefold(), self.unit
        self._percent = said in ("percent", "%")
        if known not in SHARES if self._percent else said and known and said not in (known, f"{known}s", known.removesuffix("s")):
            raise WrongClaim(f"{name} is in {known}, not in {unit}")

    def number(self, x: float | str | None, field: str) -> Number:
        """A number that a claim needs."""
        if x is None or isinstance(x, str):
            raise WrongClaim(f"this claim needs a number as {field}")
        return number(x, self.unit, percent=self._percent)

    def said(self, x: float | str | None) -> Number | None:
        """The same, where one is given."""
        return None if x is None else self.number(x, "value")

    def stretch(self, first: float | None, last: float | None) -> tuple[float, float]:
        """From which step to which a claim reaches."""
        begin, end = self.place(first, 0), self.place(last)
        if begin >= end:
            raise WrongClaim(f"from_step {begin:.0f} is not before step {end:.0f}")
        return begin, end

    def spelled(self, x: float) -> str:
        """A value as people say it."""
        return spelled(x, self.unit)

    def place(self, step: float | None, default: int = -1) -> float:
        """A step of the run, or the curve's first or last; raises WrongClaim for one that was not seen."""
        if step is not None and step > self.run.last_step + NEAR:
            raise WrongClaim(f"the run was only seen to step {self.run.last_step:.0f}")
        return float(self.step[default]) if step is None else step

    def at(self, step: float | None, said: Number | None, default: int = -1) -> Point:
        """The point at a step that has the value that was said; raises WrongClaim where there is none."""
        where = self.place(step, default)
        near = np.abs(self.step - where) <= NEAR
        there = [Point(s, v) for s, v in zip(self.step[near].tolist(), self.value[near].tolist(), strict=True)]
        there += [p for p in self._means if abs(p.step - where) <= NEAR]
        if not there:
            raise WrongClaim(f"{self.name} was not logged at step {where:.0f}{self._beside(where)}")
        found = next((p for p in there if said is None or said.fits(p.value)), None)
        if found is None:
            raise WrongClaim(f"{self.name} was {there[0].value:.4g} at step {where:.0f}")
        return found

    def _beside(self, where: float) -> str:
        right = int(np.searchsorted(self.step, where))
        beside = [i for i in (right - 1, right) if 0 <= i < self.step.size]
        return "; it was " + " and ".join(f"{self.value[i]:.4g} at step {self.step[i]:.0f}" for i in beside)

    def between(self, first: float, last: float) -> Floats:
        """The values that were logged from one step to another."""
        return self.value[(self.step >= first - NEAR) & (self.step <= last + NEAR)]

    def way(self, first: float, last: float) -> Direction:
        """Which way the curve went between two steps: the line there, else its level at both, in every course that may be."""
        alone = untrailed(self.run, self.curve)
        whole = course(alone, FEWEST)
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
