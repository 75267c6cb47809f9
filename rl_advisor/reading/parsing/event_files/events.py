"""What an event file holds: points and texts by tag, in the order of writing, and what could not be read."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Piece = tuple[Floats, Floats, Floats]
"""Steps, values and wall times."""
MAX_TEXT = 1 << 20
MAX_TEXTS = 2_000
MAX_HOLES = 1_000


@dataclass
class Events:
    """What an event file holds."""

    pieces: dict[str, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """At most MAX_TEXTS in all, each cut at MAX_TEXT."""
    holes: list[tuple[int, int, str]] = field(default_factory=list)
    """(first byte, byte behind the last, why) of what could not be read."""
    kept_texts: int = 0

    def add_text(self, tag: str, text: bytes) -> None:
        """Append a text, up to the bounds."""
        if self.kept_texts < MAX_TEXTS:
            self.kept_texts += 1
            self.texts[tag].append(text[:MAX_TEXT].decode("utf-8", "replace"))

    def add_hole(self, start: int, end: int, why: str) -> None:
        """Append a stretch that could not be read; neighbours become one."""
        if self.holes and self.holes[-1][1] == start and self.holes[-1][2] == why:
            start = self.holes.pop()[0]
        if len(self.holes) < MAX_HOLES:
            self.holes.append((start, end, why))

    def scalars(self) -> dict[str, Piece]:
        """Take the steps, values and wall times of every tag out, each in the order of writing."""
        joined = {}
        while self.pieces:
            tag, pieces = self.pieces.popitem()
            joined[tag] = pieces[0] if len(pieces) == 1 else tuple(np.concatenate(column) for column in zip(*pieces, strict=True))
        return dict(reversed(joined.items()))  # type: ignore[arg-type]
