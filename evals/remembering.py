"""Curves of known course under noise that remembers: what the fit of the verdict must not take for movement, and what it must.

A flat reward whose noise remembers wanders for tens of steps; a reader who knows what it is calls it flat. Real logs with such labels are
few, so a handful of made ones stand beside them. Each shape is one kin, so that all of them together weigh like a few repositories.
``python -m evals.remembering`` prints how often flat noise surely moves by the course behind it, and how often a true move is seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rl_advisor.curves.course import course
from rl_advisor.features.series import Floats
from rl_advisor.finding import Verdict
from rl_advisor.run import Curve, Run

MEMORY = 0.5
"""Lag-one correlation of the noise. Four memories up to 0.85, and so four times as many curves, cost strangers' runs a few hits."""
LENGTHS = (20, 60, 200)
SD = 0.05


@dataclass(frozen=True)
class Shape:
    """A course over the run (shares), and what it may be called, the best name first."""

    name: str
    levels: tuple[float, ...]
    verdicts: tuple[Verdict, ...]
    size: float = 1.0
    """The noise in usual ones."""


SHAPES = (
    Shape("stays low", (0.3, 0.3), ("not_learning", "undecidable")),
    Shape("stays amid much noise", (0.45, 0.45), ("not_learning", "undecidable", "plateaued"), 2.5),
    Shape("rises all the way", (0.3, 0.65), ("improving",)),
    Shape("rises amid much noise", (0.3, 0.55), ("improving", "plateaued"), 1.6),
    Shape("rises and levels off", (0.3, 0.52, 0.6, 0.61, 0.61), ("plateaued",)),
    Shape("rises and falls back", (0.3, 0.55, 0.65, 0.5, 0.38), ("degrading",)),
    Shape("rises and breaks down", (0.3, 0.5, 0.6, 0.1, 0.1), ("collapsed",)),
)


def colour(white: Floats, phi: float | Floats, gap: Floats) -> Floats:
    """The inverse of ``whiten``: independent rows (n, draws) become AR(1) series of the same variance.

    ``phi`` is one number or one a draw.
    """
    weight = np.asarray(phi, np.float64) ** gap.reshape(-1, *[1] * (white.ndim - 1))
    out = white.copy()
    out[1:] *= np.sqrt(1 - weight**2)
    for i, w in enumerate(weight, start=1):
        out[i] += w * out[i - 1]
    return out


def drawn(shape: Shape, n: int, seed: int) -> Floats:
    """The values of a shape at ``n`` steps, between 0 and 1."""
    generator = np.random.default_rng(seed)
    course = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(shape.levels)), shape.levels)
    noise = colour(generator.standard_normal((n, 1)), MEMORY, np.ones(n - 1))[:, 0]
    return np.asarray(np.clip(course * generator.uniform(0.85, 1.15) + SD * shape.size * noise, 0, 1))


def runs() -> Iterator[tuple[Shape, Run]]:
    """A run of one reward for every shape and length."""
    for i, shape in enumerate(SHAPES):
        for n in LENGTHS:
            value = drawn(shape, n, 1000 * i + 10 * n + 1)
            curve = Curve("reward/mean", "reward", "made", np.arange(1.0, n + 1), value)
            yield shape, Run(name=f"{shape.name} {n}", curves={"reward/mean": curve})


def surely_moves(far: float, n: int, memory: float, curves: int = 40) -> float:
    """Share of curves that surely end above or below their start (nineteen in twenty courses) after a step of ``far`` deviations."""
    moves = []
    for seed in range(curves):
        noise = colour(np.random.default_rng(seed).standard_normal((n, 1)), memory, np.ones(n - 1))[:, 0]
        found = course(Curve("reward/mean", "reward", "made", np.arange(float(n)), np.where(np.arange(n) < n / 2, 0.0, far) + noise))
        assert found is not None
        above = float(np.mean(found.level.draws[:, -max(1, n // 10) :].mean(axis=1) > found.level.draws[:, 0]))
        moves.append(above > 0.95 or above < 0.05)
    return float(np.mean(moves))


def main() -> None:
    """A line for each length and size of a step, a column for each memory."""
    memories = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
    print("step  points " + " ".join(f"{m:5}" for m in memories))
    for far in (0.0, 3.0, 6.0):
        for n in (12, 30, 100, 600):
            print(f"{far:4.0f} {n:7} " + " ".join(f"{surely_moves(far, n, m):5.2f}" for m in memories))


if __name__ == "__main__":
    main()
