"""A sheet to draw on, saved as a PNG: drawn larger than it is shown, which makes smooth lines without a plotting library."""

import io
from collections.abc import Sequence

FINE = 2
"""How much larger it is drawn before it is shrunk."""
INK = "#20242a"
Point = tuple[float, float]


class Sheet:
    """White paper of so many pixels."""

    def __init__(self, width: int, height: int) -> None:
        """Empty."""
        from PIL import Image, ImageDraw, ImageFont

        self._shrink = Image.Resampling.LANCZOS
        self._image = Image.new("RGB", (width * FINE, height * FINE), "white")
        self._pen = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default(11 * FINE)

    def box(self, low: Point, high: Point, *, fill: str | None = None, outline: str | None = None) -> None:
        """A rectangle."""
        self._pen.rectangle(_scaled((low, high)), fill=fill, outline=outline, width=FINE)

    def line(self, points: Sequence[Point], colour: str, width: float = 1) -> None:
        """A line through points; a dot for a single one."""
        if len(points) > 1:
            self._pen.line(_scaled(points), fill=colour, width=round(width * FINE), joint="curve")
        for x, y in points if len(points) == 1 else ():
            self._pen.ellipse(_scaled(((x - 2, y - 2), (x + 2, y + 2))), fill=colour)

    def write(self, at: Point, words: str, anchor: str = "la") -> None:
        """Words at a place."""
        self._pen.text(_scaled((at,))[0], words, fill=INK, font=self._font, anchor=anchor)

    def png(self) -> bytes:
        """The sheet as a file."""
        file = io.BytesIO()
        small = self._image.resize((self._image.width // FINE, self._image.height // FINE), self._shrink)
        small.quantize(64).save(file, "PNG", optimize=True)
        return file.getvalue()


def _scaled(points: Sequence[Point]) -> list[Point]:
    return [(x * FINE, y * FINE) for x, y in points]
