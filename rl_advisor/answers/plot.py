"""A few curves as one picture (PNG), for models and people that look rather than read: one panel each, steps from left to right."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.answers.curves import FIRST, named
from rl_advisor.answers.gpu_plot import PHASES, phase_picture
from rl_advisor.features.bins import reduce, smooth
from rl_advisor.output.clean import is_name
from rl_advisor.run import Curve, Floats, Run

if TYPE_CHECKING:
    from PIL import ImageDraw

MOST = 6
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 150, 66, 14, 24, 20
FINE = 2
"""How much larger it is drawn before it is shrunk: smooth lines without a plotting library."""
POINTS = 600
INK, FAINT, LINE, RAW = "#20242a", "#d7dbe0", "#1f5fa8", "#a9c4e4"


def picture(run: Run, metrics: Sequence[str] = ()) -> bytes:
    """The named curves, or the foremost six, as a PNG; thin what was logged, bold the smoothed line. ``gpu/phases`` stands alone.

    Raises:
        NoSuchChoice: a name that the run does not have; the message names those it has.
    """
    from PIL import Image, ImageDraw

    if list(metrics) == [PHASES]:
        return phase_picture(run)
    curves = [named(run, name) for name in metrics][:MOST] or _foremost(run)
    image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE * max(1, len(curves))), "white")
    pen = ImageDraw.Draw(image)
    for i, curve in enumerate(curves):
        _panel(pen, curve, i * HEIGHT * FINE, f"metric {i + 1}", run.last_step)
    file = io.BytesIO()
    small = image.resize((WIDTH, image.height // FINE), Image.Resampling.LANCZOS)
    small.quantize(64).save(file, "PNG", optimize=True)
    return file.getvalue()


def _foremost(run: Run) -> list[Curve]:
    """The curves that most often explain a run, as far as they were logged."""
    return [c for start in FIRST for c in run.curves.values() if c.name.startswith(start)][:MOST]


def _panel(pen: "ImageDraw.ImageDraw", curve: Curve, top: int, number: str, last: float) -> None:
    """One curve with its name, the ends of both axes and, where values were not finite, how many."""
    step, value = curve.finite()
    lost = curve.value.size - value.size
    title = (curve.name if is_name(curve.name) else number) + (f"   ({lost} of {curve.value.size} not finite)" if lost else "")
    left, right, high, low = LEFT * FINE, (WIDTH - RIGHT) * FINE, top + TOP * FINE, top + (HEIGHT - BOTTOM) * FINE
    pen.rectangle((left, high, right, low), outline=FAINT, width=FINE)
    _write(pen, left, top + 5 * FINE, title)
    if not value.size:
        return
    first = min(float(step[0]), 0.0) if step[0] > 0 else float(step[0])
    bottom, ceiling = _range(value)
    across = (right - left) / max(last - first, 1e-9)
    up = (low - high) / (ceiling - bottom)
    for line, colour, width in ((value, RAW, FINE), (smooth(step, value), LINE, 2 * FINE)):
        bins = reduce(step, line, POINTS)
        points = [(left + (s - first) * across, low - (v - bottom) * up) for s, v in zip(bins.step, bins.mean, strict=True)]
        if len(points) > 1:
            pen.line(points, fill=colour, width=width, joint="curve")
        else:
            pen.ellipse((points[0][0] - 4, points[0][1] - 4, points[0][0] + 4, points[0][1] + 4), fill=colour)
    _write(pen, left - 4 * FINE, high, f"{value.max():.3g}", "ra")
    if value.min() < value.max():
        _write(pen, left - 4 * FINE, low, f"{value.min():.3g}", "rs")
    _write(pen, left, low + 3 * FINE, f"{first:g}")
    _write(pen, right, low + 3 * FINE, f"step {last:g}", "ra")


def _range(value: Floats) -> tuple[float, float]:
    """Lowest and highest value shown, a little apart when all are the same."""
    low, high = float(np.clip(value.min(), -1e300, 1e300)), float(np.clip(value.max(), -1e300, 1e300))
    apart = high - low or max(abs(high), 1.0) * 0.1
    return low - 0.04 * apart, high + 0.04 * apart


def _write(pen: "ImageDraw.ImageDraw", x: float, y: float, text: str, anchor: str = "la") -> None:
    from PIL import ImageFont

    pen.text((x, y), text, fill=INK, font=ImageFont.load_default(11 * FINE), anchor=anchor)
