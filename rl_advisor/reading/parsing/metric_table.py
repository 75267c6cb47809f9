"""How a table of metrics becomes curves: the column that counts its rows, one run of several, the numbers over the steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor import discovery
from rl_advisor.output.run_reference import MARK, among, chosen, listed
from rl_advisor.reading.parsing.cells import is_numeric, opened
from rl_advisor.reading.parsing.columns import WIDEST, curves_of, raw_curve
from rl_advisor.reading.parsing.csv_in import NAN_WORDS
from rl_advisor.reading.parsing.gpu_counters import seconds
from rl_advisor.reading.parsing.learner_words import speaks
from rl_advisor.reading.parsing.starts import broken_steps, counted_on, no_count, starts, steady
from rl_advisor.run import Curve, Curves, Floats, Gap, Named, Run
from rl_advisor.vocabulary import words

if TYPE_CHECKING:
    import pandas as pd

TOLD: Mapping[str, list[str]] = discovery.table(__file__, "column_names.toml")
"""What columns are called, by what they do."""
UNITS: Mapping[str, str] = discovery.table(__file__, "column_names.toml")["units"]
"""What they count, and how that is written."""
STEP_COLUMNS, TIME_COLUMNS = TOLD["steps"], TOLD["clocks"]
_TRAINERS, _TRACKERS = ("train/global_step", "trainer/global_step"), "_step"
"""How a trainer calls its own step when it tells a tracker, and how a tracker counts what it is told."""
OF_PLAN = "global_step/max_steps"
"""Where ms-swift writes its step and what is planned, as ``5/100``."""
SHARE = 5
"""How many times longer the longest start may be than one that is read because it is later."""
NO_COURSE = "and no course over steps"
WORDY = 3
"""Words in a row of a cell that is a sentence."""
FEWEST_RESULTS, MOST_RESULTS = 3, 60
"""Rows of a table of results."""
EARLIEST = 1e8
"""Seconds since the epoch: nothing was trained before 1973."""
_DRESSED = re.compile(
    r"\s*+(?:(?:\w++\.)*+[a-z]\w*+\(|array\()?\[*+\s*+([-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|-?nan|-?inf)\s*+\]*+"
    r"(?:,[^)]*+)?\)?\s*+(%)?\s*+"
)


def part_of(table: pd.DataFrame, named: Callable[[str], str | None] = lambda column: column, run: str = "") -> Run:
    """Every numeric column as a curve; of several runs in one table that with most rows, the others are named in a gap.

    ``named`` gives the metric of a column, or None for a column that is none; ``run`` is the one to read instead of the largest.
    Where no column counts steps, ``axis`` is ``row``.
    """
    if len(table.columns) > WIDEST:
        part = part_of(table.iloc[:, :WIDEST], named, run)
        return replace(part, gaps=(*part.gaps, Gap("", f"of its columns the first {WIDEST:,} were read")))
    counted = step_columns([str(name) for name in table]) or not {*TIME_COLUMNS}.isdisjoint(table)
    if not counted and (why := _of_things(table)):
        return Run(gaps=(Gap("", f"{why}, {NO_COURSE}"),))
    table, several = one_run(table, run)
    table = _wide(opened(table))
    columns = {str(name): column for name, cells in table.items() if (column := _column(cells, str(name))).value.size}
    if not columns:
        return Run(gaps=(Gap("", "no rows of numbers"),))
    return among(over_steps(columns, len(table), named, run), several)


def _of_things(table: pd.DataFrame) -> str:
    """What the rows are where each is a thing: a text of a data set, a method or model named in the first columns of a short table."""
    measured = not any(set(TOLD[kind]).isdisjoint(table) for kind in ("measures", "values"))
    if any(_are_texts(table[name]) for name in table):
        return "each row is a text with what belongs to it: a data set"
    if not FEWEST_RESULTS <= len(table) <= MOST_RESULTS or measured or not _are_words(table.iloc[:, 0]):
        return ""
    text = [_are_words(table[name]) for name in table]
    if all(text):
        return ""
    labels = table.loc[:, text].map(lambda cell: re.sub(r"\d+", "", cell))
    alone = len(labels.drop_duplicates()) == len(labels)
    return "each row stands under a name of its own: a table of results" if alone else ""


def _are_words(cells: pd.Series[Any]) -> bool:
    return not is_numeric(cells) and all(isinstance(cell, str) and re.search(r"[^\W\d]{2}", cell) for cell in cells)


def _are_texts(cells: pd.Series[Any]) -> bool:
    """Whether cells are sentences, hardly one of them twice."""
    if is_numeric(cells) or len(cells) < FEWEST_RESULTS or 10 * cells.nunique() < 9 * len(cells):
        return False
    return bool(cells.dropna().astype(str).str.count(r"[^\W\d]{2,} [^\W\d]").median() >= WORDY)


def over_rows(rows: Iterable[Named], run: str = "") -> Run:
    """What rows of a log say as curves, as ``over_steps``."""
    columns = curves_of((number, np.nan, row) for number, row in enumerate(rows))
    return over_steps(columns, 1 + int(max((c.step[-1] for c in columns.values()), default=-1)), run=run)


def over_steps(columns: Curves, size: int, named: Callable[[str], str | None] = lambda column: column, run: str = "") -> Run:
    """Columns over the numbers of their rows, from 0, as curves over the steps that one of them counts; else over the order of the rows."""
    found = step_columns(list(columns)) or _rising(columns)
    step = next((name for name in found if goes_up(columns[name].value)), "".join(found[:1]))
    steps = _full(columns[step], size) if step else np.arange(1.0, size + 1)
    if step in _TRAINERS or _TRACKERS in columns:  # a tracker's row without one belongs to the step before it, or to 0
        before = np.searchsorted(columns[step].step, np.arange(size), "right") - 1
        steps = np.where(before < 0, 0.0, columns[step].value[before])
    gaps: tuple[Gap, ...] = ()
    odd = broken_steps(steps) if step else np.zeros(size, bool)  # two processes wrote into one file, or a disk was full
    if odd.any():
        gaps = (Gap("", f"{odd.sum():,} rows have no whole number of steps; they are damaged and were left out"),)
    if endless := int(np.isinf(steps).sum()):
        gaps = (*gaps, Gap("", f"{endless:,} rows stand at no step that can be counted, and were left out"))
    if step and (why := no_count(steps[~odd])):
        gaps = (*gaps, Gap("", f"{step} {why}: the rows are counted instead"))
        step, steps = "", np.arange(1.0, size + 1)
    bounds, steps, events = counted_on(
        steps, starts(np.where(odd, np.nan, steps)), (_full(c, size) for n, c in columns.items() if n != step)
    )
    found_starts = {f"start {number}": rows for number, rows in enumerate(bounds, 1)}
    read, begun = one_of_starts({name: last - first for name, (first, last) in found_starts.items()}, run)
    first, last = found_starts[read]
    kept = np.isfinite(steps) & ~odd
    kept[:first], kept[last:] = False, False
    clock = next((name for name in TIME_COLUMNS if name in columns and np.nanmin(columns[name].value) > EARLIEST), "")
    time = _full(columns[clock], size) if clock else None
    if time is not None and np.nanmin(time) > EARLIEST * 1_000:
        time = time / 1_000
    counts = {step, *(name for name in found if np.array_equal(_full(columns[name], size), steps, equal_nan=True))}
    names = {column: name for column in columns if column not in counts and (name := named(column)) is not None}
    if len(names) > 1:  # lines of a step and a time alone tell when each step was
        names.pop(clock, None)
    curves: Curves = {}
    for column, name in names.items():
        rows = columns[column].step.astype(np.intp)
        rows, value = rows[kept[rows]], columns[column].value[kept[rows]]
        if rows.size:
            curves[name] = raw_curve(name, steps[rows], value, None if time is None else time[rows])
    told = replace(begun, events=tuple(events), gaps=(*gaps, *begun.gaps))
    return replace(told, curves=curves, step_unit=unit_of(step), axis="step" if step else "row")


def _full(column: Curve, size: int) -> Floats:
    """The numbers of a column in all rows, NaN where there is none."""
    out = np.full(size, np.nan)
    out[column.step.astype(np.intp)] = column.value
    return out


def _column(cells: pd.Series[Any], name: str) -> Curve:
    """The numbers of a column over the numbers of their rows; dates are seconds since the epoch."""
    value = numbers_in(cells)
    if name in TIME_COLUMNS and np.isnan(value).all():
        value = seconds(cells)
    none = np.isnan(value)
    if none.any() and not is_numeric(cells):  # ``nan`` that is written out is a number, as infinity is: the metric was that
        none[none] = [not (isinstance(cell, str) and cell.strip().lower() in NAN_WORDS) for cell in cells[none]]
    known = np.flatnonzero(~none)
    return raw_curve(name, known.astype(np.float64), value[known])


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """A table with a row for each number as one with a column for each metric; any other as it is."""
    plain = {_plain(str(name)): str(name) for name in reversed(table.columns)}
    steps = [name for name in step_columns(list(map(str, table.columns))) if goes_up(numbers_in(table[name]))]
    name = next((plain[n] for n in TOLD["measures"] if n in plain), None)
    value = next((plain[v] for v in TOLD["values"] if v in plain), None)
    if not steps or name is None or value is None or is_numeric(table[name]) or table[name].nunique() > max(50, len(table) // 2):
        return table
    wide = table.pivot_table(index=steps[0], columns=name, values=value, aggfunc="last").reset_index()
    return wide.rename(columns=str)


def numbers_in(column: pd.Series[Any]) -> Floats:
    """The numbers of a column, NaN where a cell holds none; those of shares are brought to 0..1, those of arrays and tensors taken out."""
    import pandas as pd

    if is_numeric(column):
        return column.to_numpy(np.float64)
    found = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
    if not np.isfinite(found).any():
        found = pd.to_numeric(column.map(plain_number), errors="coerce").to_numpy(np.float64)
    return found


def plain_number(cell: Any) -> Any:
    """The number in a cell as it is printed with its type, brackets or a percent sign (``tensor(0.5)``, ``[23.]``, ``5 %``)."""
    match = _DRESSED.fullmatch(cell) if isinstance(cell, str) and len(cell) < 120 else None
    if match is None:
        return cell
    return float(match.group(1)) / 100 if match.group(2) else match.group(1)


def step_columns(names: Sequence[str]) -> list[str]:
    """The columns that may count rows, best first."""
    plain = {column_key(name): name for name in reversed(names[:WIDEST])}
    return [plain[key] for key in STEP_COLUMNS if key in plain]


@lru_cache(1 << 14)
def column_key(name: str) -> str:
    """The name as the table of columns has it."""
    return key if (key := _plain(name)) in STEP_COLUMNS else words(name).replace(" ", "_")


def _plain(name: str) -> str:
    """The name in lower case with underscores between its words."""
    return re.sub(r"[ ./-]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower())


def goes_up(steps: Floats) -> bool:
    """Whether a count goes up but for a few new starts: ``steps`` is often the length of an episode."""
    known = steps[np.isfinite(steps)]
    return bool(known.size > 1 and known.max() > known[0] and (np.diff(known) < 0).sum() <= max(2, known.size // 50))


def _rising(columns: Curves) -> list[str]:
    """The first column that counts rows by its numbers, where no name says so: whole ones that go up nearly always, mostly at one pace."""
    return next(([name] for name in columns if len(columns) > 1 and not speaks(name) and steady(columns[name].value)), [])


def unit_of(column: str) -> str:
    """What a step column counts, as far as its name says so."""
    return next((unit for unit, pattern in UNITS.items() if re.search(pattern, words(column))), "steps")


def one_run(table: pd.DataFrame, run: str = "") -> tuple[pd.DataFrame, Run]:
    """The rows of one run, where columns tell several apart, and what is to be said of the others."""
    columns = _run_columns(table)
    if not columns:
        return table, _alone(table, run)
    texts = table[columns].astype("string").fillna("").agg("/".join, axis=1) if len(columns) > 1 else table[columns[0]].astype("string")
    names = list(map(str, texts.dropna().value_counts().index))
    if len(names) > max(2, len(table) // 3):
        return table, Run()
    read = chosen(names, run)
    by = f" by its column {columns[0]}" if len(columns) == 1 else f" by its columns {', '.join(map(str, columns))}"
    return table[(texts == read).fillna(False)].drop(columns=columns), listed(names, read, by)


def _run_columns(table: pd.DataFrame) -> list[Any]:
    """The columns that part the table into runs: those named so, and text of few values at whose change the steps go back."""
    most = max(2, len(table) // 3)
    naming = {*TOLD["runs"], *TOLD["measures"]}
    few = [c for c in table.columns if (str(c).lower() in naming or not is_numeric(table[c])) and 1 < table[c].nunique() <= most]
    named = [c for c in few if str(c).lower() in TOLD["runs"]]
    if named or {str(c).lower() for c in few} & set(TOLD["measures"]):
        return named
    for step in step_columns([str(c) for c in table.columns])[:1]:
        steps = numbers_in(table[step])
        told = [c for c in few if c != step and np.isnan(numbers_in(table[c])).all()]
        return [c for c in told if parts(table[c].astype("string").fillna("").to_numpy(str), steps)][:1]
    return []


def parts(label: Any, steps: Floats) -> bool:
    """Whether steps stay or go back as the labels change, one run behind the other or in turns, and hardly ever within one."""
    label, steps = label[np.isfinite(steps)], steps[np.isfinite(steps)]
    changed, back, ordered = label[1:] != label[:-1], np.diff(steps) <= 0, np.argsort(label, kind="stable")
    inside = (label[ordered][1:] == label[ordered][:-1]) & (np.diff(steps[ordered]) <= 0)
    told = inside.sum() <= max(2, steps.size // 50) or not (back & ~changed).any()
    return bool(told and 4 * (back & changed).sum() >= changed.sum())


def _alone(table: pd.DataFrame, run: str) -> Run:
    """That the table is the run of that name, where a column has this one value throughout."""
    said = run and any(not is_numeric(cells) and (cells == run).all() for _, cells in table.items())
    return Run(place=MARK + run) if said else Run()


def one_of_starts(size: Mapping[str, int], run: str) -> tuple[str, Run]:
    """The start to read of those of one file, in the order written: the latest of the long ones; and what is to be said of the others.

    What ended early and was started again is no run of its own.
    """
    lively = [name for name in size if SHARE * size[name] >= max(size.values())]
    read = chosen([*reversed(lively), *size], run)
    told = listed([*reversed(lively)], read, ", each counted from the beginning") if len(lively) > 1 or read not in lively else Run()
    if early := len(size) - len(lively):
        told = replace(
            told, gaps=(*told.gaps, Gap("", f"was started {len(size)} times; {early} of the starts ended early and are no runs"))
        )
    return read, told
