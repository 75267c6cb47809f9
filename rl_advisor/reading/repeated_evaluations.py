"""An evaluation that a trainer logs again with every row until the next one counts once."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rl_advisor.reading.translating import Translated
from rl_advisor.run import Curve, Floats

FEWEST = 3
"""Different evaluations from which their pace is known."""


def once(items: Sequence[Translated]) -> list[Translated]:
    """The curves of a file with each evaluation at the step where it was made; those of evaluations are told by our names."""
    held = [item for item in items if item.curve.name.startswith("eval/")]
    sizes = {item.curve.step.size for item in held}
    if len(sizes) != 1 or any((item.curve.step != held[0].curve.step).any() for item in held):
        return list(items)
    kept = _made(held[0].curve.step, np.column_stack([item.curve.value for item in held]))
    return [item if item not in held else replace(item, curve=_taken(item.curve, kept)) for item in items]


def _taken(curve: Curve, kept: np.ndarray) -> Curve:
    if kept.size == curve.step.size:
        return curve
    return replace(curve, step=curve.step[kept], value=curve.value[kept], time=None if curve.time is None else curve.time[kept])


def _made(steps: Floats, rows: Floats) -> np.ndarray:
    """The rows at which an evaluation was made: not those that are mostly empty, nor one that equals the last and comes before its time."""
    known = np.flatnonzero(~np.isnan(rows).all(axis=1))
    known = known if 0 < 2 * known.size <= len(rows) else np.arange(len(rows))
    changes = [known[0], *(b for a, b in pairwise(known) if not np.array_equal(rows[a], rows[b], equal_nan=True))] if known.size else []
    if len(changes) < FEWEST:
        return known
    pace = float(np.median(np.diff(steps[changes])))
    kept = [known[0]]
    for at in known[1:]:
        if steps[at] - steps[kept[-1]] >= pace or not np.array_equal(rows[at], rows[kept[-1]], equal_nan=True):
            kept.append(at)
    return np.array(kept)
