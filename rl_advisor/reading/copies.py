"""Files that hold the very same numbers are copies: they count once, and it is said."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Gap, Run

FEWEST = 5
"""Points that a metric must have for its numbers to be nobody else's."""


def without_copies(parts: Sequence[tuple[str, Run]]) -> list[tuple[str, Run]]:
    """The parts, those that repeat an earlier one of their format number by number empty but for the word that they do."""
    first: dict[object, str] = {}
    out: list[tuple[str, Run]] = []
    for path, part in parts:
        mark = _mark(part)
        if mark is None or first.setdefault(mark, path) == path:
            out.append((path, part))
            continue
        told = Gap(path, f"the same numbers as {first[mark]}: a copy, counted once")
        out.append((path, replace(part, curves={}, place="", others=(), gaps=(*part.gaps, told))))
    return out


def _mark(part: Run) -> object | None:
    """What only copies have in common; None for a part of which too little is known."""
    if len(part.rollouts) or not any(_tells(c) for c in part.curves.values()):
        return None
    return part.formats, frozenset((name, c.step.tobytes(), c.value.tobytes()) for name, c in part.curves.items())


def _tells(curve: Curve) -> bool:
    value = curve.value[np.isfinite(curve.value)]
    return value.size >= FEWEST and bool(value.min() < value.max())
