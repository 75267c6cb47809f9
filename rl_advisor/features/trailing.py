"""A mean over the last so many episodes, taken apart: what the episodes between two lines of a log brought on average.

While fewer episodes have ended than the window holds, such a mean is one over everything so far, and it trails what the policy does now
by half of the run. The differences of the sums say what came in between.
"""

import numpy as np

from rl_advisor.features.series import Floats

DEPTH = 6.0
"""Windows in a curve from which on the lag is short against the curve, and taking it apart would only add up rounding."""
STRETCHES = 60
"""The most stretches into which a curve is taken apart: more would hold too few episodes each."""


def unaveraged(step: Floats, value: Floats, count: Floats, window: int) -> tuple[Floats, Floats]:
    """Steps and mean values of the disjoint stretches between the rows of a trailing mean.

    ``count`` is the number of episodes that had ended at each row. Rows between which no episode ended are joined; the curve comes back
    as it is when it spans ``DEPTH`` windows or more.
    """
    if value.size < 2 or count[-1] >= DEPTH * window or not np.all(np.diff(count) >= 0):
        return step, value
    keep = _apart(count, max(1.0, float(count[-1]) / STRETCHES))
    x, mean, n = step[keep], value[keep], count[keep]
    out = [float(mean[0])]
    for i in range(1, n.size):
        fresh = min(float(n[i] - n[i - 1]), float(window))
        gone = max(0.0, float(n[i]) - window) - max(0.0, float(n[i - 1]) - window)
        dropped = _between(n, out, max(0.0, float(n[i - 1]) - window), max(0.0, float(n[i]) - window)) if gone > 0 else 0.0
        before, now = min(float(n[i - 1]), float(window)), min(float(n[i]), float(window))
        out.append(float(mean[i]) if fresh >= window else (now * float(mean[i]) - before * float(mean[i - 1]) + gone * dropped) / fresh)
    return x, np.array(out)


def _apart(count: Floats, least: float) -> list[int]:
    """Rows that are at least ``least`` episodes apart."""
    kept = [0]
    for i in range(1, count.size):
        if count[i] - count[kept[-1]] >= least:
            kept.append(i)
    return kept


def _between(count: Floats, mean: list[float], low: float, high: float) -> float:
    """Mean over the episodes numbered ``low`` to ``high`` of what the stretches so far brought."""
    edges = np.concatenate([[0.0], count[: len(mean)]])
    held = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0.0, None)
    return float((held * np.array(mean)).sum() / held.sum()) if held.sum() > 0 else mean[0]
