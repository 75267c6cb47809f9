"""What an outcome curve did, as amounts that mean the same in every task: how high it climbed, what it lost, what it does lately.

Every amount is a mean over the courses that fit the points (``level``), so that noise, few points and breaks weigh in by themselves: a
curve that may or may not have risen is half above its start. No amount knows a unit; heights are shares of the range the course covers, or
of half of what the points cover where that is more: a course that hardly moves among its noise does not climb or fall far.
"""

from collections.abc import Mapping

import numpy as np

from rl_advisor.curves.level import Level
from rl_advisor.discovery import table
from rl_advisor.features.series import Floats, scatter

AMOUNTS: Mapping[str, str] = table(__file__, "amounts.toml")
"""The amounts, and what each is."""
SEEN = 0.5
"""The least range of a course, as a share of what its points cover."""
MOVES = 0.04
"""Share of the range by which the last third must move to rise or fall."""
MATTERS, SCATTER = 0.05, 0.5
"""Share of its range, and of the scatter of a point, by more than which a level must lie above another to be a gain."""
QUARTERS, FAR = 4, 3.0
"""Into how many parts the points are cut, and errors of a mean from which on farther says no more."""
GIVEN_BACK = 0.3
"""Share of its range that a course must lose to have given back what it gained."""
NO_LEVEL = 0.5
"""The share at the end of a curve that is no share."""


def amounts(found: Level, top: int) -> dict[str, float]:
    """The amounts of AMOUNTS for the courses of a curve whose best is at the place ``top``."""
    x = (found.step - found.step[0]) / (found.step[-1] - found.step[0])
    low, best = found.draws.min(axis=1), found.draws.max(axis=1)
    span = np.maximum(np.maximum(best - low, SEEN * np.ptp(found.value)), 1e-12 * (1 + np.abs(best)))
    heights = (found.draws - (low + best - span)[:, None] / 2) / span[:, None]
    told = _heights(x, heights, found.tail) | _late(x, heights) | _sizes(found, top) | _quarters(found.value)
    told["given back"] = told["gained"] * np.clip(told["lost"] / GIVEN_BACK, 0, 1)
    return {name: float(np.mean(each)) for name, each in told.items()}


def _quarters(value: Floats) -> dict[str, Floats]:
    """What the quarters of the points themselves do, in errors of their means: courses that take a slow change for noise would hide it."""
    if value.size < QUARTERS:
        return {"record": np.zeros(1), "fall": np.zeros(1)}
    mean = np.array([part.mean() for part in np.array_split(value, QUARTERS)])
    error = max(scatter(value) * np.sqrt(QUARTERS / value.size), 1e-9 * float(np.abs(value).max()), 1e-12)
    moves = {"record": mean[-1] - mean[:-1].max(), "fall": (np.maximum.accumulate(mean) - mean).max()}
    return {name: np.clip(move / error, -FAR, FAR) for name, move in moves.items()}


def _heights(x: Floats, z: Floats, tail: int) -> dict[str, Floats]:
    """What the courses ``z`` (each between 0 and 1) lose and how they go up and down."""
    best, place = z.argmax(axis=1), np.arange(x.size) - (x.size - 1) / 2
    late = np.maximum(best, x.size - max(1, x.size // 10))  # what rises up to its last point lost nothing
    end, top = np.array([row[at:].mean() for row, at in zip(z, late, strict=True)]), z.max(axis=1)
    last, dips = z[:, -tail:].mean(axis=1), np.maximum.accumulate(z, axis=1) - z
    ranks = np.argsort(np.argsort(z, axis=1), axis=1) - (x.size - 1) / 2
    return {
        "lost": top - end,
        "gone": np.maximum(top - last - np.where(np.arange(x.size) < best[:, None], dips, 0).max(axis=1), 0),
        "best at": x[best],
        "order": (ranks * place).mean(axis=1) / (place**2).mean(),
        "deepest dip": dips.max(axis=1),
    }


def _late(x: Floats, z: Floats) -> dict[str, Floats]:
    """What the courses do lately."""

    def rise(share: float) -> Floats:
        late = np.flatnonzero(x >= 1 - share - 1e-9)
        late = late if late.size >= 3 else np.arange(max(0, x.size - 3), x.size)
        off = x[late] - x[late].mean()
        risen: Floats = share * (z[:, late] * off).sum(axis=1) / max(float((off**2).sum()), 1e-12)
        return risen

    third = rise(1 / 3)
    return {
        "second half": z[:, x >= 0.5].max(axis=1) - z[:, x <= 0.5].max(axis=1),
        "slope": rise(1.0),
        "still rises": third > MOVES,
        "falls lately": third < -MOVES,
    }


def _sizes(found: Level, top: int) -> dict[str, Floats]:
    """How large the levels are, and whether they gained."""
    d, v, mean, tenth = found.draws, found.value, found.mean, max(1, found.step.size // 10)
    matters = max(MATTERS * float(np.ptp(mean)), SCATTER * found.noise)
    start, end = d[:, : max(1, v.size // 20)].mean(axis=1), d[:, -tenth:].mean(axis=1)
    at_best = d[:, max(0, top - tenth // 2) : top + tenth // 2 + 1].mean(axis=1)
    share = bool(v.min() >= 0 and v.max() <= 1)
    return {
        "rose": at_best - start > matters,
        "gained": end - start > matters,
        "kept": 1 - np.clip((at_best - end) / np.maximum(np.maximum(np.abs(at_best), np.abs(end)), 1e-12), -2, 2),
        "share at the end": np.clip(end.mean(), 0, 1) if share else NO_LEVEL,
    }
