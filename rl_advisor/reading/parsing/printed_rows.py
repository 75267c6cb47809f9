"""The lines that repeat become curves: those that do are told from prose and settings, and their numbers laid over the count."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rl_advisor.output.run_reference import MARK, one_of
from rl_advisor.reading.parsing.columns import raw_curve
from rl_advisor.reading.parsing.learner_words import of_a_learner, speaks
from rl_advisor.reading.parsing.line_forms import FEWEST_OF_ANYBODY, Family
from rl_advisor.reading.parsing.line_shapes import Shapes
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.metric_table import one_of_starts, step_columns, unit_of
from rl_advisor.reading.parsing.printed_axis import FEWEST, FEWEST_ROWS, Axis, axis_of, by_order, said_in
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.slot_names import BARE
from rl_advisor.reading.parsing.starts import counted_on
from rl_advisor.run import UNSAID, Curve, Event, Gap, Run

SHARE = 4
"""Of how many lines with numbers one is such a line, or of those written as often, at least, where no count orders them."""
ALL = 10 / 9
"""How few lines with numbers there are beside those of one form, where its names may be any words."""


def lines_of(shapes: Shapes) -> list[Family]:
    """The families that repeat: often enough, not always the very same line, and not prose that happens to share a word.

    Where nothing does, as in the few lines that people paste, those of a record that names a learner's numbers beside a count.
    """
    rows = Counter[tuple[str, ...]]()
    written = [family for family in shapes.families.values() if family.pieces]
    for family in written:
        family.close()
    found = [family for family in written if family.names]
    for lines in found:
        rows[lines.header] += lines.record.size
    shared = said_in(found, shapes.record + 1) > 1
    again = [lines for lines in found if _repeats(lines, rows[lines.header] if lines.header else 0, shared)]
    return again + _beside(again, found, shared) if again else _pasted(found)


def _beside(again: Sequence[Family], found: Sequence[Family], shared: npt.NDArray[np.bool_]) -> list[Family]:
    """What is said seldom, yet in a box of, or on a line with a count of, what repeats, as evaluations are."""
    often, boxes = {*again}, shared & (said_in(again, shared.size) > 0)
    counted = set().union(*(lines.counted for lines in again))
    seldom = [lines for lines in found if lines.record.size < FEWEST and lines not in often]
    return [lines for lines in seldom if boxes[lines.record].all() or (counted.intersection(lines.names) and lines.tells)]


def _repeats(lines: Family, rows: int, shared: npt.NDArray[np.bool_]) -> bool:
    """Whether a family is one of lines that repeat: a table, or said often and told by a name, a count, a box or numbers that change."""
    size = lines.record.size
    if rows:
        return rows >= FEWEST_ROWS
    if size < FEWEST or lines.tells or any(slot.counts for slot in lines.slots):
        return size >= FEWEST
    loose, still = lines.forms > max(3, size // 2), bool((lines.number == lines.number[0]).all())
    return not loose and (not still or bool(shared[lines.record[0]]))


def _pasted(found: Sequence[Family]) -> list[Family]:
    """The families of a record with a count and four more names, two of which speak of a learner; nothing where there is none."""
    named: dict[int, list[str]] = {}
    for lines in found:
        for record in set(lines.record.tolist()):
            named.setdefault(record, []).extend(lines.names)
    good = {r for r, names in named.items() if len(names) > 4 and sum(map(speaks, names)) >= 2 and _counted(names)}
    return [lines for lines in found if good.intersection(lines.record.tolist())]


def _counted(names: Sequence[str]) -> bool:
    """Whether one of the names counts steps, or at least updates, as settings never do."""
    return bool(step_columns(names)) or any(name.rpartition("/")[2] in ("n_updates", "nupdates") for name in names)


def read_lines(text: Iterable[list[str]], ask: Request = WHOLE, *, headings: bool = False) -> Run:
    """The run that lines tell of, with what a log says besides.

    Of several runs the one that is wanted, else the largest; no curves where the lines are no learner's, unless they may be anybody's, in
    the last resort.
    """
    watch = Watch()
    shapes = Shapes(text, watch, headings)
    found, anybodys = lines_of(shapes), ask.last_resort
    if anybodys:
        found = [lines for lines in found if lines.record.size >= FEWEST_OF_ANYBODY and (lines.number != lines.number[0]).any()]
    axis = _axis(found, shapes, anybodys=anybodys)
    said, cut = watch.finish(None), (Gap("", shapes.cut),) if shapes.cut else ()
    if axis is None:
        return Run(events=said, gaps=cut)
    axis, again = _counted_on(axis, found, [event.step for event in said if event.kind == "resume" and event.step is not None])
    runs = axis.sizes
    read, several = (
        ("", Run()) if not runs else one_of_starts(runs, ask.run) if axis.inner else one_of([(name, name) for name in runs], ask.run)
    )
    curves = _curves(found, axis, axis.runs.index(read) if runs else -1)
    return Run(
        curves=curves,
        planned_steps=axis.planned,
        step_unit=UNSAID if axis.name in ("", BARE) else unit_of(axis.name),
        axis="step" if axis.name else "row",
        events=(*again, *(replace(event, step=axis.step_at(event.step)) for event in said)),
        place=several.place or (MARK + read if ask.run in runs else ""),
        others=several.others,
        gaps=(*several.gaps, *cut),
    )


def _axis(found: Sequence[Family], shapes: Shapes, *, anybodys: bool) -> Axis | None:
    """The count by which the lines go, else their order; None where they are no learner's."""
    axis = axis_of(found, shapes)
    names = {name for lines in found for name in lines.names if name != BARE and (axis is None or name != axis.name)}
    if axis is None and not any(lines.counted for lines in found):
        sizes = Counter(lines.record.size for lines in found)
        block = {size: sum(near * sizes[near] for near in (size - 1, size, size + 1)) for size in sizes}
        often = [
            lines
            for lines in found
            if SHARE * block[lines.record.size] >= shapes.record
            and (ALL * lines.record.size >= shapes.record or not all(slot.loose or slot.of_machine for slot in lines.slots))
        ]
        axis = by_order(often if anybodys else found, anybodys=anybodys)
    learner = axis and (anybodys or of_a_learner([name for name in names if not step_columns([name])], axis.name))
    return axis if learner else None


def _counted_on(axis: Axis, found: Sequence[Family], said: Sequence[float]) -> tuple[Axis, list[Event]]:
    """The axis without starts that only count anew, and where those begin; ``said`` are the records at which the log says so."""
    if not axis.inner:
        return axis, []
    edges = [0, *(np.flatnonzero(np.diff(axis.run)) + 1).tolist(), axis.run.size]
    columns = []
    for lines in found:
        place = axis.places(lines.record)
        for name in set(lines.names) - {axis.name}:
            columns.append(np.full(axis.step.size, np.nan))
            columns[-1][place[place >= 0]] = lines.called(name)[place >= 0]
    bounds, step, events = counted_on(
        axis.step, [*pairwise(edges)], columns, lambda row: any(axis.record[row - 1] <= at <= axis.record[row] for at in said)
    )
    run = np.repeat(np.arange(len(bounds)), [last - first for first, last in bounds])
    if len(bounds) == 1:
        return replace(axis, step=step, runs=(), inner=False, run=np.zeros_like(run), planned=None), events
    return replace(axis, step=step, run=run, runs=tuple(axis.runs[axis.run[first]] for first, _ in bounds)), events


def _curves(found: Sequence[Family], axis: Axis, wanted: int) -> dict[str, Curve]:
    """Each name with its numbers over the count."""
    where: dict[str, list[tuple[Family, int]]] = {}
    for lines in found:
        for column, name in enumerate(lines.names):
            where.setdefault(name, []).append((lines, column))
    curves = {name: _curve(name, where[name], axis, wanted) for name in sorted(where) if name != axis.name and not name.startswith(BARE)}
    fewest = min(FEWEST_ROWS, int((axis.run == wanted).sum())) if axis.runs else 1
    return {name: curve for name, curve in curves.items() if curve.step.size >= fewest}


def _curve(name: str, columns: Sequence[tuple[Family, int]], axis: Axis, wanted: int) -> Curve:
    """The numbers of a name over the steps; what is printed again before the count goes on replaces what was there."""
    record = np.concatenate([lines.record for lines, _ in columns])
    value = np.concatenate([lines.number[:, column] for lines, column in columns])
    turn = np.argsort(record, kind="stable")
    place, value = axis.places(record[turn]), value[turn]
    keep = (place >= 0) & ((axis.run[place] == wanted) if wanted >= 0 else True)
    place, value = place[keep], value[keep]
    if place.size:
        newest = np.r_[np.diff(axis.turn[place]) != 0, True]
        place, value = place[newest], value[newest]
    return raw_curve(name, axis.step[place], value)
