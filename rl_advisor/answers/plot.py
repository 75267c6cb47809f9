"""A few curves as one picture (PNG), for models and people that look rather than read: one panel each, break and checkpoint through all."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from rl_advisor.answers.curves import foremost, named
from rl_advisor.answers.document.curves import Frame, binned, raw
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.checkpoint import best_checkpoint
from rl_advisor.judgement.verdict import judge
from rl_advisor.output.clean import is_name
from rl_advisor.run import Curve, Run

MOST = 6
FINE = 2
"""How much larger it is drawn before it is shrunk, which makes smooth lines without a plotting library; lengths are in these pixels."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, LETTER = (FINE * n for n in (720, 150, 66, 14, 24, 20, 11))
INK, FAINT, LINE, RAW = "#20242a", "#d7dbe0", "#1f5fa8", "#a9c4e4"
MARKS = {"break": "#c0392b", "keep": "#2e8b57"}
"""What is marked, and its colour."""


def picture(run: Run, metrics: Sequence[str] = ()) -> bytes:
    """The named curves, or the foremost six, as a PNG: thin what was logged, bold the medians of neighbours.

    Raises:
        NoSuchChoice: a name that the run does not have; the message names those it has.
    """
    from PIL import Image, ImageDraw, ImageFont

    curves = [named(run, name) for name in metrics][:MOST] or foremost(run)[:MOST]
    image, marks, file = Image.new("RGB", (WIDTH, HEIGHT * max(1, len(curves))), "white"), marked(run), io.BytesIO()
    pen = ImageDraw.Draw(image)
    pen.font = ImageFont.load_default(LETTER)
    for i, curve in enumerate(curves):
        _panel(pen, curve, i, run.last_step, marks)
    small = image.resize((image.width // FINE, image.height // FINE), Image.Resampling.LANCZOS)
    small.quantize(64).save(file, "PNG", optimize=True)
    return file.getvalue()


def marked(run: Run) -> dict[str, float]:
    """Where the run broke first, and which saved checkpoint to keep, as far as either is known."""
    case = open_case(run)
    judged = judge(case)
    best = best_checkpoint(case, reward_trusted=judged.verdict != "reward_hacking")
    begun = judged.cause.onset if judged.cause is not None else None
    return ({"break": begun.step} if begun is not None else {}) | ({"keep": float(best.step)} if best.path and best.step else {})


def _panel(pen: Any, curve: Curve, number: int, last: float, marks: dict[str, float]) -> None:
    """One curve with the run's own name, the ends of both axes, the marks and, where values were not finite, how many."""
    step, value = curve.finite()
    lost, top = curve.value.size - value.size, number * HEIGHT
    name = next((n for n in (curve.raw, curve.name) if is_name(n)), f"metric {number + 1}")
    right, high, low = WIDTH - RIGHT, top + TOP, top + HEIGHT - BOTTOM
    pen.rectangle((LEFT, high, right, low), fill=None, outline=FAINT, width=FINE)
    pen.text((LEFT, top + LETTER), name + (f"   ({lost} of {curve.value.size} not finite)" if lost else ""), INK, anchor="lm")
    if not value.size:
        return
    first = min(step[0], 0.0)
    frame = Frame.of([curve], (first, max(last, first + 1)))
    for row, (said, begun) in enumerate(marks.items()):
        at = LEFT + (right - LEFT) * float(frame.across(begun))
        pen.line((at, high, at, low), MARKS[said], FINE)
        pen.text((at + LETTER / 2, high + (row + 0.7) * LETTER), f"{said} {begun:.0f}", INK, anchor="lm")
    bins = binned(curve)
    for steps, line, colour, width in ((*raw(curve), RAW, 1), (np.array(bins["x"]), np.array(bins["y"]), LINE, 2)):
        x, y = LEFT + (right - LEFT) * frame.across(steps), low - (low - high) * (0.04 + 0.92 * frame.up(line))
        points = [*zip(x.tolist(), y.tolist(), strict=True)]
        pen.line(points if len(points) != 1 else [points[0], (points[0][0] + 2 * FINE, points[0][1])], colour, width * FINE, joint="curve")
    for said, end in ((f"{frame.high:.3g}", high), (f"{frame.low:.3g}", low))[: 1 + (frame.low < frame.high)]:
        pen.text((LEFT - LETTER / 2, end), said, INK, anchor="rm")
    pen.text((LEFT, low + LETTER), f"{first:g}" + (" (log axis)" if frame.log else ""), INK, anchor="lm")
    pen.text((right, low + LETTER), f"step {last:g}", INK, anchor="rm")
