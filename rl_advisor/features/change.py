"""When did a curve break, and how: onset with an interval, change points, abrupt changes of scale, and spikes."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rl_advisor.features import student
from rl_advisor.features.autoregression import lag_one, memories, spacing, whiten
from rl_advisor.features.bins import clipped, hampel
from rl_advisor.features.breaks import Fit, Search, best_fit, chance, penalty, step_columns
from rl_advisor.features.series import Bools, Floats, constant, finite, thinned
from rl_advisor.features.trend import trend

ChangeKind = Literal["step", "hinge"]
ONSET_BINS = 256
SURE = 0.02
"""p-value of a trend below which a curve did leave what it was, though neither a step nor a kink describes how."""


@dataclass(frozen=True)
class OnsetEstimate:
    """Where a curve leaves what it was: the kind of break, its place with an interval, and its size."""

    kind: ChangeKind
    at: float
    """First step of the new level, or the kink of a hinge."""
    low: float
    high: float
    size: float
    """Height of a step; rise of a hinge from its kink (to a new level or to the end)."""


def onset(step: npt.ArrayLike, value: npt.ArrayLike, draws: int = 200) -> OnsetEstimate | None:
    """The best step or kink by penalised likelihood, with a 95 % bootstrap interval of its place; None where neither is there.

    Raises TooFewPoints below 6 finite points.
    """
    x, y = thinned(step, value, least=6, most=ONSET_BINS)
    if constant(y):
        return None
    fit = best_fit(Search(x, spacing(x), np.ones((x.size, 1)), 2, ("step", "hinge", "ramp")), y)
    if fit.gain < penalty(x.size) and trend(x, y).p > SURE:
        return None
    low, high = np.quantile(_draw(x, fit, draws), [0.025, 0.975])
    at = float(x[fit.index])
    return OnsetEstimate(
        "hinge" if fit.width > 0 else "step", at, min(float(low), at), max(float(high), at), fit.size * float(fit.column[-1])
    )


def _draw(x: Floats, fit: Fit, draws: int) -> Floats:
    """Places of the best break in ``draws`` curves rebuilt from the fit and resampled whitened residuals."""
    generator = np.random.default_rng(0)
    white = fit.white - fit.white.mean()
    resampled = white[generator.integers(0, white.size, (white.size, draws))]
    pick = fit.found.best(whiten(fit.fitted, fit.phi, spacing(x))[:, None] + resampled)
    return x[fit.found.index[pick]]


@dataclass(frozen=True)
class ChangePoint:
    """One level shift: first step of the new level, and the levels around it."""

    step: float
    before: float
    after: float


def change_points(step: npt.ArrayLike, value: npt.ArrayLike) -> tuple[ChangePoint, ...]:
    """Level shifts in order of step, at most five: forward search under AR(1) noise, then each tested against that noise.

    The p-value is corrected for the number of places that were searched. Raises TooFewPoints below 6 finite points.
    """
    x, y = thinned(step, value, least=6, most=ONSET_BINS)
    if constant(y):
        return ()
    gap, clean = spacing(x), clipped(y)
    columns, index = step_columns(x.size, 3 if x.size >= 12 else 2)
    one = np.ones((x.size, 1))
    loose = _search(clean, columns, one)
    kept, _ = np.linalg.qr(np.column_stack([one, columns[:, loose]]))
    phi = lag_one(clean - kept @ (kept.T @ clean), gap, kept.shape[1])
    picks = _search(whiten(clean, phi, gap), whiten(columns, phi, gap), whiten(one, phi, gap), penalty(x.size))
    edges = [0, *sorted(int(index[k]) for k in _tested(clean, columns, gap, picks)), x.size]
    middles = [float(np.median(y[a:b])) for a, b in pairwise(edges)]
    return tuple(ChangePoint(float(x[i]), before, after) for i, (before, after) in zip(edges[1:-1], pairwise(middles), strict=True))


def _search(value: Floats, columns: Floats, base: Floats, cost: float = 0.0) -> list[int]:
    """Columns added one by one, each the one that takes away most error, while it explains more than ``cost``."""
    frame, _ = np.linalg.qr(base)
    picks: list[int] = []
    free, rest = columns - frame @ (frame.T @ columns), value - frame @ (frame.T @ value)
    for _ in range(5):
        length = (free**2).sum(axis=0)
        gains = np.where(length > 1e-9, (free.T @ rest) ** 2 / np.maximum(length, 1e-9), 0.0)
        k, total = int(gains.argmax()), float(rest @ rest)
        if total <= 1e-20 or gains[k] <= 0 or value.size * np.log(total / max(total - gains[k], 1e-12 * total)) < cost:
            break
        picks.append(k)
        unit = free[:, k] / np.sqrt(length[k])
        rest, free = rest - unit * (unit @ rest), free - np.outer(unit, unit @ free)
    return picks


def _tested(value: Floats, columns: Floats, gap: Floats, picks: list[int], level: float = 0.05) -> list[int]:
    """The breaks that survive when each is tested beside the others, the weakest leaving first; p-values know of all places."""

    def least(some: list[int]) -> float:
        return float(memories(np.column_stack([np.ones(value.size), columns[:, some]]), value, gap).deviance.min())

    while picks:
        best = least(picks)
        gains = [least([q for q in picks if q != k]) - best for k in picks]
        if chance(min(gains), value.size, value.size - len(picks) - 2, columns.shape[1]) <= level:
            return picks
        picks = [k for k, gain in zip(picks, gains, strict=True) if gain > min(gains)]
    return []


@dataclass(frozen=True)
class Discontinuity:
    """The most abrupt change of scale of a curve: ratio of typical sizes after and before, with a 95 % interval."""

    at: float
    ratio: float
    low: float
    high: float
    p: float
    """Against none, corrected for the search; 1 when nothing stands out."""


def discontinuity(step: npt.ArrayLike, value: npt.ArrayLike) -> Discontinuity:
    """Where the size of a loss or norm jumps ("doubled or halved") beside a steady drift of its logarithm.

    Raises TooFewPoints below 8 finite points.
    """
    x, y = thinned(step, value, least=8, most=ONSET_BINS)
    size = np.abs(y)
    if constant(size):
        return Discontinuity(float(x[-1]), 1.0, 1.0, 1.0, 1.0)
    logs = clipped(np.log(np.maximum(size, size[size > 0].min())))
    drift = np.column_stack([np.ones(x.size), (x - x[0]) / (x[-1] - x[0])])
    fit = best_fit(Search(x, spacing(x), drift, 3, ("step",)), logs)
    freedom = max(x.size - 4, 1)
    error = float(np.sqrt(fit.white @ fit.white / freedom)) / float(fit.found.scale[np.flatnonzero(fit.found.index == fit.index)[0]])
    half = error * student.quantile(freedom, 0.975)
    p = chance(fit.gain, x.size, freedom, fit.found.index.size)
    low, middle, high = (float(np.exp(np.clip(v, -700, 700))) for v in (fit.size - half, fit.size, fit.size + half))
    return Discontinuity(float(x[fit.index]), middle, low, high, p)


class Spikes(NamedTuple):
    """Single points far above their surroundings; arrays of one length."""

    steps: Floats
    sizes: Floats
    """Size of the point over the typical size around it."""
    recovered: Bools
    """Whether the points after it are back at the level before it; false while none has come."""


def spikes(step: npt.ArrayLike, value: npt.ArrayLike, width: int = 51, deviations: float = 5.0, ratio: float = 3.0) -> Spikes:
    """Raw points beyond ``deviations`` (scaled) MADs of their running median and at least ``ratio`` times its size.

    Both are asked because the MAD of a tight series is next to nothing. Raises TooFewPoints below 5 finite points.
    """
    x, y = finite(step, value, least=5)
    middle, spread = hampel(y, width)
    # Where most values are zero a tenth of the mean size stands for the typical one.
    typical = np.maximum(np.abs(middle), max(float(np.median(np.abs(y))), 0.1 * float(np.abs(y).mean())))
    out = (np.abs(y - middle) > deviations * spread) & (np.abs(y) >= ratio * typical) & (np.abs(y) > 0)
    at = np.flatnonzero(out)
    sizes = np.abs(y[at]) / typical[at]
    after = np.array([abs(np.median(y[i + 1 : i + 6])) if i + 1 < y.size else np.inf for i in at.tolist()])
    return Spikes(x[at], sizes, after <= 1.5 * typical[at] + 2 * spread[at])
