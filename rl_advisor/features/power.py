"""What a GPU's power was, from what its sensor printed: most sensors print the average of the last second.

Every array is evenly sampled; ``cells`` are samples. Formulas: the reading is a box average of the power; its second
difference repeats itself with opposite sign one window later, which gives the window; the power is the piecewise constant
signal (total variation) whose box average is the reading.
"""

from collections.abc import Callable

import numpy as np

from rl_advisor.features.series import Floats

STRENGTH = 0.003
"""Weight of the total variation, in parts of the signal's range."""
SWEEPS = 30
CLOSE, ROUNDS = 1e-5, 400
"""What may be left of each equation, as a share of its right side, and steps after which a solution is taken as it is."""
MOVES = 20
"""Sudden moves that readings must show before they are no averages."""
SUDDEN = 3.5
"""Times as far as an average of a signal within its usual range can move, beyond which readings are no averages."""


def averaging_window(power: Floats, spacing: float) -> float | None:
    """The sensor's averaging window in seconds, found in the readings themselves; None where they show none.

    The autocorrelation of the second difference has a minimum at the window, and others where phases of a fixed duration
    end. The usual window (a second) is taken where it is such a minimum beyond chance (three standard errors), else the deepest.
    """
    bend = np.diff(power, 2)
    lags = np.arange(3, round(2.0 / spacing) + 1)
    if bend.size < 4 * lags[-1] or not bend.any():
        return None
    bend = bend - bend.mean()
    score = np.array([bend[lag:] @ bend[:-lag] for lag in lags]) / (bend @ bend)
    clear = score < -3 / np.sqrt(bend.size)
    near = np.abs(lags * spacing - 1.0) < 1.5 * spacing
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


def deconvolved(power: Floats, cells: int) -> Floats:
    """The power whose running average over ``cells`` samples is ``power``, as piecewise constant as the readings allow.

    Minimises ``|A x - y|^2 / 2 + strength * range * sum |x[k+1] - x[k]|`` by iteratively reweighted least squares, each sweep solved by
    conjugate gradients from where the last one came.
    """
    span = float(np.ptp(power))
    if cells < 2 or span == 0:
        return power.copy()
    box, weight, floor = np.full(cells, 1 / cells), STRENGTH * span, 1e-3 * span
    right = np.convolve(power, box)
    x = np.interp(np.arange(right.size), np.arange(power.size) + cells - 1, power)
    for _ in range(SWEEPS):
        pull = weight / np.sqrt(np.diff(x) ** 2 + floor**2)

        def times(v: Floats, pull: Floats = pull) -> Floats:
            return np.asarray(
                np.convolve(np.convolve(v, box, "valid"), box) - np.diff(pull * np.diff(v), prepend=0.0, append=0.0), np.float64
            )

        x = _solved(times, right, x)
    return x[cells - 1 :]


def _solved(times: Callable[[Floats], Floats], right: Floats, x: Floats) -> Floats:
    """The solution of a symmetric positive definite system, given what its matrix makes of a vector, from a first guess."""
    rest = right - times(x)
    way, size = rest, float(rest @ rest)
    enough = CLOSE**2 * float(right @ right)
    for _ in range(ROUNDS):
        if size <= enough:
            break
        along = times(way)
        far = size / float(way @ along)
        x, rest = x + far * way, rest - far * along
        before, size = size, float(rest @ rest)
        way = rest + size / before * way
    return x
