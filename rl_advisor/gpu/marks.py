"""Phase markers that a training script sets itself: exact phases, and step ends on a clock, for one line a step on disk.

    phase = Marks("runs/my-run/phases.jsonl")
    with phase("generation"):
        ...

Use the names ``generation, training, sync, checkpoint, waiting``; others are read as far as they are understood. Inside another
marker a marker takes its time from that one. A step ends when the phase that began it comes back, or when ``step_ended`` says so.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Marks:
    """Adds up the seconds of each phase of a step and writes them when the step ends; never ends a training by a fault of the disk."""

    def __init__(self, path: str | Path, *, by_hand: bool = False) -> None:
        """Nothing is written yet; ``path`` ends in ``.jsonl`` and lies in the run's folder. ``by_hand``: only ``step_ended`` ends steps."""
        self._path, self._by_hand = Path(path), by_hand
        self._spent: dict[str, float] = {}
        self._open: list[str] = []
        self._first, self._step = "", 1
        self._begun = self._turned = time.monotonic()

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """The time until the block ends is that phase's, except what markers inside take."""
        if not self._open and phase == self._first and not self._by_hand:
            self.step_ended()
        if not self._spent and not self._open:
            self._first, self._begun = phase, time.monotonic()
        self._turn()
        self._open.append(phase)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        """Book the time since the last change on the innermost open phase."""
        now = time.monotonic()
        if self._open:
            self._spent[self._open[-1]] = self._spent.get(self._open[-1], 0.0) + now - self._turned
        self._turned = now

    def step_ended(self, step: int | None = None) -> None:
        """Write the step, numbered ``step`` or one more than the last."""
        self._turn()
        if not self._spent:
            return
        self._step = step if step is not None else self._step
        line = {"step": self._step, "time": time.time(), "time/step": time.monotonic() - self._begun}
        line |= {f"time/phase/{name}": seconds for name, seconds in self._spent.items()}
        self._spent = {}
        self._step, self._begun = self._step + 1, time.monotonic()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError:
            return
