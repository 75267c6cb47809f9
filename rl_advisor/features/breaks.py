"""The search for a break in a curve: every place of a step or a kink is tried at once, under AR(1) noise."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.features.autoregression import lag_one, whiten
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
    """n log(error without / error with): how much the break explains."""
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
    if phi <= 0:
        return first
    return _fit(step, value, gap, phi, candidates(step, phi, gap, edge, shapes=shapes, base=base), base)


def _fit(step: Floats, value: Floats, gap: Floats, phi: float, found: Candidates, base: Floats) -> Fit:
    white = whiten(value, phi, gap)
    pick, gain, total = (a[0] for a in found.best(white[:, None]))
    n, hinge, index = value.size, bool(found.hinge[pick]), int(found.index[pick])
    left = max(float(total - gain), 1e-24 * max(float(total), 1e-300))
    column = np.maximum(step - step[index], 0.0) / (step[-1] - step[0]) if hinge else (np.arange(n) >= index).astype(np.float64)
    design = np.column_stack([base, column])
    coefficients = np.linalg.lstsq(whiten(design, phi, gap), white, rcond=None)[0]
    fitted = design @ coefficients
    explained = n * float(np.log(max(float(total), 1e-300) / max(left, 1e-300)))
    return Fit(index, hinge, float(coefficients[-1]), explained, phi, fitted, whiten(value - fitted, phi, gap), found)


def penalty(n: int) -> float:
    """What a break must explain (as n log of the error ratio) before it is believed: its height and its place cost 3 log n, more when n is small."""
    return 3 * float(np.log(n)) * (1 + 6 / n)
