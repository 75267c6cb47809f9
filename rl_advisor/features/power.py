"""What a GPU's power was, from what its sensor printed: most sensors print the average of the last second.

Every array is evenly sampled; ``cells`` are samples. Formulas: the reading is a box average of the power; its second
difference repeats itself with opposite sign one window later, which gives the window; the power is the piecewise constant
signal (total variation) whose box average is the reading.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STRENGTH = 0.003
"""Weight of the total variation, in parts of the signal's range."""
SWEEPS = 30
_BLOCK = 16
"""Unknowns that are eliminated at once: fewer cost more calls, more cost more arithmetic."""
MOVES = 20
"""Sudden moves that readings must show before they are no averages."""
SUDDEN = 3.5
"""Times as far as an average of a signal within its usual range can move, beyond which readings are no averages."""


def averaging_window(power: Floats, spacing: float, usual: float = 1.0, longest: float = 2.0) -> float | None:
    """The sensor's averaging window in seconds, found in the readings themselves; None where they show none.

    The autocorrelation of the second difference has a minimum at the window, and others where phases of a fixed duration
    end. The ``usual`` window is taken where it is such a minimum beyond chance (three standard errors), else the deepest.
    """
    bend = np.diff(power, 2)
    lags = np.arange(3, round(longest / spacing) + 1)
    if bend.size < 4 * lags[-1] or not bend.any():
        return None
    bend = bend - bend.mean()
    score = np.array([bend[lag:] @ bend[:-lag] for lag in lags]) / (bend @ bend)
    clear = score < -3 / np.sqrt(bend.size)
    near = np.abs(lags * spacing - usual) < 1.5 * spacing
    if clear[near].any():
        return float(lags[near][score[near].argmin()] * spacing)
    best = int(score.argmin())
    return float(lags[best] * spacing) if clear[best] else None


def averaged(power: Floats, spacing: float, window: float) -> bool:
    """Whether readings can be averages over a window: then nothing moves from one to the next by more than its share of the range.

    Some sensors print what is drawn at the moment (the GA100's, and fields named so).
    """
    low, high = np.quantile(power, [0.02, 0.98])
    if high <= low:
        return True
    moves = np.sort(np.abs(np.diff(power)))
    return bool(moves[-min(MOVES, moves.size)] <= SUDDEN * (high - low) * spacing / window)


def deconvolved(power: Floats, cells: int, strength: float = STRENGTH) -> Floats:
    """The power whose running average over ``cells`` samples is ``power``, as piecewise constant as the readings allow.

    Minimises ``|A x - y|^2 / 2 + strength * range * sum |x[k+1] - x[k]|`` by iteratively reweighted least squares; each
    sweep is one banded solve, linear in the length.
    """
    solve = _solver()
    size = power.size + cells - 1
    span = float(np.ptp(power))
    if cells < 2 or span == 0:
        return power.copy()
    gram = _box_gram(power.size, cells)
    right = np.convolve(power, np.full(cells, 1 / cells))
    weight = strength * span
    x = np.interp(np.arange(size), np.arange(power.size) + cells - 1, power)
    floor = 1e-3 * span
    for _ in range(SWEEPS):
        pull = weight / np.sqrt(np.diff(x) ** 2 + floor**2)
        bands = gram.copy()
        bands[0, :-1] += pull
        bands[0, 1:] += pull
        bands[1, :-1] -= pull
        x = solve(bands, right)
    return np.asarray(x[cells - 1 :], np.float64)


def _solver() -> Callable[[Floats, Floats], Floats]:
    """LAPACK's solver through scipy where that is installed (extra ``gpu``), which is ten times faster; else ours, with the same answer."""
    try:
        from scipy.linalg import solveh_banded
    except ImportError:
        return solve_banded
    return partial(solveh_banded, lower=True, check_finite=False)


def solve_banded(bands: Floats, right: Floats) -> Floats:
    """The solution of a symmetric positive definite banded system, given its lower bands as rows (LAPACK's form).

    Blocks as wide as the band make it block tridiagonal, which is eliminated block by block: linear in the length.
    """
    size, block = right.size, max(len(bands), _BLOCK)
    count = -(-size // block)
    padded = np.zeros((block, count * block))
    padded[0] = 1.0
    padded[: len(bands), :size] = bands
    row, column = np.indices((block, block))
    start = block * np.arange(count)[:, None, None]
    own = padded[np.abs(row - column), start + np.minimum(row, column)]
    next_ = np.where(row < column, padded[np.minimum(block + row - column, block - 1), start + column], 0.0)
    rest = np.pad(right, (0, count * block - size)).reshape(count, block, 1)
    onward = np.empty((count, block, block + 1))
    for k in range(count):
        if k:
            passed = next_[k - 1] @ onward[k - 1]
            own[k] -= passed[:, :-1]
            rest[k] -= passed[:, -1:]
        onward[k] = np.linalg.solve(own[k], np.concatenate([next_[k].T, rest[k]], axis=1))
    found = onward[:, :, -1]
    for k in range(count - 2, -1, -1):
        found[k] -= onward[k, :, :-1] @ found[k + 1]
    return found.reshape(-1)[:size]


def _box_gram(rows: int, cells: int) -> Floats:
    """``A.T @ A`` of the box average in lower banded form: how many windows hold both samples, over ``cells`` squared."""
    size = rows + cells - 1
    place = np.arange(size)
    bands = np.zeros((cells + 1, size))
    for lag in range(cells):
        first = np.maximum(place + lag - cells + 1, 0)
        last = np.minimum(place, rows - 1)
        bands[lag] = np.maximum(last - first + 1, 0) / cells**2
    return bands
