"""What a training run is once it has been read: curves, rollouts, telemetry, checkpoints, events, and the gaps.

Arrays inside are numpy, tables pandas. ``Run.until(step)`` is the only way to look at an earlier moment: nothing that was
written later is left in what it returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Named = dict[str, Any]
"""Anything under names: settings, a row of a log, an object of JSON."""
Curves = dict[str, "Curve"]

ROLLOUT_COLUMNS = ("step", "prompt", "response", "reward", "advantage", "group", "length", "truncated", "stop")
"""Columns a rollout table may have besides ``reward/<component>`` and ``other/<name>``; ``step`` and ``response`` always.
A column ``turns`` holds a tuple of Turn where the file tells them apart; ``stop`` is the reason that ended the response, as written."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric over steps: three arrays of one length, steps strictly increasing, values possibly NaN."""

    name: str
    """Our name, or the framework's own when no dialect knows it."""
    raw: str
    """The name as the framework wrote it."""
    source: str = field(repr=False)
    """Files it was read from, relative to the run, joined by ``, ``."""
    step: Floats = field(repr=False)
    value: Floats = field(repr=False)
    time: Floats | None = field(default=None, repr=False)
    """Seconds since the epoch at which each point was written, where known."""
    mapped: bool = False
    """Whether a dialect (or the caller) says what it means."""
    guessed: bool = False
    """Whether the meaning was guessed from the name and the numbers."""
    note: str = field(default="", repr=False)
    """What is special about it in this framework: the KL estimator, a window, a proxy."""
    trailing: int = 0
    """Episodes over which each value is a mean: the last so many, so that the curve lags; 0 for one that stands for its own step."""
    spare: str = ""
    """Our name of what it measures, where another curve of the run goes by that name."""

    def points(self, kept: npt.NDArray[Any]) -> Curve:
        """The same curve with some of its points: their places, or a mask."""
        return replace(self, step=self.step[kept], value=self.value[kept], time=None if self.time is None else self.time[kept])

    def until(self, step: float) -> Curve:
        """The same curve without what came after ``step``."""
        return self.points(self.step <= step)

    @property
    def varies(self) -> bool:
        """Whether it has two different numbers."""
        value = self.numbers
        return bool(value.size) and bool(value.min() < value.max())

    @property
    def explained(self) -> bool:
        """Whether its meaning is known: said by a dialect or the caller, or guessed."""
        return self.mapped or self.guessed

    @property
    def numbers(self) -> Floats:
        """The values that are finite."""
        return self.finite()[1]

    def finite(self) -> tuple[Floats, Floats]:
        """Steps and values without NaN and infinity; the curve's own arrays where there is none."""
        keep = np.isfinite(self.value)
        return (self.step, self.value) if keep.all() else (self.step[keep], self.value[keep])


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that exists on disk; ``path`` is relative to the run."""

    step: int
    path: str


@dataclass(frozen=True)
class Event:
    """A line of a log that is no metric: a crash, a warning, a restart. ``text`` is untrusted."""

    kind: str
    """error, non_finite, out_of_memory, overflow (a step skipped for half precision), resume, pause, jump (of the steps) or warning."""
    text: str
    where: str
    step: float | None = None
    line: int = 0
    """The line of the file in which it ends, counted from 1; 0 where that is not known."""


@dataclass(frozen=True)
class Gap:
    """Something that could not be read, or does not fit together: where, and why."""

    where: str
    why: str


@dataclass(frozen=True)
class Guess:
    """Which metric was taken as the outcome of a run where nothing says it, and the next best."""

    name: str
    """Our name, under which the curve goes."""
    raw: str
    """Its name as it was written."""
    runner_up: str = ""
    """The raw name of the next best; '' where nothing else may be one."""
    lower_is_better: bool = False
    p: float = 0.5
    """How likely it is the outcome, by what speaks for it and for the others."""


UNSAID = "steps"
"""The unit of steps where nothing says what they count."""

SURE = 3.0
"""Standard errors between two fifths of a curve from which it moved."""


def _levels(curve: Curve) -> tuple[float, float, float]:
    """Means of the first and last fifth of a curve, and their distance in standard errors; 0 for counters, clocks and short curves."""
    value = curve.numbers
    size = max(3, value.size // 5)
    if value.size < 2 * size or is_straight(value):
        return 0.0, 0.0, 0.0
    first, last = value[:size], value[-size:]
    error = float(np.sqrt((first.var() + last.var()) / size))
    apart = abs(float(last.mean() - first.mean()))
    return float(first.mean()), float(last.mean()), apart / error if error else (SURE if apart else 0.0)


def is_straight(value: Floats) -> bool:
    """Whether the numbers go up by nearly the same all the time, as counters and clocks do."""
    pace = np.diff(value)
    return bool(pace.size and (pace >= 0).all() and pace.std() <= 0.1 * pace.mean())


class _NoTable:
    """An empty table that loads pandas only when more is asked of it than whether it is empty; most runs left no table behind."""

    empty = True
    columns: tuple[str, ...] = ()
    shape = (0, 0)

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __getitem__(self, key: Any) -> Any:
        return self._table()[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._table(), name)

    @staticmethod
    def _table() -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame()


def _no_table() -> pd.DataFrame:
    return cast("pd.DataFrame", _NoTable())


@dataclass(frozen=True, eq=False)
class Run:
    """One training run, or one file's part of it. Formats return parts with raw names; reading joins and translates them."""

    name: str = ""
    curves: Mapping[str, Curve] = field(default_factory=dict, repr=False)
    rollouts: pd.DataFrame = field(default_factory=_no_table, repr=False)
    """One row a response; see ROLLOUT_COLUMNS. ``source`` and ``row`` say where it stands."""
    scores: Mapping[str, float] = field(default_factory=dict, repr=False)
    """What a person thinks of single responses, by their key: see ``samples/person.py``."""
    telemetry: pd.DataFrame = field(default_factory=_no_table, repr=False)
    """One row a GPU and moment: ``time`` in seconds since the epoch and ``gpu`` always, perhaps ``power_w``, ``utilization`` and
    ``memory_activity`` in 0..1, ``memory_gib``, ``memory_total_gib``, ``temperature``, ``sm_clock``."""
    checkpoints: tuple[Checkpoint, ...] = field(default=(), repr=False)
    events: tuple[Event, ...] = field(default=(), repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The framework's configuration, flat, with its own keys."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The part of the configuration that we understand, in our keys."""
    gaps: tuple[Gap, ...] = field(default=(), repr=False)
    ignored: tuple[Gap, ...] = field(default=(), repr=False)
    """Files of which nothing was taken, though nothing is wrong with them: which, and why."""
    frameworks: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    columns: tuple[str, ...] = field(default=(), repr=False)
    """Of a part with responses, the columns as the file names them."""
    files: tuple[str, ...] = field(default=(), repr=False)
    """Files read, relative to the run."""
    planned_steps: int | None = None
    goal: float | None = None
    """The level of the outcome that is enough, as who asks says it."""
    step_unit: str = UNSAID
    place: str = ""
    """Where in the folder it lies, when the folder holds several runs."""
    others: tuple[str, ...] = field(default=(), repr=False)
    """Where the other runs of the folder lie."""
    outcome_guess: Guess | None = field(default=None, repr=False)
    """Which metric was taken as the outcome, where its name alone does not say that it is one."""
    sound: tuple[Run, ...] = field(default=(), repr=False)
    """Earlier sound runs of the same set-up, named by who asks, against which this one is measured."""
    axis: str = "step"
    """What a part's steps are: ``step``, or ``row`` when the file only has an order; after reading always ``step``."""

    @property
    def last_step(self) -> float:
        """The last step at which anything was logged; 0 for an empty run."""
        return max((c.step[-1] for c in self.curves.values() if c.step.size), default=0.0)

    @property
    def first_step(self) -> float:
        """The first step at which anything was logged; 0 for an empty run."""
        return min((c.step[0] for c in self.curves.values() if c.step.size), default=0.0)

    def family(self, prefix: str) -> dict[str, Curve]:
        """The curves whose name starts with ``prefix``, with at least one finite value."""
        return {n: c for n, c in self.curves.items() if n.startswith(prefix) and np.isfinite(c.value).any()}

    def unmapped_moved(self) -> list[tuple[str, float, float]]:
        """Raw names of metrics nobody explained that went somewhere: with their level in the first and in the last fifth, surest first."""
        moved = [(c.raw, *_levels(c)) for c in self.curves.values() if not c.explained]
        found = sorted((row for row in moved if row[3] >= SURE), key=lambda row: -row[3])
        return [(raw, first, last) for raw, first, last, _ in found[:6]]

    def clock(self) -> tuple[Floats, Floats]:
        """Steps and the wall time at which each was first logged, in seconds since the epoch; empty when no file has times."""
        timed = [c for c in self.curves.values() if c.time is not None and c.step.size]
        if not timed:
            return np.empty(0), np.empty(0)
        step = np.concatenate([c.step for c in timed]).astype(np.float64)
        time = np.concatenate([c.time for c in timed if c.time is not None]).astype(np.float64)
        known = np.isfinite(step) & np.isfinite(time)
        order = np.lexsort((time[known], step[known]))
        first, at = np.unique(step[known][order], return_index=True)
        return first, time[known][order][at]

    def frame(self, *, ours: bool = False) -> pd.DataFrame:
        """The curves as a table: one row a step, one column a metric by the name that the run gave it (``ours``: by our name)."""
        import pandas as pd

        times = Counter(c.raw for c in self.curves.values())
        named = {name if ours or times[c.raw] > 1 else c.raw: c for name, c in self.curves.items()}
        columns = {name: pd.Series(c.value, index=c.step).groupby(level=0).last() for name, c in named.items()}
        return pd.DataFrame(columns).rename_axis("step")

    def until(self, step: float) -> Run:
        """The run as it looked at ``step``: no later point, rollout, checkpoint, event or telemetry is left in it."""
        later = len(self.rollouts) and bool((self.rollouts["step"] > step).any())
        if step >= self.last_step and not later and not any(c.step > step for c in self.checkpoints):
            return self
        curves = {n: c.until(step) for n, c in self.curves.items()}
        rollouts = self.rollouts[self.rollouts["step"] <= step] if len(self.rollouts) else self.rollouts
        telemetry, gaps = self._telemetry_until(step)
        return replace(
            self,
            curves={n: c for n, c in curves.items() if c.step.size},
            rollouts=rollouts,
            telemetry=telemetry,
            checkpoints=tuple(c for c in self.checkpoints if c.step <= step),
            events=tuple(e for e in self.events if e.step is not None and e.step <= step),
            gaps=self.gaps + gaps,
        )

    def _telemetry_until(self, step: float) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
        if not len(self.telemetry) or step >= self.last_step:
            return self.telemetry, ()
        steps, times = self.clock()
        known = times[steps <= step]
        if not known.size:
            return self.telemetry.iloc[:0], (
                Gap("telemetry", "no file says at what time a step ended, so telemetry cannot be cut at a step"),
            )
        return self.telemetry[self.telemetry["time"] <= known.max()], ()
