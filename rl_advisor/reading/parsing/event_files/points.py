"""Where decoded points are gathered: arrays a tag, in the order of writing, with as little copying as possible."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Piece = tuple[Floats, Floats, Floats]
MAX_TEXT = 1 << 20
MAX_TEXTS = 2_000
MAX_HOLES = 1_000


@dataclass
class Table:
    """Points of tags that are always logged together: one row a tag, one column a step; room for more is not touched yet."""

    tags: tuple[str, ...]
    step: Floats
    value: Floats
    time: Floats
    used: int = 0

    @classmethod
    def with_room(cls, tags: tuple[str, ...], steps: int) -> "Table":
        """Return an empty table for that many steps; memory is taken as it fills."""
        return cls(tags, np.empty(steps), np.empty((len(tags), steps)), np.empty((len(tags), steps)))

    def room(self) -> int:
        """Return how many steps it still takes."""
        return self.step.size - self.used

    def add(self, step: Floats, value: Floats, time: Floats) -> None:
        """Append steps (n,) with values and times (tags, n)."""
        end = self.used + step.size
        self.step[self.used : end], self.value[:, self.used : end], self.time[:, self.used : end] = step, value, time
        self.used = end

    def pieces(self) -> Iterable[tuple[str, Piece]]:
        """Yield the points of every tag; views where most of the room is used, else copies so that the room is freed."""
        n = self.used
        step, value, time = self.step[:n], self.value[:, :n], self.time[:, :n]
        if n * 2 < self.step.size:
            step, value, time = step.copy(), value.copy(), time.copy()
        for k, tag in enumerate(self.tags):
            yield tag, (step, value[k], time[k])


@dataclass
class Events:
    """What an event file holds."""

    pieces: dict[str, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """Tag -> (step, text), at most MAX_TEXTS in all, each cut at MAX_TEXT."""
    holes: list[tuple[int, int, str]] = field(default_factory=list)
    """(first byte, byte behind the last, why) of what could not be read."""
    kept_texts: int = 0
    table: Table | None = None

    def open_table(self, tags: tuple[str, ...], steps: int) -> Table:
        """Return the table that is being filled when it is of these tags, else a new one with room for that many steps."""
        if self.table is None or self.table.tags != tags or not self.table.room():
            self.close_table()
            self.table = Table.with_room(tags, max(steps, 1))
        return self.table

    def close_table(self) -> None:
        """Keep what the open table holds, so that other points can follow in order."""
        if self.table is not None and self.table.used:
            for tag, piece in self.table.pieces():
                self.pieces[tag].append(piece)
        self.table = None

    def add_piece(self, tag: str, piece: Piece) -> None:
        """Append points of one tag."""
        self.close_table()
        self.pieces[tag].append(piece)

    def add_text(self, tag: str, step: int, text: bytes) -> None:
        """Append a text, up to the bounds."""
        if self.kept_texts < MAX_TEXTS:
            self.kept_texts += 1
            self.texts[tag].append((step, text[:MAX_TEXT].decode("utf-8", "replace")))

    def add_hole(self, start: int, end: int, why: str) -> None:
        """Append a stretch that could not be read; neighbours become one."""
        if self.holes and self.holes[-1][1] == start and self.holes[-1][2] == why:
            start = self.holes.pop()[0]
        if len(self.holes) < MAX_HOLES:
            self.holes.append((start, end, why))

    def scalars(self) -> dict[str, Piece]:
        """Take the steps, values and wall times of every tag out, each in the order of writing."""
        self.close_table()
        joined = {}
        while self.pieces:
            tag, pieces = self.pieces.popitem()
            joined[tag] = pieces[0] if len(pieces) == 1 else tuple(np.concatenate(column) for column in zip(*pieces, strict=True))
        return dict(reversed(joined.items()))  # type: ignore[arg-type]
