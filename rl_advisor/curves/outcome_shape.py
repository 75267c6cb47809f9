"""How the outcome of a run went: where it started, its best, its end, and what the last stretch is doing.

The outcome is the held-out score when one is logged and the training reward otherwise. Detectors and the advisor both
look at the same ``Shape``, so a curve is measured once.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from rl_advisor.curves import untrail
from rl_advisor.curves.held_out_scores import lone_step, private
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.features.bins import reduce, smooth
from rl_advisor.features.gain import expected_gain
from rl_advisor.features.peak import Peak, peak
from rl_advisor.features.rate import pace, rate
from rl_advisor.features.scale import natural_scale
from rl_advisor.features.series import finite
from rl_advisor.features.trend import Change, Direction, Trend, direction, level_change, trend
from rl_advisor.output.wording import counted
from rl_advisor.run import Curve, Floats, Run

FEWEST = 5
"""Points below which no shape is given."""
MATERIAL = 0.03
"""Share of the curve's scale that a change must have to matter; a keyword everywhere it is used."""


@dataclass(frozen=True, eq=False)
class Shape:
    """One outcome curve, measured."""

    name: str
    n: int
    step: Floats
    value: Floats
    smoothed: Floats
    start: float
    last: float
    best: float
    best_step: float
    worst: float
    floor: float
    """The level at which nothing is left: 0 for shares, the worst smoothed level otherwise."""
    ceiling: float | None
    """The highest level there can be: 1 for shares, the cap at which values pile up, None where unknown."""
    noise: float
    """Standard deviation of one point about the smooth curve."""
    scatter: float
    """Standard deviation of one point from the median step between neighbours: blind to jumps and drifts."""
    margin: float
    """The smallest change that matters."""
    recent_first: float
    """First step of the last third, of which ``recent`` speaks."""

    @cached_property
    def gain(self) -> Change:
        """First fifth against last fifth."""
        fifth = max(2, self.n // 5)
        ends = np.r_[0:fifth, self.n - fifth : self.n]
        return level_change(self.step[ends], self.value[ends], float(self.step[self.n - fifth]))

    @cached_property
    def overall(self) -> Trend:
        """The straight line through all of it."""
        return trend(self.step, self.value)

    @cached_property
    def recent(self) -> Trend:
        """The straight line through the last third."""
        late = self.step >= self.recent_first
        return trend(self.step[late], self.value[late])

    @cached_property
    def peak(self) -> Peak:
        """Where it was highest, and whether it fell since; what costs most, and few ask."""
        return peak(self.step, self.value)

    @property
    def lost(self) -> float:
        """Share of the best height above the floor that is gone at the end, 0 to 1."""
        # A curve that never left its start has no height of its own: a quarter of its level is the least.
        height = max(self.best - self.floor, 0.0 if self.ceiling is not None else 0.25 * max(abs(self.best), abs(self.last)))
        return float(np.clip((self.best - self.last) / height, 0, 1)) if height > 0 else 0.0

    @property
    def fell(self) -> bool:
        """Whether the curve ends below its best by more than noise, more than matters, and more than dips it recovered from before."""
        drop = self.best - self.last
        return bool(drop > self.margin and drop > 1.2 * self.earlier_dip and (self.peak.p < 0.05 or self.broke_off))

    @property
    def broke_off(self) -> bool:
        """Whether the last stretch lies wholly below the best one, by a good part of the height and many times the local scatter.

        A bootstrap of autocorrelated noise cannot tell a cliff from noise of long memory; a cliff that stays down needs no bootstrap.
        """
        late = self.value[-max(3, self.n // 5) :]
        top = int(np.argmin(np.abs(self.step - self.best_step)))
        early = self.value[max(0, top - max(2, self.n // 20)) : top + 1][: max(1, self.n - late.size)]
        if not early.size:
            return False
        apart = float(np.quantile(early, 0.25)) > float(np.quantile(late, 0.9))
        return bool(apart and self.lost > 0.25 and self.best - self.last > 4 * self.scatter)

    @property
    def earlier_dip(self) -> float:
        """The deepest fall of the smoothed curve before its best, from which it recovered."""
        before = self.smoothed[self.step < self.best_step]
        return float(np.max(np.maximum.accumulate(before) - before)) if before.size else 0.0

    @property
    def deepest_dip(self) -> float:
        """The deepest fall of the smoothed curve anywhere, recovered or not."""
        return float(np.max(np.maximum.accumulate(self.smoothed) - self.smoothed))

    @property
    def got_somewhere(self) -> bool:
        """Whether it surely rose over the whole run, or surely gained more than half of its deepest fall: waves on a rise are none."""
        return self.direction_overall() == "rising" or bool(self.gain.low > self.margin and self.last - self.start > self.deepest_dip / 2)

    @property
    def rose(self) -> bool:
        """Whether it gained more than noise, by an amount that matters, between its start and its best."""
        width = max(3.0, self.n / 40)
        # The best of many smoothed values is high by luck: the expected maximum of the windows, and the error of the start. Noise that
        # remembers is luckier: its means of a few points scatter as those of fewer would.
        phi = memory(self.value)
        noise = max(self.noise, self.scatter / np.sqrt(1 - phi)) * np.sqrt((1 + phi) / (1 - phi)) if phi > 0 else self.noise
        luck = noise * (np.sqrt(2 * np.log(max(2.0, self.n / width)) / width) + 0.7)
        return bool(self.best - self.start > max(self.margin, luck))

    @property
    def at_ceiling(self) -> bool:
        """Whether there is no room left above the last level."""
        return self.ceiling is not None and self.ceiling - self.last < self.margin

    @property
    def touches_ceiling(self) -> bool:
        """Whether single values reach the ceiling again and again at the end, from a level that their scatter keeps below it."""
        late = self.value[-max(5, self.n // 5) :]
        return self.ceiling is not None and bool((late >= self.ceiling).mean() >= 0.1) and self.ceiling - self.last < 2 * self.scatter

    def stopped(self) -> bool:
        """Whether the curve rose, and what follows its one kink is flat: the improvement came to an end."""
        try:
            found = rate(self.step, self.value)
        except TooFewPoints:
            return False
        return self.rose and pace(found, self.margin * 2) == "stopped"

    def direction(self, share: float = 1.0) -> Direction:
        """Direction of the last stretch; ``share`` scales the margin."""
        return direction(self.recent, self.margin * share)

    def direction_overall(self) -> Direction:
        """Direction over the whole curve."""
        return direction(self.overall, self.margin)


def memory(value: Floats, least: int = 30) -> float:
    """Lag-one correlation of what lies on top of any smooth course, 0 to 0.8: how two-step differences compare with one-step ones."""
    if value.size < least:
        return 0.0
    one, two = np.diff(value), value[2:] - value[:-2]
    spread = [float(np.quantile(np.abs(d - np.median(d)), 0.68)) ** 2 for d in (one, two)]
    return float(np.clip(spread[1] / spread[0] - 1, 0.0, 0.8)) if spread[0] > 0 else 0.0


def _smoothed(step: Floats, value: Floats) -> tuple[Floats, float]:
    """The smooth curve, and the standard deviation of one point as the median step between neighbours tells it.

    A change within the first steps must not be averaged away: a first point that stands apart is kept as it is.
    """
    smoothed = smooth(step, value)
    scatter = float(1.4826 * np.median(np.abs(np.diff(value))) / np.sqrt(2))
    scale, _ = natural_scale(value, smoothed)
    if abs(value[0] - smoothed[0]) > max(3 * scatter, MATERIAL * scale):
        smoothed = np.concatenate([value[:1], smoothed[1:]])
    return smoothed, scatter


def _start(value: Floats, scatter: float, margin: float) -> float:
    """The level at the start: the median of the first three points, or the first one where it stands apart."""
    usual = float(np.median(value[:3]))
    return float(value[0]) if abs(value[0] - usual) > max(4 * scatter, margin) else usual


@lru_cache(maxsize=256)
def shape(curve: Curve) -> Shape:
    """The measured shape of a curve.

    Raises:
        TooFewPoints: fewer than five finite values.
    """
    step, value = finite(*curve.finite(), least=0)
    if value.size < FEWEST:
        raise TooFewPoints(f"{curve.name} has only {counted(value.size, 'point')}")
    if value.size > 512:
        binned = reduce(step, value)
        step, value = binned.step, binned.mean
    smoothed, scatter = _smoothed(step, value)
    scale, ceiling = natural_scale(value, smoothed)
    edge = max(3, value.size // 20)
    top = int(np.argmax(smoothed))
    first = value.size - max(FEWEST, value.size // 3)
    worst = float(smoothed.min())
    return Shape(
        name=curve.name,
        n=int(value.size),
        step=step,
        value=value,
        smoothed=smoothed,
        start=_start(value, scatter, MATERIAL * scale),
        last=float(np.median(smoothed[-edge:])),
        best=float(smoothed[top]),
        best_step=float(step[top]),
        worst=worst,
        floor=min(0.0, worst) if ceiling == 1.0 else worst,
        ceiling=ceiling,
        noise=float((value - smoothed).std()),
        scatter=scatter,
        margin=MATERIAL * scale,
        recent_first=float(step[first]),
    )


@lru_cache(maxsize=256)
def pays_ahead(s: Shape, until: float = 0.0) -> float:
    """The forecast's probability of a gain that matters by the step ``until``, or over another third of the steps where that is later."""
    third = float(s.step[-1] + (s.step[-1] - s.step[0]) / 3)
    return float(expected_gain(s.step, s.value, max(third, until)).pays)


def shape_or_none(curve: Curve | None) -> Shape | None:
    """The shape, or None when there is no curve or it is too short."""
    try:
        return shape(curve) if curve is not None else None
    except TooFewPoints:
        return None


def held_out(run: Run) -> Curve | None:
    """The held-out score to go by: a private split's, else the one with the most points, a plain score before a second one."""
    scores = run.family("eval/score/")
    if not scores:
        return None
    counted = {c: int(np.isfinite(c.value).sum()) for c in scores.values()}
    return max(counted, key=lambda c: (private(c.name) and counted[c] >= FEWEST, counted[c], -len(c.name)))


@lru_cache(maxsize=64)
def training(run: Run) -> Curve | None:
    """The training reward to go by; a mean over past episodes is taken apart first, so that it does not trail the policy."""
    for name in ("reward/mean", "reward/success", "reward/used", "pairs/accuracy"):
        curve = run.curves.get(name)
        if curve is not None and np.isfinite(curve.value).any():
            return untrail.untrailed(run, curve)
    parts = run.family("reward/component/")
    return max(parts.values(), key=lambda c: np.isfinite(c.value).sum()) if parts else None


def outcome(run: Run) -> Curve | None:
    """The curve that says how good the policy is: held-out when it can carry a shape and did not step by itself, training otherwise."""
    score = held_out(run)
    return score if shape_or_none(score) is not None and not stepped(run) else training(run) or score


def stepped(run: Run) -> bool:
    """Whether the held-out score of a run of language stepped by itself: its protocol changed, and before and after are not one curve."""
    score = held_out(run)
    return score is not None and "control" not in task(run).traits and lone_step(run, score) is not None


def trusted(run: Run) -> list[Shape]:
    """The held-out score, unless it stepped by itself, and the training reward, measured."""
    shapes = (shape_or_none(None if stepped(run) else held_out(run)), shape_or_none(training(run)))
    return [s for s in shapes if s is not None]


def thriving(run: Run) -> bool:
    """Whether the held-out score or the training reward rose, and neither ends below its best for good."""
    shapes = trusted(run)
    return any(s.rose for s in shapes) and not any(s.fell for s in shapes)


def any_fell(run: Run) -> bool:
    """Whether the held-out score or the training reward ends below its best for good."""
    return any(s.fell for s in trusted(run))
