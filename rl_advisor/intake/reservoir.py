"""A bounded, repeatable sample of the rows of a file that may not fit into memory, with exact totals of every step."""

import heapq
import zlib
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.run import Curve, Gap

ROWS_PER_STEP = 256
"""Most rows kept of one step when a file is too large to be read whole."""
BYTES = 32 << 20
"""Most text kept in all, roughly; beyond it the number a step may keep is halved."""
EXTREMES = 16
"""Rows with the highest and with the lowest reward that are kept besides the sample."""
STEPS = 100_000
"""Most different steps; rows of further ones are counted and left out."""
CURVES = ("rollouts/count", "rollouts/reward_mean", "rollouts/reward_min", "rollouts/reward_max", "rollouts/response_bytes")
_Row = dict[str, Any]
Place = tuple[int, Any, float, int, str]
"""A row's number, step, reward, length in bytes and prompt."""


class _Step:
    """Totals of one step, and the heap of its kept rows: (-hash of the prompt, -number, size, row)."""

    __slots__ = ("bytes", "count", "heap", "highest", "lowest", "rewarded", "total")

    def __init__(self) -> None:
        self.count = self.rewarded = self.bytes = 0
        self.total, self.lowest, self.highest = 0.0, inf, -inf
        self.heap: list[tuple[int, int, int, _Row]] = []

    def totals(self) -> tuple[float, ...]:
        """The values of CURVES."""
        if not self.rewarded:
            return self.count, nan, nan, nan, self.bytes / self.count
        return self.count, self.total / self.rewarded, self.lowest, self.highest, self.bytes / self.count


class Reservoir:
    """Keeps, a step, the rows whose prompt has the smallest hash: responses to one prompt stay together, and every reading is alike."""

    def __init__(self, rows_per_step: int = ROWS_PER_STEP, budget: int = BYTES) -> None:
        """Start empty, with most rows a step and most characters of text in all."""
        self._most, self._budget, self._size = rows_per_step, budget, 0
        self._steps: dict[Any, _Step] = {}
        self._high: list[tuple[float, int, _Row]] = []
        self._low: list[tuple[float, int, _Row]] = []
        self.seen = self.corrupt = 0

    def offer(self, place: Place) -> bool:
        """Count a row; whether it should be handed to ``keep``."""
        number, step, reward, size, prompt = place
        self.seen += 1
        state = self._steps.get(step)
        if state is None:
            if len(self._steps) >= STEPS:
                return False
            state = self._steps[step] = _Step()
        state.count += 1
        state.bytes += size
        if isfinite(reward):
            state.rewarded += 1
            state.total += reward
            state.lowest, state.highest = min(state.lowest, reward), max(state.highest, reward)
        return self._samples(state, number, prompt) or self._is_extreme(number, reward)

    def keep(self, place: Place, row: _Row) -> None:
        """Take a row that ``offer`` asked for; it may push out another."""
        number, step, reward, size, prompt = place
        state = self._steps[step]
        if self._samples(state, number, prompt):
            item = (-_hash(prompt), -number, size + len(prompt), row)
            if len(state.heap) >= self._most:
                self._size -= heapq.heappop(state.heap)[2]
            heapq.heappush(state.heap, item)
            self._size += item[2]
            while self._size > self._budget and self._most > 1:
                self._halve()
        if self._is_extreme(number, reward):
            for heap, value in ((self._high, reward), (self._low, -reward)):
                push = heapq.heappush if len(heap) < EXTREMES else heapq.heappushpop
                push(heap, (value, -number, row))

    def _samples(self, state: _Step, number: int, prompt: str) -> bool:
        return len(state.heap) < self._most or (-_hash(prompt), -number) > state.heap[0][:2]

    def _is_extreme(self, number: int, reward: float) -> bool:
        if not isfinite(reward):
            return False
        return len(self._high) < EXTREMES or (reward, -number) > self._high[0][:2] or (-reward, -number) > self._low[0][:2]

    def _halve(self) -> None:
        self._most //= 2
        for state in self._steps.values():
            while len(state.heap) > self._most:
                self._size -= heapq.heappop(state.heap)[2]

    @property
    def sampled(self) -> int:
        """Rows in the sample."""
        return sum(len(state.heap) for state in self._steps.values())

    def table(self) -> pd.DataFrame:
        """The kept rows in the order of the file; the index is the row's number.

        When rows were left out, ``sampled`` is False for those that are there for their reward alone.
        """
        sample = {-number: row for state in self._steps.values() for _, number, _, row in state.heap}
        partial = len(sample) < self.seen
        others = {-number: row for heap in (self._high, self._low) for _, number, row in heap} if partial else {}
        rows = {**others, **sample}
        order = sorted(rows)
        table = pd.DataFrame([rows[n] for n in order], index=np.array(order, dtype=np.int64))
        return table.assign(sampled=[n in sample for n in order]) if partial else table

    def curves(self, source: str) -> dict[str, Curve]:
        """Count, reward and length of all responses, step by step, when the rows themselves were not all kept."""
        known = sorted((float(s), t.totals()) for s, t in self._steps.items() if isinstance(s, (int, float)) and isfinite(s))
        steps = np.array([s for s, _ in known])
        if self.sampled == self.seen or not known or np.unique(steps).size < steps.size:
            return {}
        return {name: Curve(name, name, source, steps, np.array([t[i] for _, t in known])) for i, name in enumerate(CURVES)}

    def gaps(self, where: str) -> tuple[Gap, ...]:
        """How many rows were left out and how many could not be read."""
        left = self.seen - self.sampled
        why = f"{left} of {self.seen} responses are not kept as text: at most {self._most} a step, and the {EXTREMES} highest and lowest"
        found = [Gap(where, why)] if left else []
        if self.corrupt:
            found.append(Gap(where, f"{self.corrupt} rows could not be read and were skipped"))
        return tuple(found)


def _hash(prompt: str) -> int:
    return zlib.crc32(prompt.encode("utf-8", "surrogatepass"))
