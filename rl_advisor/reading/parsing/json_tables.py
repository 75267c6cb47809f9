"""Where the tables of metrics lie in a JSON document of a stranger, and which of them are one run.

A table is a list of rows, an object of equally long lists, or a map from steps to values. Alike tables under several names are several
runs; tables that differ (training beside evaluation) are parts of one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from rl_advisor.reading.parsing.columns import flat
from rl_advisor.reading.parsing.metric_table import TOLD, step_columns
from rl_advisor.run import Named

FEWEST = 3
"""Numbers that a list must have to be a curve."""
MOST_RUNS = 500
DEEPEST = 6
LABEL = 120
"""Characters of a text beside metrics; longer ones are what a model wrote."""
_NEUTRAL = re.compile(
    r"(?i)(?:log|step|train|training|metric|episode)?_?(?:logs?|history|histories|metrics|data|results?|records|rows|entries|steps|curves?"
    r"|series|training|train|merged|trace|scalars|stats|statistics|values|log_history|episodes|iterations)"
)
"""Keys that only say that numbers follow."""
_SPLIT = re.compile(r"(?i)(?:train|training|eval|evals|evaluation|test|val|valid|validation|dev|holdout|rollout|rollouts)")
_MEASURED = re.compile(
    r"(?i)(?:^|[_/ .-])(?:rewards?|returns?|loss|losses|kl|entropy|lengths?|scores?|accuracy|lr|grad|success|time|advantages?)(?:$|[_/ .-])"
)
_NUMBERED = re.compile(r"(?i)(?:seed|run|trial|rep|repeat|replicate|replica|experiment|exp|fold|agent)[ _-]?\d+|\d+")
_STEP_KEY = re.compile(r"(?i)(?:(?:step|epoch|episode|iter|iteration|update|generation)[ _-]?)?(\d{1,12}(?:\.\d+)?)")
_COUNTS = re.compile(r"(?i)distribution|histogram|hist\b|counts?\b|bins?\b|percentiles?|quantiles?|token|label|id2|class")
"""Names of maps from numbers to numbers that are no course over steps."""
_SETTINGS = re.compile(r"(?i)config|params|args|hparams|hyper|settings|metadata|vocab|tokenizer")
_NUMBERS = {int, float, type(None)}
"""Types of the numbers of a column, some of which may be missing."""


@dataclass
class Table:
    """Columns of one length, with what stood before them in the document."""

    prefix: str
    columns: dict[str, list[Any]]
    counted: bool = True
    """Whether it may be a table of a trainer by itself: a map from numbers to numbers may be anything."""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(next(iter(self.columns.values()), ()))


@dataclass
class Content:
    """What one run of a document holds."""

    tables: list[Table] = field(default_factory=list)
    settings: Named = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The names of all columns."""
        return {f"{table.prefix}{name}" for table in self.tables for name in table.columns}

    def below(self, key: str) -> "Content":
        """The same with a key before the names, where the key says something."""
        if _NEUTRAL.fullmatch(key):
            return self
        return Content([Table(f"{key}/{t.prefix}", t.columns, t.counted) for t in self.tables], self.settings)


def runs_in(node: Any, depth: int = 0) -> dict[str, Content]:
    """The runs of a document by name; '' for the only one, and nothing where no table is."""
    if depth > DEEPEST:
        return {}
    if isinstance(node, list):
        return _of_list(node, depth)
    return _of_object(node, depth) if isinstance(node, dict) else {}


def _of_list(node: list[Any], depth: int) -> dict[str, Content]:
    rows = [row for row in node if isinstance(row, dict)]
    if len(rows) < max(1, len(node) // 2):
        return _of_numbers(node) if not depth else {}
    inner = [runs_in(row, depth + 1) for row in rows[:MOST_RUNS]] if not _counted(rows) else []
    full = [(row, found[""]) for row, found in zip(rows, inner, strict=False) if "" in found]
    if full and 2 * len(full) >= min(len(rows), MOST_RUNS):
        names = _called([row for row, _ in full]) if len(full) > 1 else [""]
        return {name: content for name, (_, content) in zip(names, full, strict=True)}
    table = _table(rows)
    return {"": Content([table])} if table else {}


def _of_numbers(node: Sequence[Any]) -> dict[str, Content]:
    """A list of numbers, or of equally long lists of them, as columns without names."""
    rows = [value if isinstance(value, list) else [value] for value in node]
    alike = len(rows) >= FEWEST and {len(row) for row in rows} == {len(rows[0])}
    if not alike or not set(map(type, chain(*rows))) <= _NUMBERS:
        return {}
    return {"": Content([Table("", {f"c{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))})])}


def _counted(rows: Sequence[Named]) -> bool:
    """Whether rows are steps of one table: one of their numbers counts them."""
    for key in step_columns([str(key) for key in rows[0]]):
        steps = [row.get(key) for row in rows]
        if len(steps) > 1 and all(_is_number(step) for step in steps) and all(a <= b for a, b in pairwise(steps)):  # type: ignore[operator]
            return steps[0] != steps[-1]
    return False


def _table(rows: Sequence[Named]) -> Table | None:
    """The rows as columns, with the numbers of nested objects under names with ``/``; None where nothing in them is a number."""
    flattened = [flat(row) for row in rows]
    names = dict.fromkeys(name for row in flattened for name in row)
    sample = any(isinstance(value, str) and len(value) > LABEL for value in flattened[0].values()) if rows else True
    if (
        (len(rows) < 2 and not step_columns(list(names)))
        or sample
        or not any(_is_number(value) for row in flattened for value in row.values())
    ):
        return None
    return Table("", {name: [row.get(name) for row in flattened] for name in names})


def _called(rows: Sequence[Named]) -> list[str]:
    """What to call each of several runs: the first of their fields for that in which all differ, else their number."""
    for key in TOLD["called"]:
        names = [str(row.get(key, "")) for row in rows]
        if all(names) and len(set(names)) == len(names):
            return [name[:120] for name in names]
    return [str(number) for number in range(1, len(rows) + 1)]


def _of_object(node: Named, depth: int) -> dict[str, Content]:
    own = Content(_own_tables(node), {str(k): v for k, v in node.items() if isinstance(v, str | int | float | bool)})
    children = {
        str(k): runs_in(v, depth + 1)
        for k, v in node.items()
        if isinstance(v, list | dict) and not (is_column(v) or _SETTINGS.search(str(k)))
    }
    single = {key: found[""] for key, found in children.items() if "" in found}
    apart = _alike(single)
    several = _lifted(children)
    several |= {key: content for key, content in single.items() if key in apart}
    numbered = len(own.tables) == 1 and [key for key in own.tables[0].columns if _NUMBERED.fullmatch(key)]
    if numbered and len(numbered) > 1:
        shared = {k: v for k, v in own.tables[0].columns.items() if k not in numbered}
        several |= {key: Content([Table("", {**shared, "value": own.tables[0].columns[key]})]) for key in numbered}
    if several:
        return dict(list(several.items())[:MOST_RUNS])
    for key, content in single.items():
        own.tables += content.below(key).tables
    return {"": own} if own.tables else {}


def _lifted(children: Mapping[str, Mapping[str, Content]]) -> dict[str, Content]:
    """The runs below several keys by their names, one that comes again as a copy once, and with the key before it where it differs."""
    out: dict[str, Content] = {}
    for key, found in children.items():
        for name, content in found.items():
            if name and name in out and out[name].tables != content.tables:
                out[f"{key}/{name}"] = content
            elif name:
                out[name] = content
    return out


def _alike(single: Mapping[str, Content]) -> set[str]:
    """The keys whose contents have mostly the same names, and which neither say what is measured nor are halves of one run."""
    keys = [key for key in single if not (_SPLIT.fullmatch(key) or _MEASURED.search(key) or _NEUTRAL.fullmatch(key))]
    keys = [key for key in keys if key not in single[key].names]  # what names one of its own columns is that metric, no run
    if len(keys) < 2:
        return set()
    model = max((single[key].names for key in keys), key=len)
    like = {key for key in keys if 2 * len(model & single[key].names) >= len(model | single[key].names)}
    return like if 2 * len(like) > len(keys) and len(like) > 1 else set()


def _own_tables(node: Named) -> list[Table]:
    """The lists of numbers of an object, those of one length together, and each of its maps from steps to values."""
    lots: dict[int, dict[str, list[Any]]] = {}
    for key, value in node.items():
        if is_column(value):
            lots.setdefault(len(value), {})[str(key)] = value
    tables = [Table("", columns) for columns in lots.values()]
    for key, value in node.items():
        if isinstance(value, dict) and not (_COUNTS.search(str(key)) or _SETTINGS.search(str(key))) and (steps := _steps_of(value)):
            tables.append(Table("", {"step": steps, str(key): list(value.values())}, counted=_MEASURED.search(str(key)) is not None))
    return tables


def _steps_of(node: Named) -> list[float]:
    """The steps of a map from steps to numbers, in which they go up; empty for any other object."""
    if len(node) < 2 or not set(map(type, node.values())) <= _NUMBERS:
        return []
    found = [_STEP_KEY.fullmatch(str(key)) for key in node]
    steps = [float(match.group(1)) for match in found if match]
    return steps if len(steps) == len(node) and all(a < b for a, b in pairwise(steps)) else []


def is_column(value: Any) -> bool:
    """Whether it is a list of numbers that may be a curve."""
    return isinstance(value, list) and len(value) >= FEWEST and set(map(type, value)) <= _NUMBERS


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
