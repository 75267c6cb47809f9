"""A bounded, repeatable sample of the rows of a file that may not fit into memory."""

import heapq
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.run import Gap

ROWS_PER_STEP = 256
"""Most rows kept of one step when a file is too large to be read whole."""
BYTES = 64 << 20
"""Most text kept in all, roughly; beyond it the share a step may keep is halved."""
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class Reservoir:
    """Keeps, a step, the rows whose number has the smallest hash: the same rows at every reading, whatever the order of the steps."""

    def __init__(self, rows_per_step: int = ROWS_PER_STEP, budget: int = BYTES) -> None:
        """Start empty, with most rows a step and most bytes of text in all."""
        self._most, self._budget, self._bytes = rows_per_step, budget, 0
        self._kept: dict[Any, list[tuple[int, int, int, dict[str, Any]]]] = {}
        self.seen: Counter[Any] = Counter()
        self.corrupt = 0

    def wants(self, number: int, step: Any) -> bool:
        """Whether ``add`` would keep the row; asked before an expensive decoding."""
        heap = self._kept.get(step, [])
        return len(heap) < self._most or -_hash(number) > heap[0][0]

    def add(self, number: int, step: Any, row: dict[str, Any]) -> None:
        """Offer the row with that number; it may push out another of its step."""
        step = step if isinstance(step, (int, float, str)) else None
        self.seen[step] += 1
        heap = self._kept.setdefault(step, [])
        size = sum(len(v) for v in row.values() if isinstance(v, (str, list)))
        item = (-_hash(number), number, size, row)
        if len(heap) < self._most:
            heapq.heappush(heap, item)
            self._bytes += size
        elif item[0] > heap[0][0]:
            self._bytes += size - heapq.heapreplace(heap, item)[2]
        if self._bytes > self._budget and self._most > 1:
            self._halve()

    def _halve(self) -> None:
        self._most //= 2
        for heap in self._kept.values():
            while len(heap) > self._most:
                self._bytes -= heapq.heappop(heap)[2]

    def table(self) -> pd.DataFrame:
        """The kept rows in the order of the file; the index is the row's number."""
        rows = sorted((number, row) for heap in self._kept.values() for _, number, _, row in heap)
        return pd.DataFrame([row for _, row in rows], index=np.array([number for number, _ in rows], dtype=np.int64))

    def gaps(self, where: str) -> tuple[Gap, ...]:
        """How many rows were left out and how many could not be read."""
        total, kept = self.seen.total(), sum(len(h) for h in self._kept.values())
        found = []
        if kept < total:
            found.append(Gap(where, f"{total - kept} of {total} responses were left out: at most {self._most} a step were kept"))
        if self.corrupt:
            found.append(Gap(where, f"{self.corrupt} rows could not be read and were skipped"))
        return tuple(found)


def _hash(number: int) -> int:
    return (number + 1) * _GOLDEN & _MASK
