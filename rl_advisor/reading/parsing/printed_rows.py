"""The lines that repeat become curves: those that do are told from prose and settings, and their numbers laid over the count."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.reading.parsing.learner_words import of_a_learner, speaks
from rl_advisor.reading.parsing.line_shapes import Family, Shapes
from rl_advisor.reading.parsing.metric_table import step_columns, unit_of
from rl_advisor.reading.parsing.printed_axis import FEWEST, FEWEST_ROWS, Axis, Lines, Places, axis_of, by_order, counts
from rl_advisor.reading.parsing.slot_names import BARE
from rl_advisor.run import UNSAID, Curve, Run

FEWEST_OF_ANYBODY = 5
"""Lines of names that tell of no learner."""
FORMS = 3
"""Lines of each form in which words before a number are taken for its name."""
SHARE = 4
"""Of how many lines with numbers one is such a line at least, where no count orders them."""


def lines_of(shapes: Shapes) -> list[Lines]:
    """The families that repeat: often enough, not always the very same line, and not prose that happens to share a word.

    Where nothing does, as in the few lines that people paste, those of a record that names a learner's numbers beside a count.
    """
    rows = Counter[tuple[str, ...]]()
    for family in shapes.families.values():
        rows[family.header] += len(family.record)
    found = [lines for family in shapes.families.values() if len(family.record) and (lines := _lines(family)).names]
    record, often = np.unique(np.concatenate([lines.record for lines in found]) if found else np.empty(0, np.int64), return_counts=True)
    shared = record[often > 1]
    again = [lines for lines in found if _repeats(lines, rows[lines.family.header] if lines.family.header else 0, shared)]
    return again + _beside(again, found, shared) if again else _pasted(found)


def _beside(again: Sequence[Lines], found: Sequence[Lines], shared: Places) -> list[Lines]:
    """What is said seldom, yet in a box of, or on a line with a count of, what repeats, as evaluations are."""
    boxes = np.intersect1d(np.concatenate([lines.record for lines in again]), shared)
    counted = {name for lines in again for name in lines.names if counts(lines, name)}
    seldom = [lines for lines in found if lines.record.size < FEWEST and lines not in again]
    return [
        lines
        for lines in seldom
        if np.isin(lines.record, boxes).all() or (counted.intersection(lines.names) and any(map(speaks, lines.names)))
    ]


def _lines(family: Family) -> Lines:
    number = np.frombuffer(family.number, np.float64).reshape(len(family.record), len(family.names))
    if any(family.loose) and not (len(family.record) >= FEWEST_OF_ANYBODY and FORMS * family.forms <= len(family.record)):
        kept = [i for i, loose in enumerate(family.loose) if not loose]
        number = number[:, kept]
        family = replace(family, names=tuple(family.names[i] for i in kept), counts=tuple(family.counts[i] for i in kept), loose=())
    return Lines(family, np.frombuffer(family.record, np.int64), np.frombuffer(family.form, np.uint8).astype(np.int64), number)


def _repeats(lines: Lines, rows: int, shared: Places) -> bool:
    """Whether a family is one of lines that repeat: a table, or said often and told by a name, a count, a box or numbers that change."""
    size = lines.record.size
    if rows:
        return rows >= FEWEST_ROWS
    if size < FEWEST or any(map(speaks, lines.names)) or any(lines.family.counts):
        return size >= FEWEST
    loose, still = lines.family.forms > max(3, size // 2), bool((lines.number == lines.number[0]).all())
    return not loose and (not still or bool(np.isin(lines.record[0], shared)))


def _still(lines: Lines) -> bool:
    """Whether nothing in the lines changes but their counts."""
    return all((lines.number[:, i] == lines.number[0, i]).all() for i, name in enumerate(lines.names) if not counts(lines, name))


def _pasted(found: Sequence[Lines]) -> list[Lines]:
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


Told = tuple[Run, list[str], Callable[[float | None], float | None]]


def run_of(shapes: Shapes, source: str, wanted: str = "", *, anybodys: bool = False) -> Told:
    """The run that the lines tell of, the names of all runs among them, largest first, and which step a record has.

    Of several runs the one that is wanted, else the largest; nothing where the lines are no learner's, unless they may be ``anybodys``.
    """
    found = lines_of(shapes)
    if anybodys:
        found = [lines for lines in found if lines.record.size >= FEWEST_OF_ANYBODY and (lines.number != lines.number[0]).any()]
    axis = axis_of(found, shapes)
    names = {name for lines in found for name in lines.names if name != BARE and (axis is None or name != axis.name)}
    if axis is None and not any(counts(lines, name) for lines in found for name in lines.names):
        axis = by_order([lines for lines in found if not anybodys or SHARE * lines.record.size >= shapes.records], anybodys=anybodys)
    if axis is None or (not anybodys and not of_a_learner([name for name in names if not step_columns([name])], axis.name)):
        return Run(), [], lambda _: None
    runs = axis.largest_first
    chosen = axis.runs.index(wanted if wanted in runs else runs[0]) if runs else -1
    where: dict[str, list[tuple[Lines, int]]] = {}
    for lines in found:
        for column, name in enumerate(lines.names):
            where.setdefault(name, []).append((lines, column))
    curves = {name: _curve(name, source, where[name], axis, chosen) for name in sorted(names)}
    fewest = FEWEST_ROWS if runs and axis.values > FEWEST else 1
    kept = {name: curve for name, curve in curves.items() if curve.step.size >= fewest}
    if all(c.step.size < FEWEST_ROWS for c in kept.values()) and all(n.record.size >= FEWEST and _still(n) for n in found):
        return Run(), [], lambda _: None  # settings that are printed again
    unit = UNSAID if axis.name in ("", BARE) else unit_of(axis.name)
    run = Run(curves=kept, planned_steps=axis.planned, step_unit=unit, axis="step" if axis.name else "row")
    return run, runs, axis.step_at


def _curve(name: str, source: str, columns: Sequence[tuple[Lines, int]], axis: Axis, wanted: int) -> Curve:
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
    return Curve(name, name, source, axis.step[place], value)
