"""A bounded, repeatable sample of the rows of a file that may not fit into memory, with exact totals of every step."""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rl_advisor.run import Curve, Floats, Gap

if TYPE_CHECKING:
    import pandas as pd

ROWS_PER_STEP = 256
"""Most rows kept of one step when a file is too large to be read whole."""
BYTES = 32 << 20
"""Most bytes kept in all, roughly; beyond it the number a step may keep is halved, and at one a step every other step gives up its own."""
EXTREMES = 16
"""Rows with the highest and with the lowest reward that are kept besides the sample."""
STEPS = 100_000
"""Most different steps; rows of further ones are counted and left out."""
CURVES = ("rollouts/count", "rollouts/reward_mean", "rollouts/reward_min", "rollouts/reward_max", "rollouts/response_bytes")
Ints = npt.NDArray[np.int64]
Payload = Any
"""What stands for a row until the table is made: the row itself, or the bytes it will be read from."""


@dataclass(frozen=True)
class Batch:
    """What decides whether rows are kept, one value a row: number in the file, step, reward, length in bytes, prompt."""

    number: Sequence[int]
    step: Sequence[Any]
    reward: Sequence[float]
    size: Sequence[int]
    prompt: Sequence[str]


class _Step:
    """Totals of one step, and the heap of its kept rows: (-hash of the prompt, -number, size, payload)."""

    __slots__ = ("bytes", "count", "heap", "highest", "lowest", "rewarded", "total")

    def __init__(self) -> None:
        self.count = self.rewarded = self.bytes = 0
        self.total, self.lowest, self.highest = 0.0, inf, -inf
        self.heap: list[tuple[int, int, int, Payload]] = []

    def add(self, reward: Floats, size: Ints) -> None:
        """Count rows."""
        self.count += reward.size
        self.bytes += int(size.sum())
        known = reward[np.isfinite(reward)]
        if known.size:
            self.rewarded += known.size
            self.total += float(known.sum())
            self.lowest, self.highest = min(self.lowest, float(known.min())), max(self.highest, float(known.max()))

    def totals(self) -> tuple[float, ...]:
        """The values of CURVES."""
        if not self.rewarded:
            return self.count, nan, nan, nan, self.bytes / self.count
        return self.count, self.total / self.rewarded, self.lowest, self.highest, self.bytes / self.count


class Reservoir:
    """Keeps, a step, the rows whose prompt has the smallest hash: responses to one prompt stay together, and every reading is alike.

    Rows are offered in batches, so that of most of them nothing but their totals passes through Python one by one.
    """

    def __init__(self, rows_per_step: int = ROWS_PER_STEP, budget: int = BYTES) -> None:
        """Start empty, with most rows a step and most characters of text in all."""
        self._most, self._budget, self._size = rows_per_step, budget, 0
        self._steps: dict[Any, _Step] = {}
        self._high: list[tuple[float, int, Payload]] = []
        self._low: list[tuple[float, int, Payload]] = []
        self.seen = self.corrupt = 0

    def offer(self, batch: Batch, payloads: Callable[[list[int]], Sequence[Payload]]) -> None:
        """Count the rows of a batch and keep those worth it; ``payloads`` is asked once, for the places in the batch of all of them."""
        self.seen += len(batch.number)
        number, reward = np.array(batch.number, np.int64), np.array(batch.reward, np.float64)
        size, hashes = np.array(batch.size, np.int64), {prompt: _hash(prompt) for prompt in set(batch.prompt)}
        hashed = np.fromiter(map(hashes.__getitem__, batch.prompt), np.int64, number.size)
        wanted = self._extreme(number, reward)
        for step, rows in _by_step(batch.step):
            state = self._steps.get(step)
            if state is None:
                if len(self._steps) >= STEPS:
                    wanted[rows] = False
                    continue
                state = self._steps[step] = _Step()
            state.add(reward[rows], size[rows])
            wanted[rows] |= self._samples(state, number[rows], hashed[rows])
        picked = np.flatnonzero(wanted).tolist()
        for i, payload in zip(picked, payloads(picked) if picked else (), strict=True):
            self._keep(batch, i, int(hashed[i]), payload)

    def _keep(self, batch: Batch, i: int, hashed: int, payload: Payload) -> None:
        """Take a row that is wanted if it still is; it may push out another."""
        number, reward = batch.number[i], batch.reward[i]
        state = self._steps[batch.step[i]]
        size = len(payload) if isinstance(payload, bytes) else int(batch.size[i]) + len(batch.prompt[i])
        item = (-hashed, -number, size, payload)
        if len(state.heap) < self._most or item[:2] > state.heap[0][:2]:
            if len(state.heap) >= self._most:
                self._size -= heapq.heappop(state.heap)[2]
            heapq.heappush(state.heap, item)
            self._size += item[2]
            while self._size > self._budget:
                self._halve()
        if isfinite(reward):
            for heap, value in ((self._high, reward), (self._low, -reward)):
                if len(heap) < EXTREMES or (value, -number) > heap[0][:2]:
                    (heapq.heappush if len(heap) < EXTREMES else heapq.heappushpop)(heap, (value, -number, payload))

    def _samples(self, state: _Step, number: Ints, hashed: Ints) -> npt.NDArray[np.bool_]:
        """Which rows of one step come before the last of those that are kept, and are not too many by themselves."""
        found = np.ones(number.size, bool)
        if len(state.heap) >= self._most:
            last, place = -state.heap[0][0], -state.heap[0][1]
            found = (hashed < last) | ((hashed == last) & (number < place))
        if np.count_nonzero(found) > self._most:
            rows = np.flatnonzero(found)
            found[rows[np.lexsort((number[rows], hashed[rows]))[self._most :]]] = False
        return found

    def _extreme(self, number: Ints, reward: Floats) -> npt.NDArray[np.bool_]:
        """Which rows have a reward among the highest or lowest."""
        found = np.zeros(number.size, bool)
        for heap, value in ((self._high, reward), (self._low, -reward)):
            if len(heap) < EXTREMES:
                return np.isfinite(reward)
            least, place = heap[0][0], -heap[0][1]
            found |= (value > least) | ((value == least) & (number < place))
        return found & np.isfinite(reward)

    def _halve(self) -> None:
        """Half as many rows a step; where that is one, none of every other step."""
        held = [state for state in self._steps.values() if state.heap]
        most, thinned = (self._most // 2, held) if self._most > 1 else (0, held[::2])
        self._most = max(1, most)
        for state in thinned:
            while len(state.heap) > most:
                self._size -= heapq.heappop(state.heap)[2]

    @property
    def sampled(self) -> int:
        """Rows in the sample."""
        return sum(len(state.heap) for state in self._steps.values())

    def table(self, decode: Callable[[Payload], dict[str, Any] | None] = lambda row: row) -> pd.DataFrame:
        """The kept rows in the order of the file; the index is the row's number.

        ``decode`` makes a row of what was kept; None counts as corrupt. When rows were left out, ``sampled`` is False for those that are
        there for their reward alone.
        """
        import pandas as pd

        sample = {-number: row for state in self._steps.values() for _, number, _, row in state.heap}
        partial = len(sample) < self.seen
        others = {-number: row for heap in (self._high, self._low) for _, number, row in heap} if partial else {}
        decoded = {n: row for n, kept in sorted({**others, **sample}.items()) if (row := decode(kept)) is not None}
        self.corrupt += len({**others, **sample}) - len(decoded)
        table = pd.DataFrame(list(decoded.values()), index=np.array(list(decoded), dtype=np.int64))
        return table.assign(sampled=[n in sample for n in decoded]) if partial else table

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


def _by_step(steps: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each step of a batch with its rows: a slice when all are of one."""
    if steps and steps.count(steps[0]) == len(steps):
        return [(steps[0], slice(None))]
    places: dict[Any, list[int]] = {}
    for i, step in enumerate(steps):
        places.setdefault(step, []).append(i)
    return [(step, np.array(rows, np.int64)) for step, rows in places.items()]


def _hash(prompt: str) -> int:
    return zlib.crc32(prompt.encode("utf-8", "surrogatepass"))
