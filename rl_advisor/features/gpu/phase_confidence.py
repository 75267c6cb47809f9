"""How far a split into phases can be trusted: by how much the answer changes when its assumptions do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.features.gpu.phases import Flags, Floats, Ints, change_at_ends, edge, end_blocks

CONSENSUS = 0.90
"""Below this agreement a split is no answer: on known cases its worst accuracy was 43 %, above it 84 %."""


RIVAL = 0.85
"""An answer whose edge is this part of the sharpest one's is a rival: it must agree, or none is the answer."""
FALLING = 0.5
"""What an edge counts at which the signals fall: generation falls too, as its last answers finish."""
RETURN = 0.3
"""Part of the edge at which training begins that must be undone as the step ends."""
VARIANTS: tuple[tuple[str, tuple[int, int]], ...] = (
    ("usual", (1, 1)),
    ("usual", (2, 1)),
    ("usual", (3, 1)),
    ("usual", (2, 2)),
    ("cool", (1, 1)),
    ("cool", (2, 1)),
    ("all", (3, 1)),
)
"""Signals taken (without temperature: cool), and how many levels generation and training may have."""


@dataclass(frozen=True)
class Split:
    """A label per tick, the least agreement with it among rivals, and the shares that each of them gave (rows) to each label (columns)."""

    label: Ints
    consensus: float
    shares: Floats


def split_with_variants(signals: dict[str, Floats], step_of: Ints, quiet: Flags) -> Split:
    """Training blocks at step ends, found under several assumptions; the answer is one at whose beginning the signals jump most.

    A wrong block begins where nothing happens, or where generation ebbs. Of the answers with a clear edge the one that the others agree
    with most is taken. ``signals`` holds ``power`` and, where known, ``activity``, ``temperature`` and ``utilization``; ticks as in
    ``end_blocks``.
    """
    usual: list[str] = [n for n in ("power", "activity", "temperature") if n in signals]
    taken = {"usual": usual, "cool": [n for n in usual if n != "temperature"], "all": list(signals)}
    labels = [end_blocks(np.stack([signals[n] for n in taken[k]], axis=1), step_of, quiet, levels=levels) for k, levels in VARIANTS]
    sharp = np.stack([signals[n] for n in ("power", "activity") if n in signals], axis=1)
    jumps = np.array([edge(sharp, label, step_of).mean() for label in labels])
    score = np.where(jumps > 0, jumps, -FALLING * jumps)
    rivals = [label for label, points in zip(labels, score, strict=True) if points >= RIVAL * score.max()]
    inside = step_of >= 0
    agreement = np.array([[float((a[inside] == b[inside]).mean()) for b in rivals] for a in rivals])
    best = int(agreement.mean(axis=1).argmax())
    return Split(rivals[best], float(agreement[best].min()), np.stack([shares_of(label[inside]) for label in rivals]))


def returns_at_ends(power: Floats, label: Ints, step_of: Ints) -> bool:
    """Whether power goes back, as steps end, from where it went when training began: else the clocks differ, or steps overlap."""
    start = float(edge(power[:, None], label, step_of)[0])
    return bool(-np.sign(start) * change_at_ends(power, step_of) >= RETURN * abs(start))


def shares_of(label: Ints) -> Floats:
    """Share of the ticks with label 0, 1 and 2."""
    return np.asarray(np.bincount(label, minlength=3)[:3] / max(label.size, 1))


def levels_differ(power: Floats, activity: Floats | None, label: Ints, step_of: Ints, least: float = 0.05) -> bool:
    """Whether training and generation differ, in power or memory activity, by more than generation varies within a step.

    Compared step by step by medians; a difference below ``least`` (of generation's power, or of all memory activity) is none.
    """
    floors = [(power, least * abs(float(np.median(power)))), *([(activity, least)] if activity is not None else [])]
    jumps = [(*_jump(values, label, step_of), floor) for values, floor in floors]
    return any(abs(jump) > max(spread, floor) for jump, spread, floor in jumps)


def _jump(values: Floats, label: Ints, step_of: Ints) -> tuple[float, float]:
    found = []
    for step in np.unique(step_of[step_of >= 0]):
        inside = step_of == step
        block, rest = values[inside & (label == 1)], values[inside & (label == 0)]
        if block.size and rest.size > 2:
            found.append((np.median(block) - np.median(rest), np.percentile(rest, 84) - np.percentile(rest, 16)))
    if not found:
        return 0.0, 0.0
    jump, spread = np.median(np.array(found), axis=0)
    return float(jump), float(spread) / 2


def band(share: float, spread: float, row_seconds: float, period: float) -> tuple[float, float]:
    """Low and high end of a share: twice the spread between variants and the resolution of the rows, at least 5 points."""
    half = max(0.05, 2 * float(np.hypot(spread, 0.75 * row_seconds / period)))
    return max(0.0, share - half), min(1.0, share + half)


def agreement_of(shares: Sequence[float]) -> float:
    """1 less the widest distance between the answers of variants that give shares only."""
    return 1 - float(np.ptp(np.asarray(shares, np.float64))) if len(shares) else 0.0
