"""Where a training step's time goes: fit what the sensors would have averaged.

Every step is generation, then training of one duration at its end; quiet stretches are known. A reading is the mean over
its sensor's window, so each candidate duration predicts the readings by least squares on the levels. Steps do not beat with
the sampling, and that gives a resolution below one row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Bools, Floats

Spans = Floats
"""Starts and ends in seconds, sorted and apart, one row a span."""

CANDIDATES = np.linspace(0.05, 0.97, 60)
"""Shares of a step's active time that its training may take."""
LEAST_READINGS = 12


@dataclass(frozen=True)
class Sensor:
    """Readings, the moment at which the averaging window of each ended, and that window in seconds."""

    value: Floats
    end: Floats
    window: float

    def within(self, first: float, last: float) -> "Sensor":
        """The readings whose window lies between two moments."""
        keep = np.isfinite(self.value) & (self.end - self.window >= first) & (self.end <= last)
        return Sensor(self.value[keep], self.end[keep], self.window)


def covered(spans: Spans, at: Floats) -> Floats:
    """Seconds of the spans that lie before each moment."""
    if not len(spans):
        return np.zeros(at.size)
    before = np.r_[0.0, np.cumsum(spans[:, 1] - spans[:, 0])]
    place = np.searchsorted(spans[:, 0], at, side="right")
    last = np.maximum(place - 1, 0)
    inside = np.clip(at - spans[last, 0], 0, spans[last, 1] - spans[last, 0])
    return np.where(place == 0, 0.0, before[last] + inside)


def levels(sensor: Sensor, groups: Sequence[Spans]) -> Floats:
    """The level of each group of spans and of the time outside them, by least squares through the sensor's window.

    A group that hardly any window touches has the level NaN.
    """
    return _least_squares(sensor.value, _shares(sensor, groups))[0]


def forward_fit(sensors: Sequence[Sensor], edges: Floats, quiet: Spans, *, rising: bool = True) -> Spans:
    """The training spans under which all sensors' readings are likeliest.

    ``edges`` are step ends, the first being where the first whole step starts; ``rising`` lets generation climb within a step.

    Raises:
        TooFewPoints: fewer than 12 readings of the first sensor lie inside the steps.

    """
    seen = [s.within(edges[0], edges[-1]) for s in sensors]
    if seen[0].value.size < LEAST_READINGS:
        raise TooFewPoints(f"{seen[0].value.size} readings inside the steps, {LEAST_READINGS} needed")
    active = np.diff(edges) - np.diff(covered(quiet, edges))
    best = (np.inf, np.empty((0, 2)))
    for seconds in CANDIDATES * float(np.median(active)):
        training = _last_active(edges, active, float(seconds), quiet)
        climb = _climb(edges, training, quiet) if rising else None
        loss = sum(_loss(s, [training, quiet], climb) for s in seen)
        if loss < best[0]:
            best = (loss, training)
    return best[1]


def _shares(sensor: Sensor, groups: Sequence[Spans]) -> Floats:
    """Part of each reading's window that lies in each group, and in none."""
    shares = [(covered(g, sensor.end) - covered(g, sensor.end - sensor.window)) / sensor.window for g in groups]
    return np.stack([*shares, 1 - np.sum(shares, axis=0)], axis=1)


def _least_squares(value: Floats, design: Floats) -> tuple[Floats, Floats]:
    """The levels (NaN where the design hardly touches one) and the residuals."""
    answer = np.full(design.shape[1], np.nan)
    seen = np.abs(design).sum(axis=0) > 0.5
    answer[seen] = np.linalg.lstsq(design[:, seen], value, rcond=None)[0]
    return answer, value - design[:, seen] @ answer[seen]


def _loss(sensor: Sensor, groups: Sequence[Spans], climb: tuple[Floats, Floats] | None) -> float:
    """Half the readings times the log of the residual variance: minus the likelihood of the best levels."""
    design = _shares(sensor, groups)
    if climb is not None:
        rise = np.interp(sensor.end, *climb) - np.interp(sensor.end - sensor.window, *climb)
        design = np.column_stack([design, rise / sensor.window])
    _, rest = _least_squares(sensor.value, design)
    return float(rest.size / 2 * np.log(rest @ rest / max(rest.size, 1) + 1e-9))


def _climb(edges: Floats, training: Spans, quiet: Spans) -> tuple[Floats, Floats]:
    """The integral over time of how far into its step generation is; moments and values."""
    cell = max(float(np.median(np.diff(edges))) / 100, 0.02)
    middle = np.arange(edges[0], edges[-1], cell) + cell / 2
    begun = edges[np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, edges.size - 2)]
    far = np.where(inside(training, middle) | inside(quiet, middle), 0.0, middle - begun)
    return np.r_[edges[0], middle + cell / 2], np.r_[0.0, np.cumsum(far * cell)]


def _last_active(edges: Floats, active: Floats, seconds: float, quiet: Spans) -> Spans:
    """The last active ``seconds`` of each step (never all of it), without the quiet time in between."""
    grid = np.unique(np.r_[edges, quiet.ravel()])
    work = grid - covered(quiet, grid)
    goal = (edges - covered(quiet, edges))[1:]
    start = np.interp(goal - np.minimum(seconds, 0.97 * active), work, grid)
    return _without(np.stack([start, edges[1:]], axis=1), quiet)


def _without(spans: Spans, holes: Spans) -> Spans:
    """The spans less the holes."""
    if not len(holes):
        return spans
    grid = np.unique(np.r_[spans.ravel(), holes.ravel()])
    middle = (grid[:-1] + grid[1:]) / 2
    keep = inside(spans, middle) & ~inside(holes, middle)
    return np.stack([grid[:-1][keep], grid[1:][keep]], axis=1)


def inside(spans: Spans, at: Floats) -> Bools:
    """Whether each moment lies in one of the spans."""
    if not len(spans):
        return np.zeros(at.size, bool)
    place = np.searchsorted(spans[:, 0], at, side="right") - 1
    return np.asarray((place >= 0) & (at < spans[np.maximum(place, 0), 1]))
