"""What may be asked of a curve, of a run or of its samples: statistics by their names, for rows of facts (``conditions``)."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.curves.ahead import ahead
from rl_advisor.curves.course import Course
from rl_advisor.discovery import table
from rl_advisor.features.change import Discontinuity, discontinuity, spikes
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.derived import derived
from rl_advisor.settings.of_samples import SAMPLES, stretches_or_none
from rl_advisor.vocabulary import metric_unit

FEWEST = 5
"""Points below which nothing is said of a curve."""


def logged_curve(run: Run, metric: str) -> Curve | None:
    """The first of the metrics, of a family ``x/*``, or of what stands for one that is not logged (``x*``), that has a value."""
    every = (
        run.family(name[:-1]).values() if name.endswith("/*") else [derived(run, name[:-1]) if name.endswith("*") else run.curves.get(name)]
        for name in metric.split("|")
    )
    return next((curve for curves in every for curve in curves if curve is not None and curve.numbers.size), None)


def parts_of(run: Run, family: str) -> list[str]:
    """The metrics of a family, or the columns of the samples of that name (``samples/reward/``)."""
    if not family.startswith(SAMPLES):
        return list(run.family(family))
    table = stretches_or_none(run)
    return [] if table is None else [f"{SAMPLES}{c}" for c in table.table.columns if str(c).startswith(family.removeprefix(SAMPLES))]


def _error(value: Floats) -> float:
    return float(np.std(value) / np.sqrt(value.size))


def _span(x: Floats) -> float:
    """The scale on which values live."""
    return max(abs(float(np.median(x))), 1.0 if np.abs(x).max() <= 1 else float(np.abs(x).max()))


def _far(curve: Curve) -> bool:
    """Whether it ended so many times as large or small as it began, beyond the scatter of both ends and a tenth of its unit."""
    before, after = segments.opening(curve), segments.final(curve)
    base, now = float(np.median(before)), float(np.median(after))
    spread = float(np.median(np.abs(before - base)) + np.median(np.abs(after - now)))
    grew = abs(now) >= 1.5 * abs(base) or abs(base) >= 1.5 * abs(now)
    least = 0.1 if metric_unit(curve.name) == "share" else 0.05 * max(abs(base), abs(now), 1e-12)
    return curve.numbers.size > FEWEST and grew and abs(now - base) > max(3 * spread, least)


def _bursts(curve: Curve) -> float:
    """By how many single steps far above their surroundings the second half has more than the first, chance taken off."""
    step, value = curve.finite()
    found = spikes(step, value).steps
    late = int((found >= step[step.size // 2]).sum())
    return late - (found.size - late) - 2 * float(np.sqrt(found.size)) if late >= FEWEST else 0.0


FEW = 20
"""Rows up to which each counts for itself."""


def _dropped(x: Floats) -> float:
    """What share of the highest of a few rows was lost, where nearly every row after it lies lower; 0 where not."""
    after = x[int(np.argmax(x)) :]
    steady = 3 <= x.size <= FEW and 0 <= x.min() < x.max() and after.size >= 5 and int(np.sum(np.diff(after) > 0)) <= after.size // 6
    return 1 - float(after[-2:].mean() / after[0]) if steady else 0.0


def _sinks(x: Floats) -> float:
    """What share of its first value was lost in a few rows that (almost) all lie lower than the one before."""
    steady = 3 <= x.size <= FEW and x[0] > 0 and np.mean(np.diff(x) < 0) >= 0.75
    return 1 - float(x[-1] / x[0]) if steady else 0.0


@lru_cache(maxsize=64)
def _jump(curve: Curve) -> Discontinuity:
    return discontinuity(*curve.finite())


def _uniform(x: Floats, most: int = 10) -> float:
    """The share of values that are the entropy of an even choice among a few actions, the same for all."""
    actions = np.exp(np.clip(x, 0, 3))
    among = round(float(np.median(actions)))
    return float(np.mean(np.abs(actions / among - 1) < 5e-3)) if 2 <= among <= most else 0.0


OF_VALUES: Mapping[str, Callable[[Floats], Any]] = {
    "first": lambda x: x[0],
    "median": np.median,
    "max": np.max,
    "min": np.min,
    "low": lambda x: np.quantile(x, 0.1),
    "high": lambda x: np.quantile(x, 0.9),
    "points": np.size,
    "level": lambda x: np.median(x[-FEWEST:]),
    "half": lambda x: np.median(x[x.size // 2 :][:5]),
    "newest": lambda x: x[-1],
    "begin": lambda x: np.median(x[:3]),
    "high_size": lambda x: np.quantile(np.abs(x), 0.9),
    "top_size": lambda x: np.abs(x).max(),
    "climb": lambda x: x[-1] - x[0],
    "square": lambda x: np.median(x[-FEWEST:]) ** 2,
    "nothing": lambda x: np.mean(np.abs(x) <= 1e-9),
    "size_before": lambda x: np.median(np.abs(x[: x.size // 2])) if x.size > 1 else math.nan,
    "size_after": lambda x: np.median(np.abs(x[-max(3, x.size // 20) :])),
    "fifths": lambda x: np.median(x[-x.size // 5 :]) - 2 * np.median(x[: x.size // 5]) if x.size > 4 else 0.0,
    "dropped": _dropped,
    "sinks": _sinks,
    "negative": lambda x: np.mean(x < 0),
    "same": lambda x: np.mean((off := np.abs(x - np.median(x)) / _span(x)) <= 0.003) * (off[:3].max() <= 0.02),
    "uniform": _uniform,
    "span": _span,
}
"""What may be asked of all values of a curve; ``span`` is the scale on which they live."""
OF_STRETCH: Mapping[str, Callable[[Curve], Any]] = {
    "start": lambda c: np.median(segments.opening(c)),
    "end": lambda c: np.median(segments.final(c)),
    "now": lambda c: np.median(segments.final(c)),
    "three_times": lambda c: np.median(segments.final(c)) - 3 * np.median(c.numbers[:3]),
    "last": lambda c: np.median(segments.final(c, 0.05)),
    "size": lambda c: abs(np.median(segments.final(c, 0.4))),
    "spread": lambda c: np.std(segments.final(c, 0.4)),
    "above": lambda c: np.median(late := segments.final(c, 0.4)) + 2 * _error(late),
    "off_one": lambda c: abs(np.mean(segments.final(c)) - 1) - 2 * _error(segments.final(c)),
    "zeros": lambda c: np.mean(np.abs(segments.final(c)) <= 1e-12),
    "pinned": lambda c: np.mean(segments.final(c) >= 0.99 * c.numbers.max()),
    "from": lambda c: c.finite()[0][0],
    "begins": lambda c: c.finite()[0][0] / max(c.step[-1], 1e-9),
    "began": lambda c: found.high if (found := segments.began(c)) else math.inf,
    "declined": lambda c: segments.decline_began(c).low,
    "far": _far,
    "jump": lambda c: _jump(c).ratio,
    "jump_low": lambda c: _jump(c).low,
    "jump_high": lambda c: _jump(c).high,
    "jump_step": lambda c: _jump(c).at,
    "peaks": lambda c: spikes(*c.finite(), ratio=10.0).recovered.sum(),
    "late_spikes": lambda c: segments.late_spikes(c).size,
    "explodes": segments.explodes,
    "spikes": lambda c: spikes(*c.finite()).steps.size,
    "bursts": _bursts,
}
"""What may be asked of how a curve begins, ends, jumps and scatters."""


OF_COURSE: Mapping[str, Callable[[Course], float]] = {
    **{name: attrgetter(known) for name, known in table(__file__, "statistics.toml").items()},
    "best_at": lambda c: (c.best_step - c.step[0]) / max(c.step[-1] - c.step[0], 1e-9),
    "fall": lambda c: -c.gain.high,
    "may_gain": lambda c: max(c.gain.high, c.best - c.start) if c.gain.high > 0 else 0.0,
    "climbed": lambda c: max(c.last - c.start, c.gain.delta),
    "gained": lambda c: (c.last - c.start) / c.margin if c.margin > 0 else 0.0,
    "could": lambda c: c.gain.high / c.margin if c.margin > 0 else 0.0,
    "room": lambda c: math.inf if c.ceiling is None else c.ceiling - c.start,
    "moved": lambda c: max(c.best - c.start, c.best - c.last, c.margin),
    "change": lambda c: c.recent.slope * c.recent.span,
    "sunk": lambda c: c.start - c.last,
    "sunk_share": lambda c: (c.start - c.last) / max(abs(c.start), 1e-9),
    "fell_back": lambda c: c.best - c.last,
    "swings": lambda c: segments.swings(c.smoothed, max(0.75 * (c.best - c.last), c.margin)),
    "ceiling": lambda c: math.nan if c.ceiling is None else c.ceiling,
    "signal": lambda c: np.ptp(c.smoothed),
    "ahead": lambda c: ahead(c, float(c.step[-1] + (c.step[-1] - c.step[0]) / 3)).expected,
    "climbs": lambda c: c.direction_overall() == "rising",
    "kept": lambda c: c.rose and not c.fell,
    "at_rest": segments.at_rest,
    "trendless": lambda c: c.direction_overall() == "undecidable",
    **{way: lambda c, way=way: c.direction() == way for way in ("rising", "falling", "flat", "undecidable")},  # type: ignore[misc]
}
"""What may be asked of the course behind a curve's noise; ``fall`` is what it surely gained or lost, ``gained`` and
``could`` what it gained and may have gained in changes that matter."""
