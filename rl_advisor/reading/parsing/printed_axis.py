"""The count by which printed lines go: which one it is, whether it stands before or behind what belongs to it, and the runs it parts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.learner_words import speaks
from rl_advisor.reading.parsing.line_forms import Family, Places
from rl_advisor.reading.parsing.line_shapes import Shapes
from rl_advisor.reading.parsing.metric_table import STEP_COLUMNS, TOLD, column_key, goes_up, parts, unit_of
from rl_advisor.reading.parsing.slot_names import BARE
from rl_advisor.reading.parsing.starts import starts, steady
from rl_advisor.run import Floats

FEWEST = 3
"""Lines in which a name must come back."""
FEWEST_ROWS = 2
"""Rows of a table."""
Names = Sequence[str] | npt.NDArray[np.object_]
"""The run that each entry is of; nothing where there is one."""
MOST_RUNS = 200
MOST_TURNS = 20


@dataclass
class Axis:
    """The count that the lines belong to: the records that say it, its value there, the run that is of, and the how-manyth value it is."""

    name: str
    record: Places
    step: Floats
    run: Places
    turn: Places
    runs: tuple[str, ...] = ()
    last: bool = False
    """Whether the count closes what belongs to it."""
    inner: bool = False
    """Whether the runs are told apart only by the count's starting anew."""
    planned: int | None = None

    @property
    def length(self) -> int:
        """How many values it takes, one after the other."""
        return int(self.turn[-1]) + 1

    @property
    def sizes(self) -> dict[str, int]:
        """How many entries each run has: in the order written where they are starts, else the largest first."""
        sizes = Counter(self.run.tolist())
        return {self.runs[run]: size for run, size in (sorted(sizes.items()) if self.inner else sizes.most_common()) if self.runs}

    def step_at(self, record: float | None) -> float | None:
        """The step that was the last before a record; the first for what came before it."""
        at = np.searchsorted(self.record, -1 if record is None else record, "right") - 1
        return None if record is None else float(self.step[max(int(at), 0)])

    def places(self, record: Places) -> Places:
        """Which entry each record belongs to, -1 for none."""
        at = np.searchsorted(self.record, record, "left" if self.last else "right") - (not self.last)
        return np.where(at < self.record.size, at, -1)


def said_in(found: Sequence[Family], size: int) -> npt.NDArray[np.int64]:
    """How many lines each of so many records has."""
    return np.bincount(np.concatenate([np.empty(0, np.int64), *(lines.record for lines in found)]), minlength=size)


def by_order(found: Sequence[Family], *, anybodys: bool = False) -> Axis | None:
    """The order of the lines as their axis, where no count stands anywhere: that of the longest family that tells of an outcome."""
    telling = [lines for lines in found if anybodys or sum(speaks(name) for name in lines.names) >= 2]
    boxes = np.flatnonzero(said_in([lines for lines in found if lines.tells], 0) >= FEWEST)
    record = max(telling, key=lambda lines: lines.record.size).record if telling else boxes
    size = record.size
    return Axis("", record, np.arange(1.0, size + 1), np.zeros(size, np.int64), np.arange(size)) if size else None


def axis_of(found: Sequence[Family], shapes: Shapes) -> Axis | None:
    """The count by which the lines go: one that stands on the lines of the outcome and has a value for most of them."""
    own = {name: [lines for lines in found if name in lines.counted] for name in sorted(set().union(*(lines.counted for lines in found)))}
    known = {name: axis for name in own if (axis := _entries(name, own[name], shapes)) is not None} or _rising(found, shapes)
    plain = [axis for axis in known.values() if not axis.inner]
    longest = max((lines for lines in found if lines.tells), key=lambda lines: lines.record.size, default=None)
    for name, axis in [item for item in known.items() if item[1].inner]:
        if outer := [unit_of(other.name) for other in plain if _outer(axis, other)]:
            del known[name]
            if longest and name in longest.names and "episodes" not in outer:
                known[name] = _going_on(axis)
    if not known:
        return None
    told = said_in([lines for lines in found if lines.tells], shapes.record + 1)
    near = {name: bool(told[axis.record].any()) for name, axis in known.items()}
    most = max(axis.length for name, axis in known.items() if near[name] or not any(near.values()))
    best = min(known, key=lambda name: (not near[name], known[name].length * 3 < most, _rank(name)))
    return _placed(known[best], found)


def _rising(found: Sequence[Family], shapes: Shapes) -> dict[str, Axis]:
    """Where no name says that it counts: what goes up at one pace in most of the longest lines, the leftmost of them."""
    longest = max(found, key=lambda lines: lines.record.size, default=None)
    for name in longest.names if longest else ():
        if not speaks(name) and steady(longest.called(name)) and (axis := _entries(name, [longest], shapes)):  # type: ignore[union-attr, list-item]
            return {name: axis}
    return {}


def _outer(inner: Axis, other: Axis) -> bool:
    """Whether one count starts anew because another goes on, as steps do in epochs."""
    starts = inner.record[np.flatnonzero(np.diff(inner.run)) + 1]
    ends = inner.record[np.flatnonzero(np.diff(inner.run))]
    return bool((np.searchsorted(other.record, starts, "right") > np.searchsorted(other.record, ends, "right")).mean() > 0.8)


def _going_on(inner: Axis) -> Axis:
    """A count that starts anew inside another one, as steps do in epochs, as the order of its entries."""
    return replace(
        inner, name="", step=np.arange(1.0, inner.length + 1)[inner.turn], run=np.zeros_like(inner.run), runs=(), inner=False, planned=None
    )


def _rank(name: str) -> int:
    """How good an axis a count of that name is: by the order of the known ones, lengths of episodes and nameless counts last."""
    plain = column_key(name)
    return 1_000 if name == BARE else 900 if plain == "steps" else STEP_COLUMNS.index(plain) if plain in STEP_COLUMNS else 500


def _entries(name: str, every: Sequence[Family], shapes: Shapes) -> Axis | None:
    """The values of a count in the order written, runs told apart; None when it does not go up.

    Lines in which it starts anew much more often than in others count something else: games of an evaluation beside those of training.
    """
    import pandas as pd

    backs = [int((np.diff(lines.called(name)) < 0).sum()) for lines in every]
    few = max(2, 2 * min(backs))
    own = [lines for lines, back in zip(every, backs, strict=True) if back <= max(few, lines.record.size // 50)]
    record = np.concatenate([lines.record for lines in own])
    step = np.concatenate([lines.called(name) for lines in own])
    form = np.concatenate([lines.form + 1000 * i for i, lines in enumerate(own)])
    turn = np.argsort(record, kind="stable")
    turn = turn[np.isfinite(step[turn])]
    record, step, form = record[turn], step[turn], form[turn]
    fewest = FEWEST_ROWS if any(lines.header for lines in own) else FEWEST
    if step.size == 0 or (sum(lines.record.size for lines in own) >= FEWEST and np.count_nonzero(np.diff(step)) + 1 < fewest):
        return None
    names = next((label for label in _labels(record, form, turn, own, shapes) if parts(label, step)), None)
    inner = names is None
    if names is None:
        names = _starts(record, step, own)
    run, runs = pd.factorize(np.asarray(names, object)) if len(names) else (np.zeros(step.size, np.int64), np.empty(0))
    new = np.r_[True, (np.diff(step) != 0) | (np.diff(run) != 0)]
    if not len(runs) and not _goes_up(step[new]):
        return None
    turn = np.cumsum(new) - 1
    planned = max((lines.totals.get(name, 0.0) for lines in own), default=0.0)
    return Axis(name, record, step, run, turn, tuple(runs), inner=inner and len(runs) > 0, planned=int(planned) or None)


def _goes_up(step: Floats) -> bool:
    """Whether the numbers are those of a count: hardly any goes back."""
    return step.size == 1 or goes_up(step)


def _labels(record: Places, form: Places, turn: Places, own: Sequence[Family], shapes: Shapes) -> Iterator[Names]:
    """What may name the runs that entries are of: the heading or block above, a number of its line (``seed 1``), what forms differ by."""
    if shapes.labels:
        above = np.array(["start", *(name for _, name in shapes.labels)], object)
        yield above[np.searchsorted([r for r, _ in shapes.labels], record, "right")]
    if len(own) == 1:
        for name in own[0].names:
            if column_key(name) in TOLD["runs"] and np.ptp(kind := own[0].called(name)[turn]) > 0:
                yield np.array([f"{name} {k:g}" for k in kind], object)
        kinds, texts = np.unique(form), own[0].texts
        if 1 < kinds.size <= min(MOST_TURNS, int(np.count_nonzero(np.diff(form)))) and kinds[-1] < len(texts):
            rows = [texts[kind].split() for kind in kinds]
            if len(set(map(len, rows))) == 1:
                yield np.array(_apart(rows), object)[np.searchsorted(kinds, form)]


def _starts(record: Places, step: Floats, own: Sequence[Family]) -> Names:
    """The run that each entry is of where several follow each other from their first steps on, by the time at which it begins."""
    bounds = starts(step)
    if not 1 < len(bounds) <= MOST_RUNS or not all(_goes_up(step[first:last]) for first, last in bounds):
        return ()
    stamps = {r: s for lines in own for r, s in lines.stamps.items()}
    names = [stamps.get(int(record[first]), "")[:19] or f"run {i}" for i, (first, _) in enumerate(bounds, 1)]
    names = [name if names.count(name) == 1 else f"run {i}" for i, name in enumerate(names, 1)]
    return np.repeat(np.array(names, object), [last - first for first, last in bounds])


def _apart(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What tells the words of forms apart: the first that differs, without its punctuation."""
    column = next(i for i, words_ in enumerate(zip(*rows, strict=True)) if len(set(words_)) > 1)
    names = [re.sub(r"^[\W_]+|[\W_]+$", "", row[column].split("\0")[0]) or row[column].replace("\0", "") for row in rows]
    names = [name.rpartition(":")[2] or name for name in names]
    return tuple(name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names))


def _placed(axis: Axis, found: Sequence[Family]) -> Axis:
    """The axis with whether its count stands before what belongs to it or behind: as its commonest other lines lie."""
    others = [lines for lines in found if axis.name not in lines.names and lines.tells]
    if not others or axis.length < FEWEST_ROWS:
        return axis
    most = max(others, key=lambda lines: lines.record.size).record
    before, after = bool((most < axis.record[0]).any()), bool((most > axis.record[-1]).any())
    if before == after:
        at = np.clip(np.searchsorted(axis.record, most, "right") - 1, 0, axis.record.size - 1)
        following = axis.record[np.minimum(at + 1, axis.record.size - 1)]
        inner = (most > axis.record[0]) & (most < axis.record[-1])
        before = inner.any() and float(np.median((following - most)[inner])) < float(np.median((most - axis.record[at])[inner]))
        return replace(axis, last=bool(before))
    return replace(axis, last=before)
