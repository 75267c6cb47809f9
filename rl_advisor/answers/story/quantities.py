"""The quantities that an answer names, each measured once: logged values under the name that the run gave them, and the best level."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.curves.course import FEWEST
from rl_advisor.curves.logged import best_level, judged_course
from rl_advisor.finding import Assessment
from rl_advisor.output.clean import each_text
from rl_advisor.output.wording import about, apart, value
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.vocabulary import metric, metric_unit

KEPT = frozenset({"metric", "names", "untrusted", "pattern", "path", "run", "config"})
"""Fields that hold a name of ours for programs, or words that are not ours to change."""


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with our metric names replaced by the run's own in every text, keys and names for programs left alone."""
    if not names:
        return value
    pattern = re.compile(r"(?<![\w/])(?:" + "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True)) + r")(?![\w/])")
    return each_text(value, lambda text: pattern.sub(lambda m: names[m[0]], text), kept=KEPT)


def named(a: Assessment, names: Mapping[str, str]) -> Assessment:
    """The assessment in the run's own names."""
    return Assessment.model_validate(renamed(a.model_dump(by_alias=True), names))


AROUND = 5
"""Points whose median says what was usual before and after an event."""
BLOCKS = 24
"""Characters of a sparkline."""
TOLD = ("reward/mean", "reward/success", "kl/ref", "kl/old", "entropy/mean", "response/length", "episode/length")
"""What is told beside the outcome."""


FAR = 0.25
"""Share of the way from level to level by which a single point must lie off for the levels to be told beside it."""


@dataclass(frozen=True)
class Quantity:
    """One logged curve as it is told at every door."""

    metric: str
    """Our name."""
    label: str
    """The run's own name."""
    unit: str
    points: int
    first: float
    last: float
    best: float | None
    """The best level, where higher is better."""
    best_step: float | None
    level: tuple[float, float] | None
    """Where its level starts and ends, without the scatter of single points; None with too few of them."""
    blocks: tuple[float, ...]
    """Means of two dozen stretches, the last one the last point itself."""

    @property
    def said(self) -> str:
        """From where to where it went, and its best where that lies between."""
        return f"{self.went}{self.best_said}"

    @property
    def went(self) -> str:
        """From where to where it went."""
        if self.points == 1:
            return f"{self.metric} is {self.spelled(self.last)} (one point)"
        if len({self.first, self.last, *self.blocks}) == 1:
            return f"{self.metric} is {self.spelled(self.last)} throughout"
        return f"{self.metric} from {self.spelled(self.first)} to {self.spelled(self.last)}"

    @property
    def best_said(self) -> str:
        """Its best and where that was; nothing where it is the first or the last. With a single value above it, levels are told as such."""
        if self.best is None or self.best_step is None or self.best in (self.first, self.last):
            return ""
        best = f"{self.spelled(self.best)} at step {self.best_step:.0f}"
        if self.best >= max(self.first, self.last) or self.level is None or not self._strays:
            return f", best level {best}"
        return f"; its level {about(*self.level, self.unit)}" + (f", best level {best}" if self.best > max(self.level) else "")

    @property
    def _strays(self) -> bool:
        """Whether the first or the last point lies so far from the level there that from one to the other is not how it went."""
        start, end = self.level or (self.first, self.last)
        return max(abs(self.first - start), abs(self.last - end)) > FAR * abs(end - start)

    def spelled(self, x: float) -> str:
        """One of its values, with the digits that tell the first, the last and the best apart: one spelling at every door."""
        return value(x, self.unit, apart((self.first, self.last, *([] if self.best is None else [self.best])), self.unit))


def unit_of(curve: Curve) -> str:
    """The unit in which a curve is said."""
    return "rate" if curve.name == "policy/learning_rate" else metric_unit(curve.name)


def label(curve: Curve) -> str:
    """The name by which the run's owner knows a curve; ours where it was put together from several."""
    return curve.raw if curve.raw and len(curve.raw) <= 60 and ", " not in curve.raw else curve.name


def quantity(curve: Curve, run: Run | None) -> Quantity:
    """The quantity of a curve of a run that has a finite value."""
    x = curve.numbers
    best, best_step = best_level(run, curve) if (known := metric(curve.name)) and known.better > 0 else (None, None)
    return Quantity(
        metric=curve.name,
        label=label(curve),
        unit=unit_of(curve),
        points=x.size,
        first=x[0],
        last=x[-1],
        best=best,
        best_step=best_step,
        level=(found.start, found.last) if (found := judged_course(run, curve)) is not None and found.n >= FEWEST else None,
        blocks=_blocks(x),
    )


def _blocks(x: Floats) -> tuple[float, ...]:
    parts = np.array_split(x, min(BLOCKS, x.size))
    return (*(p.mean() for p in parts[:-1]), x[-1])


def logged_at(curve: Curve | None, at: float | None) -> float | None:
    """The value that was logged at a step, or last before it; None where there is none."""
    before = curve.until(at).numbers if curve is not None and at is not None else np.empty(0)
    return float(before[-1]) if before.size else None


def moved(curve: Curve, at: float | None) -> tuple[float, float, str] | None:
    """What a curve usually was before a step (or in the first half of the run) and what it is now, and the move in a few words.

    Both are medians of a few raw points that do not reach across the event; None with fewer than four points.
    """
    step, x = curve.finite()
    if x.size < 4:
        return None
    early = x[step < at] if at is not None else x[: x.size // 2]
    late = x[step > at] if at is not None else x[x.size // 2 :]
    if not early.size or not late.size:
        early, late = x[: x.size // 2], x[x.size // 2 :]
    near = early[-AROUND:] if at is not None else early[:AROUND]
    before, after = float(np.median(near)), float(np.median(late[-AROUND:]))
    return before, after, f"{curve.name} {about(before, after, unit_of(curve))}"


def outcome_quantities(run: Run) -> list[Quantity]:
    """The held-out score and the training reward that the judgement goes by, where they are logged."""
    return [quantity(c, run) for c in outcome_curves(run)]


def outcome_curves(run: Run) -> list[Curve]:
    """The curves of these, as the run logged them: what the judge un-averages is no number that its owner can find."""
    found = [run.curves.get(c.name, c) for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None]
    return [c for c in found if c.numbers.size]


def told_curves(run: Run, also: str = "") -> list[Quantity]:
    """The curves that an answer tells of: outcome, reward, KL, entropy, length, and the cause's own metric."""
    wanted = [run.curves[name] for name in (*TOLD, also) if name in run.curves and run.curves[name].numbers.size]
    return [quantity(c, run) for c in dict.fromkeys((*outcome_curves(run), *wanted))]


def own_names(run: Run) -> dict[str, str]:
    """Our name of each metric -> the name that the run's owner can search for, where they differ."""
    return {c.name: label(c) for c in run.curves.values() if label(c) != c.name}
