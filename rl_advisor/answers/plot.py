"""A few curves as one picture (PNG), for models and people that look rather than read: one panel each, steps from left to right."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.answers.curves import FIRST, named
from rl_advisor.features.bins import reduce, smooth
from rl_advisor.gpu.strip import CELLS, strips
from rl_advisor.output.clean import is_name
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Curve, Floats, Run

if TYPE_CHECKING:
    from rl_advisor.answers.sheet import Sheet

MOST = 6
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, ROW = 720, 150, 66, 14, 24, 20, 34
POINTS = 600
FAINT, LINE, RAW = "#d7dbe0", "#1f5fa8", "#a9c4e4"
PHASES = "gpu/phases"
"""The name under which the GPUs' phases are asked for among curves."""
COLOURS = {"generation": "#7fb3e6", "training": "#e59866", "waiting": FAINT, "other": "#b9a7d6"}


def picture(run: Run, metrics: Sequence[str] = ()) -> bytes:
    """The named curves, or the foremost six, as a PNG; thin what was logged, bold the smoothed line. ``gpu/phases`` stands alone.

    Raises:
        NoSuchChoice: a name that the run does not have; the message names those it has.
    """
    from rl_advisor.answers.sheet import Sheet

    if list(metrics) == [PHASES]:
        return _phases(run)
    curves = [named(run, name) for name in metrics][:MOST] or _foremost(run)
    sheet = Sheet(WIDTH, HEIGHT * max(1, len(curves)))
    for i, curve in enumerate(curves):
        _panel(sheet, curve, i * HEIGHT, f"metric {i + 1}", run.last_step)
    return sheet.png()


def _foremost(run: Run) -> list[Curve]:
    """The curves that most often explain a run, as far as they were logged."""
    return [c for start in FIRST for c in run.curves.values() if c.name.startswith(start)][:MOST]


def _panel(sheet: "Sheet", curve: Curve, top: int, number: str, last: float) -> None:
    """One curve with its name, the ends of both axes and, where values were not finite, how many."""
    step, value = curve.finite()
    lost = curve.value.size - value.size
    title = (curve.name if is_name(curve.name) else number) + (f"   ({lost} of {curve.value.size} not finite)" if lost else "")
    right, high, low = WIDTH - RIGHT, top + TOP, top + HEIGHT - BOTTOM
    sheet.box((LEFT, high), (right, low), outline=FAINT)
    sheet.write((LEFT, top + 5), title)
    if not value.size:
        return
    first = min(float(step[0]), 0.0) if step[0] > 0 else float(step[0])
    bottom, ceiling = _range(value)
    across, up = (right - LEFT) / max(last - first, 1e-9), (low - high) / (ceiling - bottom)
    for line, colour, width in ((value, RAW, 1), (smooth(step, value), LINE, 2)):
        bins = reduce(step, line, POINTS)
        points = [(LEFT + (s - first) * across, low - (v - bottom) * up) for s, v in zip(bins.step, bins.mean, strict=True)]
        sheet.line(points, colour, width)
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


def _phases(run: Run) -> bytes:
    """The phases and the power of each GPU over some steps of the run, and over the average step."""
    from rl_advisor.answers.sheet import INK, Sheet

    found = strips(run)
    if found is None:
        raise UsageError("there is no GPU telemetry here that can be split into phases")
    when = f"over {found.seconds:.3g} s" + (f", from step {found.first_step:g} on" if np.isfinite(found.first_step) else "")
    blocks = [(title, rows) for title, rows in ((when, found.over_time), ("over the average step", found.over_step)) if rows]
    sheet, top = Sheet(WIDTH, TOP + sum(TOP + ROW * len(rows) for _, rows in blocks)), TOP
    for i, (name, colour) in enumerate(COLOURS.items()):
        sheet.box((LEFT + 105 * i, 8), (LEFT + 105 * i + 12, 20), fill=colour)
        sheet.write((LEFT + 105 * i + 17, 8), name)
    sheet.write((LEFT + 105 * len(COLOURS), 8), "line: power" + (f"; {found.more} more GPUs" if found.more else ""))
    cell, high = (WIDTH - LEFT - RIGHT) / CELLS, ROW - 6
    for title, rows in blocks:
        sheet.write((LEFT, top + 6), f"phases and power {title}")
        top += TOP
        most = max((float(np.nanmax(r.power)) for r in rows if np.isfinite(r.power).any()), default=0.0)
        for i, row in enumerate(rows):
            sheet.write((4, top + high / 2 - 6), (f"GPU {row.gpu}" if is_name(row.gpu) else f"GPU no. {i + 1}")[:10])
            for k, phase in enumerate(row.names):
                sheet.box((LEFT + k * cell, top), (LEFT + (k + 1) * cell, top + high), fill=COLOURS.get(phase, "#ffffff"))
            known = np.flatnonzero(np.isfinite(row.power)) if most > 0 else np.empty(0, int)
            sheet.line([(LEFT + (k + 0.5) * cell, top + high * (1 - 0.9 * row.power[k] / most)) for k in known], INK)
            top += ROW
    return sheet.png()
