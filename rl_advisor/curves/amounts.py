"""What an outcome curve did, as amounts that mean the same in every task: how high it climbed, what it lost, what it does lately.

Every amount is a mean over the courses that fit the points (``level``), so that noise, few points and breaks weigh in by themselves: a
curve that may or may not have risen is half above its start. No amount knows a unit; heights are shares of the range the course covers, or
of half of what the points cover where that is more: a course that hardly moves among its noise does not climb or fall far.
"""

import numpy as np

from rl_advisor.curves.level import Level
from rl_advisor.features.series import Floats

AMOUNTS: dict[str, str] = {
    "start height": "where it starts between its lowest and its highest level",
    "end height": "where it ends between them",
    "height at a tenth": "where it stands after a tenth of its steps",
    "height half way": "where it stands half way",
    "height at three quarters": "where it stands after three quarters",
    "height at nine tenths": "where it stands after nine tenths",
    "climb": "its best over its start, as a share of the range",
    "lost": "its best over its end, as a share of the range",
    "lost of all": "its best over its end, as a share of all there is to lose: its best where it is a share",
    "above start": "probability that it ends above its start",
    "second half": "the best of its second half over the best of the first",
    "last quarter": "the best of its last quarter over the best before",
    "lately": "the last seventh over the one before the last quarter",
    "slope": "its rise by a straight line, in ranges over all steps",
    "late slope": "the same over its last third",
    "half slope": "the same over its second half",
    "still rises": "probability that the last third rises",
    "falls lately": "probability that the last third falls",
    "flat lately": "probability that the last third moves less than a fourteenth of the range",
    "order": "how much it goes one way: rank correlation of its levels with their steps",
    "usual height": "its median height in the range",
    "best at": "when the best was reached, as a share of the steps",
    "end of best": "its end as a share of its best",
    "size": "its range against its usual level, as a logarithm",
    "clear": "its climb in deviations of one point, as a logarithm",
    "net": "its end over its start in deviations of one point, as a logarithm",
    "wander": "the way up and down of the middle course, in ranges",
    "deepest dip": "the deepest fall, as a share of the range",
    "points": "how many points it has, as a logarithm of ten",
    "nothing": "whether it ends at nothing at all",
    "share at the end": "its end, where it is a share of 0 to 1",
    "above nothing": "whether it is never below 0",
}
"""The amounts, and what each is."""
SEEN = 0.5
"""The least range of a course, as a share of what its points cover."""
MOVES, FLAT = 0.04, 0.07
"""Shares of the range by which the last third must move to rise or fall, and within which it counts as flat."""
NO_LEVEL = 0.5
"""The share at the end of a curve that is no share."""


def _tenth(found: Level) -> int:
    return max(1, found.step.size // 10)


def amounts(found: Level, n: int) -> dict[str, float]:
    """The amounts of AMOUNTS for the courses of a curve of ``n`` points."""
    x = (found.step - found.step[0]) / (found.step[-1] - found.step[0])
    low, best = found.draws.min(axis=1), found.draws.max(axis=1)
    span = np.maximum(np.maximum(best - low, SEEN * np.ptp(found.value)), 1e-12 * (1 + np.abs(best)))
    heights = (found.draws - (low + best - span)[:, None] / 2) / span[:, None]
    told = _heights(x, heights) | _late(x, heights) | _sizes(found, n)
    return {name: float(told[name]) for name in AMOUNTS}


def _heights(x: Floats, z: Floats) -> dict[str, float]:
    """How high the courses ``z`` (each between 0 and 1) stand, climb and fall."""
    start, end, mean = z[:, : max(1, x.size // 20)].mean(axis=1), z[:, -max(1, x.size // 10) :].mean(axis=1), z.mean(axis=0)
    top = z.max(axis=1)
    heights = np.interp((1 / 9, 5 / 9, 7 / 9, 8 / 9), x, mean)
    ranks = np.argsort(np.argsort(z, axis=1), axis=1) - (x.size - 1) / 2
    place = np.arange(x.size) - (x.size - 1) / 2
    return {
        "start height": start.mean(),
        "end height": end.mean(),
        "height at a tenth": heights[0],
        "height half way": heights[1],
        "height at three quarters": heights[2],
        "height at nine tenths": heights[3],
        "climb": (top - start).mean(),
        "lost": (top - end).mean(),
        "above start": (end > start).mean(),
        "best at": x[z.argmax(axis=1)].mean(),
        "order": ((ranks * place).mean(axis=1) / (place**2).mean()).mean(),
        "usual height": np.median(z, axis=1).mean(),
        "wander": min(np.abs(np.diff(mean)).sum(), 20.0),
        "deepest dip": (np.maximum.accumulate(z, axis=1) - z).max(axis=1).mean(),
    }


def _late(x: Floats, z: Floats) -> dict[str, float]:
    """What the courses do lately."""

    def gain(since: float) -> float:
        return float((z[:, x >= since].max(axis=1) - z[:, x <= since].max(axis=1)).mean())

    def between(first: float, last: float) -> Floats:
        inside = (x >= first) & (x <= last)
        some: Floats = z[:, inside if inside.any() else np.argsort(np.abs(x - (first + last) / 2))[:1]].mean(axis=1)
        return some

    def rise(share: float) -> Floats:
        late = np.flatnonzero(x >= 1 - share - 1e-9)
        late = late if late.size >= 3 else np.arange(max(0, x.size - 3), x.size)
        off = x[late] - x[late].mean()
        risen: Floats = share * (z[:, late] * off).sum(axis=1) / max(float((off**2).sum()), 1e-12)
        return risen

    third = rise(1 / 3)
    return {
        "second half": gain(0.5),
        "last quarter": gain(0.75),
        "lately": (between(0.85, 1) - between(0.6, 0.75)).mean(),
        "slope": rise(1.0).mean(),
        "late slope": third.mean(),
        "half slope": rise(0.5).mean(),
        "still rises": (third > MOVES).mean(),
        "falls lately": (third < -MOVES).mean(),
        "flat lately": (np.abs(third) < FLAT).mean(),
    }


def _sizes(found: Level, n: int) -> dict[str, float]:
    """How large, clear and many."""
    d, v, mean, tenth = found.draws, found.value, found.mean, _tenth(found)
    start, end, best = d[:, : max(1, v.size // 20)].mean(), d[:, -tenth:].mean(), d.max(axis=1).mean()
    one = max(found.noise, 1e-12)
    share = bool(v.min() >= 0 and v.max() <= 1)
    height = best if share else max(float(np.ptp(mean)), 0.25 * max(abs(best), abs(end)))
    return {
        "end of best": float(np.clip(end / best, -1, 1)) if best > 0 else NO_LEVEL,
        "size": min(3.0, np.log1p(float(np.ptp(mean)) / (np.abs(mean).mean() + 1e-9))),
        "clear": np.log1p(min((best - start) / one, 50.0)),
        "net": np.sign(end - start) * np.log1p(min(abs(end - start) / one, 50.0)),
        "lost of all": float(np.clip((best - end) / max(height, 1e-12), 0, 1)),
        "points": np.log10(n),
        "nothing": float(np.all(v[-tenth:] == 0)),
        "share at the end": float(np.clip(end, 0, 1)) if share else NO_LEVEL,
        "above nothing": float(v.min() >= 0),
    }
