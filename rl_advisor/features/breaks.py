"""The search for a break in a curve: every place of a step or a kink is tried at once, under AR(1) noise."""

from dataclasses import dataclass, replace

import numpy as np

from rl_advisor.features import student
from rl_advisor.features.autoregression import deviance, lag_one, memories, whiten
from rl_advisor.features.series import Floats, Indices

RAMPS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of the span that a change may take before it is complete."""


@dataclass(frozen=True)
class Search:
    """Where and for what to look."""

    step: Floats
    gap: Floats
    """Distance between neighbours in units of the usual one."""
    base: Floats
    """Columns (n, k) of the mean without a break."""
    edge: int
    """Points that must lie on each side of a break."""
    shapes: tuple[str, ...]


@dataclass(frozen=True)
class Candidates:
    """Columns that a break could add to the mean of a curve, whitened, freed of the base and scaled to length one."""

    columns: Floats
    """Points x candidates."""
    index: Indices
    """Point at which each candidate's break lies."""
    width: Floats
    """Steps that the change takes: 0 for a step, the whole span for a kink."""
    base: Floats
    """Orthonormal columns of what is there without a break."""
    scale: Floats
    """Length of each column before scaling; zero columns are left out."""

    def best(self, white: Floats) -> Indices:
        """For every whitened series (a column each) the candidate that takes away most squared error."""
        match = self.columns.T @ (white - self.base @ (self.base.T @ white))
        return np.asarray((match**2).argmax(axis=0), np.intp)


def step_columns(n: int, edge: int) -> tuple[Floats, Indices]:
    """Level shifts that leave at least ``edge`` points on each side, and the first shifted point of each."""
    index = np.arange(edge, n - edge + 1)
    return (np.arange(n)[:, None] >= index).astype(np.float64), index


def ramp_columns(step: Floats, index: Indices, width: float) -> Floats:
    """Rises from 0 at each of the points to 1 over ``width`` steps, level afterwards; a kink when ``width`` is the span."""
    return np.clip((step[:, None] - step[index]) / width, 0.0, 1.0)


def candidates(search: Search, phi: float) -> Candidates:
    """All breaks that a search allows, whitened for that lag-one correlation."""
    step, span = search.step, float(search.step[-1] - search.step[0])
    made: list[tuple[Floats, Indices, float]] = []
    if "step" in search.shapes:
        made.append((*step_columns(step.size, search.edge), 0.0))
    kinks = np.arange(max(search.edge - 1, 0), step.size - search.edge)
    if "hinge" in search.shapes:
        made.append((ramp_columns(step, kinks, span), kinks, span))
    if "ramp" in search.shapes:
        some = kinks[:: 1 + step.size // 64]
        made += [(ramp_columns(step, some, share * span), some, share * span) for share in RAMPS]
    columns = whiten(np.concatenate([m[0] for m in made], axis=1), phi, search.gap)
    index = np.concatenate([m[1] for m in made])
    width = np.concatenate([np.full(m[1].size, m[2]) for m in made])
    frame, _ = np.linalg.qr(whiten(search.base, phi, search.gap))
    columns = columns - frame @ (frame.T @ columns)
    scale = np.sqrt((columns**2).sum(axis=0))
    keep = scale > 1e-9
    return Candidates(columns[:, keep] / scale[keep], index[keep], width[keep], frame, scale[keep])


@dataclass(frozen=True)
class Fit:
    """The best break of one curve."""

    index: int
    width: float
    """Steps that the change takes: 0 for a step, the whole span for a kink."""
    size: float
    """Height of the step, or of the ramp were it complete."""
    gain: float
    """Twice the log likelihood that the break adds to noise with whatever memory serves it best without a break."""
    phi: float
    column: Floats
    """What the break adds to the mean, per size."""
    fitted: Floats
    """The mean with the break, in the curve's own units."""
    white: Floats
    """Whitened residuals."""
    found: Candidates


def best_fit(search: Search, value: Floats) -> Fit:
    """The break that explains most.

    Memory is judged about the best unwhitened break, so that the break itself does not pass for memory.
    """
    first = _fit(search, value, 0.0)
    phi = lag_one(value - first.fitted, search.gap, search.base.shape[1] + 2)
    fit = first if phi <= 0 else _fit(search, value, phi)
    without = memories(search.base, value, search.gap).deviance.min()
    return replace(fit, gain=float(without) - deviance(fit.white, fit.phi, search.gap))


def _fit(search: Search, value: Floats, phi: float) -> Fit:
    step, gap, found = search.step, search.gap, candidates(search, phi)
    white = whiten(value, phi, gap)
    pick = int(found.best(white[:, None])[0])
    width, index = float(found.width[pick]), int(found.index[pick])
    column = ramp_columns(step, np.array([index]), width)[:, 0] if width > 0 else (np.arange(value.size) >= index).astype(np.float64)
    design = np.column_stack([search.base, column])
    coefficients = np.linalg.lstsq(whiten(design, phi, gap), white, rcond=None)[0]
    fitted = design @ coefficients
    return Fit(index, width, float(coefficients[-1]), 0.0, phi, column, fitted, whiten(value - fitted, phi, gap), found)


def penalty(n: int) -> float:
    """What a break must add to twice the log likelihood to be believed, more where n is small.

    Noise without a break adds less in 95 of 100 curves at any memory up to 0.9 (by simulation: docs/dev/calibration.md).
    """
    return 15 * (1 + 4 / n)


def chance(gain: float, n: int, freedom: int, places: int) -> float:
    """p-value of a break that adds ``gain`` to twice the log likelihood, found among ``places`` (Bonferroni over them).

    The gain is shrunk as if ten points had gone into the memory of the noise, which is fitted with and without the break:
    with that the share of false breaks is held at any memory up to 0.9 (by simulation: docs/dev/calibration.md).
    """
    t = np.sqrt(max(freedom, 1) * np.expm1(np.clip(gain / (n + 10.0), 0.0, 700.0)))
    return float(min(1.0, places * 2 * float(student.below(max(freedom, 1), -t))))
