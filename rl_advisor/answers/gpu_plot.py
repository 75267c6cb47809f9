"""The phases of each GPU as a picture (PNG): over some steps of the run, and over the average step."""

import io
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.gpu.strip import CELLS, Strip, strips
from rl_advisor.output.clean import is_name
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

if TYPE_CHECKING:
    from PIL import ImageDraw

PHASES = "gpu/phases"
"""The name under which the picture is asked for among curves."""
FINE, WIDTH, LEFT, ROW, HEAD = 2, 720, 66, 34, 26
COLOURS = {"generation": "#7fb3e6", "training": "#e59866", "waiting": "#d7dbe0", "other": "#b9a7d6", "": "#ffffff"}
INK, LINE = "#20242a", "#20242a"


def phase_picture(run: Run) -> bytes:
    """The strips as a PNG.

    Raises:
        NoSuchChoice: there is no telemetry that can be split into phases.
    """
    from PIL import Image, ImageDraw

    found = strips(run)
    if found is None:
        raise UsageError("there is no GPU telemetry here that can be split into phases")
    when = f"over {found.seconds:.3g} s" + (f", from step {found.first_step:g} on" if np.isfinite(found.first_step) else "")
    blocks = [(when, found.over_time), ("over the average step", found.over_step)]
    high = sum(HEAD + ROW * len(rows) for _, rows in blocks if rows) + HEAD
    image = Image.new("RGB", (WIDTH * FINE, high * FINE), "white")
    pen = ImageDraw.Draw(image)
    top = HEAD
    _legend(pen, found.more)
    for title, rows in blocks:
        if not rows:
            continue
        _write(pen, LEFT, top + 6, f"phases and power {title}")
        most = max((float(np.nanmax(r.power)) for r in rows if np.isfinite(r.power).any()), default=0.0)
        for i, row in enumerate(rows):
            _row(pen, row, top + HEAD + i * ROW, most, f"GPU {row.gpu}" if is_name(row.gpu) else f"GPU no. {i + 1}")
        top += HEAD + ROW * len(rows)
    file = io.BytesIO()
    image.resize((WIDTH, high), Image.Resampling.LANCZOS).quantize(64).save(file, "PNG", optimize=True)
    return file.getvalue()


def _legend(pen: "ImageDraw.ImageDraw", more: int) -> None:
    x = LEFT
    for name, colour in list(COLOURS.items())[:4]:
        pen.rectangle((x * FINE, 8 * FINE, (x + 12) * FINE, 20 * FINE), fill=colour)
        _write(pen, x + 17, 8, name)
        x += 105
    _write(pen, x, 8, "line: power" + (f"; {more} more GPUs" if more else ""))


def _row(pen: "ImageDraw.ImageDraw", row: Strip, top: int, most: float, name: str) -> None:
    """One GPU's cells, and its power as a line."""
    cell, high = (WIDTH - LEFT - 10) / CELLS, ROW - 6
    _write(pen, 4, top + high / 2 - 6, name[:10])
    for i, phase in enumerate(row.names):
        box = ((LEFT + i * cell) * FINE, top * FINE, (LEFT + (i + 1) * cell) * FINE, (top + high) * FINE)
        pen.rectangle(box, fill=COLOURS[phase])
    if most > 0:
        known = np.flatnonzero(np.isfinite(row.power))
        line = [((LEFT + (i + 0.5) * cell) * FINE, (top + high * (1 - 0.9 * row.power[i] / most)) * FINE) for i in known]
        if len(line) > 1:
            pen.line(line, fill=LINE, width=FINE, joint="curve")


def _write(pen: "ImageDraw.ImageDraw", x: float, y: float, words: str) -> None:
    from PIL import ImageFont

    pen.text((x * FINE, y * FINE), words, fill=INK, font=ImageFont.load_default(11 * FINE))
