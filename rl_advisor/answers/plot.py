"""A few curves as one picture (PNG), for models and people that look rather than read: one panel each, break and checkpoint through all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.answers.curves import FIRST, named
from rl_advisor.features.bins import reduce, smooth
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.checkpoint import best_checkpoint
from rl_advisor.judgement.verdict import judge
from rl_advisor.output.clean import is_name
from rl_advisor.run import Curve, Floats, Run

if TYPE_CHECKING:
    from rl_advisor.answers.sheet import Sheet

MOST = 6
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 150, 66, 14, 24, 20
POINTS = 600
FAINT, LINE, RAW = "#d7dbe0", "#1f5fa8", "#a9c4e4"
MARKS = {"break": "#c0392b", "keep": "#2e8b57"}
"""What is marked, and its colour."""


def picture(run: Run, metrics: Sequence[str] = ()) -> bytes:
    """The named curves, or the foremost six, as a PNG: thin what was logged, bold the line, smoothed on either side of the break.

    Raises:
        NoSuchChoice: a name that the run does not have; the message names those it has.
    """
    from rl_advisor.answers.sheet import Sheet

    curves = [named(run, name) for name in metrics][:MOST] or _foremost(run)
    sheet, marks = Sheet(WIDTH, HEIGHT * max(1, len(curves))), marked(run)
    for i, curve in enumerate(curves):
        _panel(sheet, curve, i * HEIGHT, f"metric {i + 1}", run.last_step, marks)
    return sheet.png()


def marked(run: Run) -> dict[str, float]:
    """Where the run broke first, and which saved checkpoint to keep, as far as either is known."""
    case = open_case(run)
    judged = judge(case)
    best = best_checkpoint(case, reward_trusted=judged.verdict != "reward_hacking")
    begun = judged.cause.onset if judged.cause is not None else None
    return ({"break": begun.step} if begun is not None else {}) | ({"keep": float(best.step)} if best.path and best.step else {})


def _foremost(run: Run) -> list[Curve]:
    """The curves that most often explain a run, as far as they were logged."""
    return [c for start in FIRST for c in run.curves.values() if c.name.startswith(start)][:MOST]


def _panel(sheet: "Sheet", curve: Curve, top: int, number: str, last: float, marks: dict[str, float]) -> None:  # noqa: PLR0913
    """One curve with the run's own name, the ends of both axes, the marks and, where values were not finite, how many."""
    step, value = curve.finite()
    lost = curve.value.size - value.size
    name = next((n for n in (curve.raw, curve.name) if is_name(n)), number)
    right, high, low = WIDTH - RIGHT, top + TOP, top + HEIGHT - BOTTOM
    sheet.box((LEFT, high), (right, low), outline=FAINT)
    sheet.write((LEFT, top + 5), name + (f"   ({lost} of {curve.value.size} not finite)" if lost else ""))
    if not value.size:
        return
    first = min(float(step[0]), 0.0) if step[0] > 0 else float(step[0])
    bottom, ceiling = _range(value)
    across, up = (right - LEFT) / max(last - first, 1e-9), (low - high) / (ceiling - bottom)
    for row, (said, at) in enumerate(marks.items()):
        x = LEFT + (min(max(at, first), last) - first) * across
        sheet.line([(x, high), (x, low)], MARKS[said], 1)
        sheet.write((x + 3, high + 2 + 12 * row), f"{said} {at:.0f}")
    pieces = np.split(np.arange(step.size), [int(np.searchsorted(step, marks["break"]))] if "break" in marks else [])
    lines = [(step, value, RAW, 1), *((step[p], smooth(step[p], value[p]), LINE, 2) for p in pieces if p.size)]
    for steps, line, colour, width in lines:
        bins = reduce(steps, line, POINTS)
        sheet.line(
            [(LEFT + (s - first) * across, low - (v - bottom) * up) for s, v in zip(bins.step, bins.mean, strict=True)], colour, width
        )
    sheet.write((LEFT - 4, high), f"{value.max():.3g}", "ra")
    if value.min() < value.max():
        sheet.write((LEFT - 4, low), f"{value.min():.3g}", "rs")
    sheet.write((LEFT, low + 3), f"{first:g}")
    sheet.write((right, low + 3), f"step {last:g}", "ra")


def _range(value: Floats) -> tuple[float, float]:
    """Lowest and highest value shown, a little apart when all are the same."""
    low, high = float(np.clip(value.min(), -1e300, 1e300)), float(np.clip(value.max(), -1e300, 1e300))
    apart = high - low or max(abs(high), 1.0) * 0.1
    return low - 0.04 * apart, high + 0.04 * apart
