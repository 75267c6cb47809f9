"""The scale on which a change of a curve counts, and the highest level there can be, as its numbers tell."""

import numpy as np

from rl_advisor.features.series import Floats


def natural_scale(value: Floats, smoothed: Floats, *, share: bool = True) -> tuple[float, float | None]:
    """Scale against which changes are judged, and the ceiling where the numbers look like shares and may be one (``share``)."""
    low, high = float(value.min()), float(value.max())
    if share and low >= 0 and high <= 1:
        return 1.0, 1.0
    if share and low >= -1 and high <= 0:
        return 1.0, 0.0
    spread = float(np.ptp(smoothed))
    return max(spread, 0.1 * float(np.median(np.abs(value)))), high if _piles_up(value) else None


def _piles_up(value: Floats) -> bool:
    """Whether many values are exactly the highest one, far more than the next: a cap, like the 500 steps that end an episode of CartPole.

    Scores of few levels do not count: there the highest one is no more frequent than its neighbour.
    """
    levels, count = np.unique(value, return_counts=True)
    if levels.size < 2:
        return False  # a curve that never moved stands at its floor as well
    below = int(count[-2])
    return bool(count[-1] >= max(4, 0.2 * value.size) and count[-1] >= 3 * below)
