"""The search for a break in a curve: every place of a step or a kink is tried at once, under AR(1) noise."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from rl_advisor.features.autoregression import deviance, lag_one, least_deviance, whiten
from rl_advisor.features.series import Bools, Floats


@dataclass(frozen=True)
class Candidates:
    """Columns that a break could add to the mean of a curve, whitened, freed of the base and scaled to length one."""

    columns: Floats
    """Points x candidates."""
    index: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
    """Point at which each candidate's break lies."""
    hinge: Bools
    """Whether the candidate is a kink; otherwise a step."""
    base: Floats
    """Orthonormal columns of what is there without a break."""
    scale: Floats
    """Length of each column before scaling; zero columns are left out."""

    def best(self, white: Floats) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.intp]], Floats, Floats]:
        """For every whitened series (a column each): best candidate, squared error it takes away, squared error without it."""
        rest = white - self.base @ (self.base.T @ white)
        gains = (self.columns.T @ rest) ** 2
        pick = gains.argmax(axis=0)
        return pick, np.take_along_axis(gains, pick[None], axis=0)[0], (rest**2).sum(axis=0)


def step_columns(n: int, edge: int) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]:
    """Level shifts that leave at least ``edge`` points on each side, and the first shifted point of each."""
    index = np.arange(edge, n - edge + 1)
    return (np.arange(n)[:, None] >= index).astype(np.float64), index


def hinge_columns(step: Floats, edge: int) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]:
    """Kinks with at least ``edge`` points on each side, and the last point of the old line of each."""
    index = np.arange(max(edge - 1, 0), step.size - edge)
    return np.maximum(step[:, None] - step[index], 0.0) / (step[-1] - step[0]), index


def candidates(
    step: Floats, phi: float, gap: Floats, edge: int, *, shapes: tuple[str, ...] = ("step", "hinge"), base: Floats
) -> Candidates:
    """All breaks of the given shapes for a curve at these steps, with ``base`` (n, k) as the mean without a break."""
    made = []
    if "step" in shapes:
        made.append((*step_columns(step.size, edge), False))
    if "hinge" in shapes:
        made.append((*hinge_columns(step, edge), True))
    columns = whiten(np.concatenate([m[0] for m in made], axis=1), phi, gap)
    index = np.concatenate([m[1] for m in made])
    hinge = np.concatenate([np.full(m[1].size, m[2]) for m in made])
    frame, _ = np.linalg.qr(whiten(base, phi, gap))
    columns = columns - frame @ (frame.T @ columns)
    scale = np.sqrt((columns**2).sum(axis=0))
    keep = scale > 1e-9
    return Candidates(columns[:, keep] / scale[keep], index[keep], hinge[keep], frame, scale[keep])


@dataclass(frozen=True)
class Fit:
    """The best break of one curve."""

    index: int
    hinge: bool
    size: float
    """Height of the step, or change of slope times the span."""
    gain: float
    """Twice the log likelihood that the break adds to noise with whatever memory serves it best without a break."""
    phi: float
    fitted: Floats
    """The mean with the break, in the curve's own units."""
    white: Floats
    """Whitened residuals."""
    found: Candidates


def best_fit(step: Floats, value: Floats, gap: Floats, edge: int, *, shapes: tuple[str, ...] = ("step", "hinge"), base: Floats) -> Fit:
    """The break that explains most. Correlation is judged about the best unwhitened break, so that the break itself does not pass for memory."""
    first = _fit(step, value, gap, 0.0, candidates(step, 0.0, gap, edge, shapes=shapes, base=base), base)
    phi = lag_one(value - first.fitted, gap, base.shape[1] + 2)
    fit = first if phi <= 0 else _fit(step, value, gap, phi, candidates(step, phi, gap, edge, shapes=shapes, base=base), base)
    return replace(fit, gain=least_deviance(base, value, gap) - deviance(fit.white, fit.phi, gap))


def _fit(step: Floats, value: Floats, gap: Floats, phi: float, found: Candidates, base: Floats) -> Fit:
    white = whiten(value, phi, gap)
    pick = int(found.best(white[:, None])[0][0])
    hinge, index = bool(found.hinge[pick]), int(found.index[pick])
    column = np.maximum(step - step[index], 0.0) / (step[-1] - step[0]) if hinge else (np.arange(value.size) >= index).astype(np.float64)
    design = np.column_stack([base, column])
    coefficients = np.linalg.lstsq(whiten(design, phi, gap), white, rcond=None)[0]
    fitted = design @ coefficients
    return Fit(index, hinge, float(coefficients[-1]), 0.0, phi, fitted, whiten(value - fitted, phi, gap), found)


def penalty(n: int) -> float:
    """What a break must explain (as n log of the error ratio) before it is believed: its height and its place cost 3 log n, more when n is small."""
    return 3 * float(np.log(n)) * (1 + 6 / n)


def chance(gain: float, n: int, freedom: int, places: int) -> float:
    """p-value of a break that adds ``gain`` to twice the log likelihood, found among ``places`` (Bonferroni over them)."""
    t = np.sqrt(max(freedom, 1) * np.expm1(np.clip(gain / n, 0.0, 700.0)))
    return float(min(1.0, places * 2 * stdtr(max(freedom, 1), -t)))
