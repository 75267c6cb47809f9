"""What the signals of a GPU show tick by tick: its labels, and quiet time."""

import numpy as np

from rl_advisor.features.series import Bools, Floats, Indices, Ints

GENERATION, TRAINING, WAITING = 0, 1, 2
SPINNING = 0.25
"""How far above the floor, in parts of the way to the usual power, a GPU may be that only waits in a loop."""


def runs_of(flags: Bools) -> Ints:
    """First and one-past-last index of every run of true values, one row a run."""
    edges = np.diff(np.r_[0, flags.astype(np.int8), 0])
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)], axis=1)


def longest(breaks: Indices, count: int) -> slice:
    """The longest of the parts into which so many places fall before each break."""
    edges = np.r_[0, breaks, count].astype(int)
    part = int(np.diff(edges).argmax())
    return slice(int(edges[part]), int(edges[part + 1]))


def quiet_ticks(utilization: Floats, activity: Floats | None, power: Floats | None, *, shortest: int, margin: int = 0) -> Bools:
    """Ticks at which the GPU did nothing: memory untouched, utilisation at most 10 %, power on its way to its floor.

    The floor is the median of power over such ticks; a run of them counts when power comes nearer to the floor than to what it is
    elsewhere. Ticks that leave memory untouched near the floor are quiet whatever utilisation says: waits at a collective spin. Runs
    shorter than ``shortest`` ticks are no quiet.
    """
    low = np.minimum(utilization, np.r_[utilization[1:], utilization[-1:]]) <= 0.10
    if activity is not None:
        low &= ~(activity > 0)
    half = np.inf
    if power is not None and low.any() and not low.all():
        floor = float(np.median(power[low]))
        gap = max(float(np.median(power[~low])) - floor, 0.0)
        half = max(floor + gap / 2, 1.12 * floor + 3)
        if activity is not None:
            low |= ~(activity > 0) & (power <= floor + gap * SPINNING)
    quiet = np.zeros(low.size, bool)
    for first, last in runs_of(low):
        if last - first >= shortest and (power is None or power[first:last].min() <= half):
            quiet[max(first - margin, 0) : last + margin] = True
    return quiet
