"""Which rows of the samples are looked at, and what their columns say: the right answer, success, what somebody else judged."""

import re
import weakref
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features.bins import evenly
from rl_advisor.features.text.speakers import verdict
from rl_advisor.run import Floats, Run

if TYPE_CHECKING:
    import pandas as pd

    Frame = pd.DataFrame
    Series = pd.Series
else:  # pandas takes longer to load than most runs to judge
    Frame = Series = Any

_T = TypeVar("_T")


def of_samples(look: Callable[[Run], _T]) -> Callable[[Run], _T]:
    """Remembers what was found in the samples asked about last: some thirty detectors and all doors ask alike."""
    last: list[tuple[weakref.ref[Frame], _T]] = []

    @wraps(look)
    def remembered(run: Run) -> _T:
        if not last or last[0][0]() is not run.rollouts:
            last[:] = [(weakref.ref(run.rollouts), look(run))]
        return last[0][1]

    return remembered


def training(run: Run) -> Frame:
    """The training rows of the samples that hold a text, with every column that is relied on; none where all texts are empty."""
    rows = run.rollouts
    return written(rows[rows["split"] != "eval"] if "split" in rows else rows)


def written(rows: Frame) -> Frame:
    """The rows that hold a text, with prompt, reward and group; without prompts every response is a group of its own."""
    import pandas as pd

    if "response" not in rows:
        return rows.iloc[:0]
    rows = rows[np.array([isinstance(text, str) for text in rows["response"]], dtype=bool)]
    if not rows["response"].astype(bool).any() and not ("error" in rows and any(isinstance(cell, str) for cell in rows["error"])):
        return rows.iloc[:0]
    rows = rows if "reward" in rows else rows.assign(reward=np.nan)
    rows = rows if "prompt" in rows else rows.assign(prompt="")
    if "group" not in rows:
        known = bool(rows["prompt"].astype(bool).any())
        rows = rows.assign(group=(pd.factorize(rows["prompt"])[0] if known else np.arange(len(rows))).astype(str))
    return rows.reset_index(drop=True)


def spread(rows: Frame, steps: int, each: int) -> Frame:
    """The rows of at most so many steps, evenly spread, the first and last among them, and the first ``each`` of every one."""
    known = np.unique(rows["step"])
    if known.size > steps:
        rows = rows[rows["step"].isin(known[evenly(known.size, steps)])]
    return rows[rows.groupby("step").cumcount() < each].reset_index(drop=True)


_MEANINGS = {says: re.compile("|".join(names), re.IGNORECASE) for says, names in table(__file__, "columns.toml").items()}
"""What a column may say -> the names that say so."""


def columns(rows: Frame, says: str) -> list[str]:
    """The columns whose names say something of ``columns.toml``, whatever part of the file they come from."""
    return [name for name in map(str, rows.columns) if _MEANINGS[says].fullmatch(re.sub(r"^(other/|reward/)+", "", name).replace(" ", "_"))]


def numbers(rows: Frame, name: str) -> Floats:
    """A column as numbers, NaN where it holds anything else."""
    import pandas as pd

    column = rows[name]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
        return np.asarray(column, np.float64)
    words = {cell.strip().lower() for cell in column if isinstance(cell, str)}
    letters = _LETTERS if words <= {*_LETTERS} else {}
    said = pd.to_numeric(column, errors="coerce")
    return np.array(
        [letters.get(str(c).strip().lower(), verdict(c)) if np.isnan(v) else v for v, c in zip(said, column, strict=True)], np.float64
    )


_FEWEST = 3
"""Cells that are too few to tell what a column says."""
_LETTERS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0}
"""What a verdict in one letter is as a number: correct, incorrect, in part, no answer."""


def right_answers(rows: Frame, says: str = "right_answer") -> list[str] | None:
    """The right answer to each row (or what else a column says), where it stands there as a short text or a number; None without one."""
    for name in (name for name in columns(rows, says) if not name.startswith("reward/")):
        cells = [str(v) if isinstance(v, (str, int, float)) and not isinstance(v, bool) else "" for v in rows[name].tolist()]
        if any(short := [cell if len(cell) <= 200 and cell != "nan" else "" for cell in cells]):
            return short
    return None


def right_or_wrong(rows: Frame) -> Floats | None:
    """1 for an episode that succeeded, 0 for one that did not, by what columns say so and are not the reward again; None without one."""
    named = columns(rows, "succeeded")
    told = [_neither(numbers(rows, name), rows[name]) for name in named]
    told += [numbers(rows, name) for name in map(str, rows.columns) if name not in named and _in_verdicts(rows[name])]
    told += [1 - numbers(rows, name) for name in columns(rows, "failed") if np.isin(numbers(rows, name), (0, 1)).all()]
    reward = numbers(rows, "reward")
    told = [right for right in told if np.isfinite(right).any() and not np.array_equal(right, reward, equal_nan=True)]
    both = [
        right for right in told if np.isin(right[np.isfinite(right)], (0, 0.5, 1)).all()
    ]  # valid, but not solved: who fails in one failed
    return np.fmin.reduce(both) if both and both[0] is told[0] else next(iter(told), None)


def _in_verdicts(cells: Series) -> bool:
    """Whether nearly all cells are verdicts in a word, of both kinds, whatever the column is called."""
    words = [verdict(cell) for cell in cells if isinstance(cell, str) and cell.isalpha()]
    return len(words) > _FEWEST and len({*words}) == 2 and not np.isnan(words).any() and len(words) > 0.9 * len(cells)


def _neither(right: Floats, said: Series) -> Floats:
    """Verdicts with a half where a word stands that is none (``abstain``); as they are where no other cell is one."""
    word = said.map(lambda cell: isinstance(cell, str) and bool(cell.strip())).to_numpy(bool)
    return np.where(np.isnan(right) & word & np.isfinite(right).any(), 0.5, right)


def reference_columns(rows: Frame) -> list[str]:
    """The columns that hold an independent judgement of the responses: named so, numbers, not always the same, and not the reward again."""
    found, reward = [], rows["reward"].fillna(-1).to_numpy(np.float64)
    for name in (n for n in columns(rows, "judged") if not n.startswith("reward/")):
        value = numbers(rows, name)
        known = value[np.isfinite(value)]
        if known.size and np.ptp(known) > 0 and not np.array_equal(np.nan_to_num(value, nan=-1), reward):
            found.append(name)
    return found


def where(row: Any, place: int = 0) -> dict[str, Any]:
    """Where a row stands: file, row and step."""
    return {"source": str(row.get("source", "")), "row": int(row.get("row", place)), "step": float(row["step"])}
