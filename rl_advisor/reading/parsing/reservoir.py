"""A bounded, repeatable sample of the rows of a file that may not fit into memory, with exact totals of every step."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.bytes_in import json_object
from rl_advisor.reading.parsing.columns import raw_curve
from rl_advisor.run import Curve, Gap, Run

if TYPE_CHECKING:
    import pandas as pd

ROWS_PER_STEP = 256
"""Most rows kept of one step when a file is too large to be read whole."""
BYTES = 32 << 20
"""Most bytes kept in all, roughly; beyond it each step keeps fewer, and at one a step not every step has one."""
EXTREMES = 16
"""Rows with the highest and with the lowest reward that are kept besides the sample."""
STEPS = 100_000
"""Most different steps; rows of further ones are counted and left out."""
OVERHEAD = 100
"""Bytes that a row takes besides its own."""
CURVES = ("rollouts/count", "rollouts/reward_mean", "rollouts/response_bytes")
Payload = Any
"""What stands for a row until the table is made: the row itself, or the bytes it will be read from."""


Place = tuple[int, Any, float, float, str]
"""What decides whether a row is kept: its number in the file, step, reward, length in bytes, prompt."""


class Reservoir:
    """Keeps, a step, the rows whose prompt has the smallest hash: responses to one prompt stay together, and every reading is alike."""

    def __init__(self, rows_per_step: int = ROWS_PER_STEP, budget: int = BYTES) -> None:
        """Start empty, with most rows a step and most characters of text in all."""
        self._most, self._budget = rows_per_step, budget
        self._steps: dict[Any, int] = {}
        self._totals = np.zeros((STEPS + 1, 4))
        """Of each step: rows, those with a reward, the sum of the rewards, bytes."""
        self._rows = [np.empty((0, 5))]
        """Number, step, reward, bytes and hash of the rows held."""
        self._payloads: dict[int, Payload] = {}
        self._sample: set[int] = set()
        self._coming = 0.0
        self.seen = self.corrupt = 0

    def offer(self, batch: Sequence[Place], payloads: Sequence[Payload]) -> None:
        """Count the rows of a batch and keep the payloads of those worth it."""
        if not batch:
            return
        numbers, steps, rewards, sizes, prompts = zip(*batch, strict=True)
        self.seen += len(numbers)
        for step in dict.fromkeys(steps):
            if len(self._steps) < STEPS:
                self._steps.setdefault(step, len(self._steps))
        code = np.array([self._steps.get(step, STEPS) for step in steps], np.int64)
        hashes = {prompt: zlib.crc32(prompt.encode("utf-8", "surrogatepass")) for prompt in set(prompts)}
        hashed = np.array([hashes[prompt] for prompt in prompts], np.float64)
        reward, size = np.array(rewards, np.float64), np.array(sizes, np.float64)
        known = np.isfinite(reward)
        np.add.at(self._totals, code, np.column_stack([np.ones(len(code)), known, np.where(known, reward, 0), size]))
        held = [len(kept) if isinstance(kept, bytes) else n + len(prompt) for kept, n, prompt in zip(payloads, sizes, prompts, strict=True)]
        self._payloads |= zip(numbers, payloads, strict=True)
        self._rows.append(np.column_stack([np.array(numbers, np.float64), code, reward, held, hashed]))
        self._coming += sum(held) + OVERHEAD * len(held)
        if self._coming > self._budget:
            self._choose()

    def _choose(self) -> None:
        """Keep of all rows held the sample and the extremes."""
        number, step, reward, size, hashed = np.concatenate(self._rows).T
        order = np.lexsort((number, hashed, step))
        rank = np.empty(number.size)
        rank[order] = np.arange(number.size) - np.searchsorted(step[order], step[order])
        kept = (rank < self._most) & (step < STEPS)
        order = np.lexsort((hashed, rank))
        beyond = order[np.cumsum(size[order] * kept[order]) > self._budget]
        if beyond.size:  # one more of each step is more than there is room for
            kept[beyond] = False
            self._most = max(1, int(rank[beyond[0]]))
        self._sample = set(number[kept].astype(np.int64).tolist())
        known = np.flatnonzero(np.isfinite(reward))
        for way in (1, -1):
            kept[known[np.lexsort((number[known], way * reward[known]))[:EXTREMES]]] = True
        self._rows = [np.column_stack([number, step, reward, size, hashed])[kept]]
        self._payloads = {n: self._payloads[n] for n in number[kept].astype(np.int64).tolist()}
        self._coming = 0.0

    @property
    def sampled(self) -> int:
        """Rows in the sample."""
        return len(self._sample)

    def table(self) -> pd.DataFrame:
        """The kept rows in the order of the file; the index is the row's number.

        When rows were left out, ``sampled`` is False for those that are there for their reward alone.
        """
        import pandas as pd

        self._choose()
        rows = {n: json_object(kept) if isinstance(kept, bytes) else kept for n, kept in sorted(self._payloads.items())}
        table = pd.DataFrame(list(rows.values()), index=np.array(list(rows), dtype=np.int64))
        return table.assign(sampled=[n in self._sample for n in rows]) if self.sampled < self.seen else table

    def curves(self) -> dict[str, Curve]:
        """Count, reward and length of all responses, step by step, when the rows themselves were not all kept."""
        known = sorted((float(s), i) for s, i in self._steps.items() if isinstance(s, (int, float)) and np.isfinite(s))
        steps, at = np.array([s for s, _ in known]), [i for _, i in known]
        if self.sampled == self.seen or not known or np.unique(steps).size < steps.size:
            return {}
        count, rewarded, total, size = self._totals[at].T
        values = (count, np.divide(total, rewarded, out=np.full(len(at), np.nan), where=rewarded > 0), size / count)
        return {name: raw_curve(name, steps, value) for name, value in zip(CURVES, values, strict=True)}

    def beside(self) -> Run:
        """What there is to say beside the rows that were kept."""
        return Run(curves=self.curves(), gaps=self.gaps())

    def gaps(self) -> tuple[Gap, ...]:
        """How many rows were left out and how many could not be read."""
        left = self.seen - self.sampled
        why = f"{left} of {self.seen} responses are not kept as text: at most {self._most} a step, and the {EXTREMES} highest and lowest"
        found = [Gap("", why)] if left else []
        if self.corrupt:
            found.append(Gap("", f"{self.corrupt} rows could not be read and were skipped"))
        return tuple(found)
