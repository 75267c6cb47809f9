"""What a curve did, each word of it counted over the same draws of its level: where it starts and ends, its best, whether it rose or fell.

A word of likelihood (rose, fell, flat, rising) is said from ``SURE`` of the courses that fit the points (``level``) on; a number is their
middle, an interval holds nineteen in twenty of them. A change counts from ``margin`` on, a share of the scale on which the curve lives.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from rl_advisor.curves.amounts import amounts
from rl_advisor.curves.level import Level, level
from rl_advisor.features import TooFewPoints
from rl_advisor.features.bins import means
from rl_advisor.features.scale import natural_scale
from rl_advisor.features.series import Change, Floats, scatter, thinned
from rl_advisor.features.trend import Direction, Trend, direction, trend
from rl_advisor.output.wording import counted
from rl_advisor.run import Curve
from rl_advisor.vocabulary import metric

BINS = 100
"""Points to which a longer curve is averaged first."""
FEWEST = 5
"""Points below which no word is given."""
MATERIAL = 0.03
"""Share of the curve's scale that a change must have to matter."""
SURE = 0.95
"""Share of the courses from which on a word is said."""
OUTSIDES = ((1 - SURE) / 2, (1 + SURE) / 2)
"""Shares of the courses between which an interval lies."""
TIE = 0.1
"""Standard errors within which two levels are equals. On the second half of strangers' evaluation episodes a whole one gives away more
than the earlier checkpoint is worth: docs/log.md."""
BREAK = 0.4
"""Share of its range that a course must fall from one point to the next to break."""
DIPS = 1.2
"""How much deeper than any dip that it came back from a fall must be."""


@dataclass(frozen=True, eq=False)
class Course:
    """One curve, measured once."""

    curve: Curve
    n: int
    """Finite points."""
    level: Level

    @property
    def name(self) -> str:
        """Our name of the curve."""
        return self.curve.name

    @cached_property
    def amounts(self) -> dict[str, float]:
        """The amounts that the verdict weighs."""
        return amounts(self.level, self.top)

    @cached_property
    def _points(self) -> tuple[Floats, Floats]:
        return thinned(*self.curve.finite())

    @property
    def step(self) -> Floats:
        """The steps of the logged points, or of at most 512 stretches of them."""
        return self._points[0]

    @property
    def value(self) -> Floats:
        """What was logged there."""
        return self._points[1]

    @cached_property
    def smoothed(self) -> Floats:
        """The course in the middle of all at those steps."""
        return np.asarray(np.interp(self.step, self.level.step, self.middle), np.float64)

    @cached_property
    def middle(self) -> Floats:
        """The course in the middle of all, never beyond what was logged."""
        return np.clip(self.level.mean, self.level.value.min(), self.level.value.max())

    @cached_property
    def _starts(self) -> Floats:
        return np.asarray(self.level.draws[:, : max(1, self.level.step.size // 20)].mean(axis=1))

    @cached_property
    def ends(self) -> Floats:
        """The level at the end of each course: over the last twentieth, three points where there are fifteen."""
        return np.asarray(self.level.draws[:, -self.level.tail :].mean(axis=1))

    @cached_property
    def levels(self) -> Floats:
        """How good it was at each point, to choose by: means that no break is part of.

        On 109 real runs whose other evaluation episodes were held back, the highest of these lost less than the course's (docs/log.md).
        """
        if self.n < FEWEST:
            return self.level.value
        fell = -np.diff(self.middle) > max(BREAK * float(np.ptp(self.middle)), 5 * self.level.noise)
        return means(self.level.value, np.flatnonzero(fell) + 1)

    @property
    def error(self) -> float:
        """The error of a mean of about five points."""
        return float(self.level.noise / 5**0.5)

    @property
    def tie(self) -> float:
        """Within which two levels are equals."""
        return max(TIE * self.error, 1e-9 * float(np.abs(self.levels).max())) if self.n >= FEWEST else 0.0

    @cached_property
    def top(self) -> int:
        """The place of its best among the points of the course."""
        return int(np.argmax(self.levels >= self.levels.max() - self.tie))

    @cached_property
    def start(self) -> float:
        """The level over the first twentieth."""
        return float(np.clip(self._starts.mean(), self.level.value.min(), self.level.value.max()))

    @cached_property
    def last(self) -> float:
        """The level at its end: one bad point is none."""
        return float(np.clip(self.ends.mean(), self.level.value.min(), self.level.value.max()))

    @property
    def best(self) -> float:
        """The level at its best step."""
        return float(self.middle[self.top] if self.n >= FEWEST else self.level.value[self.top])

    @property
    def best_step(self) -> float:
        """The one best step: where the level is highest, the earlier of equals."""
        return float(self.level.step[self.top])

    @cached_property
    def best_between(self) -> tuple[float, float]:
        """Steps between which its best lies in nineteen of twenty courses."""
        low, high = np.quantile(self.level.step[self.level.draws.argmax(axis=1)], OUTSIDES)
        return float(min(low, self.best_step)), float(max(high, self.best_step))

    @cached_property
    def _after(self) -> Floats:
        """The level at the end of each course, of what comes after its best: what rises up to its last point lost nothing."""
        return np.asarray(self.level.draws[:, max(self.top, self.level.step.size - self.level.tail) :].mean(axis=1))

    @cached_property
    def noise(self) -> float:
        """Standard deviation of one point about the course."""
        return float((self.value - self.smoothed).std())

    @cached_property
    def scatter(self) -> float:
        """The same from the steps between neighbours."""
        return scatter(self.value)

    @cached_property
    def _lives(self) -> tuple[float, float | None]:
        known = metric(self.name)  # a small KL or entropy is no share: it has a scale of its own
        return natural_scale(self.value, self.smoothed, share=known is None or known.unit in ("share", "reward", "score"))

    @property
    def ceiling(self) -> float | None:
        """The highest level there can be: 1 for shares, the cap at which values pile up, None where unknown."""
        return self._lives[1]

    @property
    def floor(self) -> float:
        """The level at which nothing is left: 0 for shares, the lowest level otherwise."""
        return float(min(0.0, self.middle.min()) if self.ceiling == 1.0 else self.middle.min())

    @property
    def scale(self) -> float:
        """The size of level against which a change counts: 1 for shares, the range of the course otherwise."""
        return self._lives[0]

    @property
    def margin(self) -> float:
        """The smallest change that matters."""
        return MATERIAL * self.scale

    def rise(self, least: float | None = None) -> float:
        """Probability that it ends above its start by more than ``least``: else two points of a share, a twentieth of any other level."""
        least = least if least is not None else 0.02 if self.ceiling == 1.0 else 0.05 * abs(self.start)
        ends = self.level.draws[:, -max(1, self.level.step.size // 10) :].mean(axis=1)
        return float(np.mean(ends - self.level.draws[:, 0] > least))

    @cached_property
    def rose(self) -> bool:
        """Whether its best lies above its start by more than noise and by an amount that matters."""
        return bool(np.mean(self.level.draws[:, self.top] - self._starts > self.margin) >= SURE)

    @cached_property
    def falls(self) -> float:
        """Probability that it ends below its best by an amount that matters."""
        return float(np.mean(self.level.draws[:, self.top] - self._after > self.margin))

    @property
    def fell(self) -> bool:
        """Whether it ends below its best by more than noise, more than matters, and more than dips it recovered from before."""
        return bool(self.falls >= SURE and self.best - self._after.mean() > DIPS * _deepest(self.middle[: self.top + 1]))

    @property
    def lost(self) -> float:
        """Share of the best height above the floor that is gone at the end, 0 to 1."""
        # A curve that never left its start has no height of its own: a quarter of its level is the least.
        height = max(self.best - self.floor, 0.0 if self.ceiling is not None else 0.25 * max(abs(self.best), abs(self.last)))
        return float(np.clip((self.best - self._after.mean()) / height, 0, 1)) if height > 0 else 0.0

    @cached_property
    def gain(self) -> Change:
        """First fifth against last fifth."""
        fifth = max(1, self.level.step.size // 5)
        before, after = (self.level.draws[:, some].mean(axis=1) for some in (slice(fifth), slice(-fifth, None)))
        return Change(*map(float, (before.mean(), after.mean(), (after - before).mean(), *np.quantile(after - before, OUTSIDES))))

    @cached_property
    def overall(self) -> Trend:
        """The straight line through all of it."""
        return trend(self.step, self.value)

    @cached_property
    def recent(self) -> Trend:
        """The straight line through the last third: its error counts slow wander, as the courses do not."""
        late = self.step >= self.recent_first
        return trend(self.step[late], self.value[late])

    @property
    def recent_first(self) -> float:
        """First step of the last third, of which ``recent`` speaks."""
        return float(self.level.step[-min(self.level.step.size, max(3, self.level.step.size // 3))])

    def direction(self, share: float = 1.0) -> Direction:
        """Direction of the last third; ``share`` scales the margin."""
        return direction(self.recent, self.margin * share)

    def direction_overall(self) -> Direction:
        """Direction over the whole curve."""
        return direction(self.overall, self.margin)

    @property
    def got_somewhere(self) -> bool:
        """Whether it surely rose over the whole run, or surely gained more than half of its deepest fall: waves on a rise are none."""
        return self.direction_overall() == "rising" or bool(
            self.gain.low > self.margin and self.last - self.start > _deepest(self.middle) / 2
        )

    @property
    def at_ceiling(self) -> bool:
        """Whether there is no room left above the last level."""
        return self.ceiling is not None and self.ceiling - self.last < self.margin

    @property
    def touches_ceiling(self) -> bool:
        """Whether single values reach the ceiling again and again at the end, from a level that their scatter keeps below it."""
        late = self.value[-max(5, self.value.size // 5) :]
        return self.ceiling is not None and bool((late >= self.ceiling).mean() >= 0.1) and self.ceiling - self.last < 2 * self.scatter

    @property
    def stopped(self) -> bool:
        """Whether it rose, and its last third is surely as good as flat."""
        return self.rose and direction(self.recent, 2 * self.margin) == "flat"


def _deepest(line: Floats) -> float:
    return float(np.max(np.maximum.accumulate(line) - line))


def course(curve: Curve, least: int = 2) -> Course | None:
    """The course of a curve; None below ``least`` finite points."""
    return _course(curve) if curve.numbers.size >= least else None


@lru_cache(maxsize=256)
def _course(curve: Curve) -> Course:
    step, value = curve.finite()
    n = int(value.size)
    if n > BINS:
        parts = np.array_split(np.arange(n), BINS)
        step, value = (np.array([x[p].mean() for p in parts]) for x in (step, value))
    return Course(curve, n, level(step, value))


def course_of(curve: Curve) -> Course:
    """The same of a curve of which words are said; raises TooFewPoints below five finite values."""
    if (found := course(curve, FEWEST)) is None:
        raise TooFewPoints(f"{curve.name} has only {counted(curve.numbers.size, 'point')}")
    return found
