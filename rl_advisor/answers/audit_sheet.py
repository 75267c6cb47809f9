"""The blind sheet of an audit: a person scores samples without seeing their reward, and the scores are held against it.

It is drawn evenly over parts of the steps and of the rewards, so its shares are the sheet's own, not the run's. Nothing is ever written
over: a file that is there is read, or refused when it is no sheet of ours.
"""

import csv
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.answers.spot_check import SEED, marked
from rl_advisor.answers.table_file import table
from rl_advisor.output import Answer
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Floats, Run
from rl_advisor.samples.rows import numbers, training
from rl_advisor.samples.sample_audit import PARTS, same_order
from rl_advisor.samples.text_change import wilson

if TYPE_CHECKING:
    import pandas as pd

HEAD = ["rl-advisor sample", "your score, more is better", "prompt", "response"]
SAMPLES, FEWEST = 48, 8
LONGEST, LARGEST, MOST_ROWS = 8_000, 1 << 24, 1_000
"""Characters of a cell that is written, bytes and rows of a sheet that is read."""
_FORMULA = re.compile(r"((?:^|[;\t\n])[^\S\t\n]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a spreadsheet, of whatever separator, would take a text for something to compute."""


def audit_sheet(run: Run, path: Path) -> Answer:
    """Writes the sheet where no file is; else what its scores say of the reward: agreement with intervals, and who disagrees most.

    Raises:
        UsageError: no sample has a reward, or the file is no sheet of ours; the message says what was found.
    """
    if path.suffix != ".csv":
        raise UsageError(f"{path.name!r} is neither a number of samples nor a sheet, which ends in .csv")
    rows = training(run)
    rows = rows[np.isfinite(rows["reward"].astype(float))] if len(rows) else rows.assign(reward=[])
    told = map(repr, zip(*(rows.get(c, ()) for c in ("step", "prompt", "response")), strict=True))
    # A name that tells nothing of where the sample stood, and that no spreadsheet takes for a number.
    keys = ["s" + hashlib.blake2b(one.encode(errors="replace"), digest_size=8).hexdigest() for one in told]
    rows = rows.assign(key=keys).drop_duplicates("key")
    return {"sheet": path.name, **(_against(rows, path) if path.exists() else _written(rows, path))}


def _written(rows: "pd.DataFrame", path: Path) -> Answer:
    if not len(rows):
        raise UsageError("no sample with a text has a reward, so there is nothing to hold a person's scores against")
    rows = rows.sample(frac=1, random_state=SEED)
    drawn = rows.groupby([np.ceil(PARTS * rows[by].rank(method="dense", pct=True)) for by in ("step", "reward")])
    rows = drawn.head(max(1, SAMPLES // drawn.ngroups))
    cells = [[_FORMULA.sub(r"\1'", readable(str(text), LONGEST)) for text in rows[name]] for name in HEAD[2:]]
    with path.open("x", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([HEAD, *zip(rows["key"], [""] * len(rows), *cells, strict=True)])
    return {"written": len(rows)}


def _against(rows: "pd.DataFrame", path: Path) -> Answer:
    """The reward and its parts against the scores; the samples that the two rank most differently either way."""
    if path.stat().st_size > LARGEST:
        raise UsageError(f"{path.name} is no audit sheet: one has at most {LARGEST} bytes; nothing was written")
    found = table(path, MOST_ROWS)
    if not {*HEAD[:2]} <= {*found.columns}:
        raise UsageError(f"{path.name} is no audit sheet: it has {list(found)[:6]}, a sheet {HEAD[:2]}; nothing was written")
    given = found.assign(key=found[HEAD[0]].astype(str), score=numbers(found, HEAD[1]))[["key", "score"]].drop_duplicates("key")
    rows = rows.drop(columns="score", errors="ignore").merge(given[np.isfinite(given["score"])], on="key")
    parts = ["reward", *(c for c in map(str, rows) if c.startswith("reward/"))]
    parts = parts if len(parts) > 2 else parts[:1]
    agreement = {name: told for name in parts if (told := _agreement(numbers(rows, name), rows["score"].to_numpy(np.float64)))}
    lacking = len(found) - len(rows)
    unknown = [f"{lacking} of {len(found)} samples have no number as score, or are not this run's"] if lacking else []
    unknown += [] if agreement else [f"{FEWEST} samples that differ in score and in reward are needed"]
    gap = rows["reward"].rank(pct=True) - rows["score"].rank(pct=True)
    apart = gap[gap.abs() > 1 / PARTS].sort_values().index
    shown = rows.loc[[*apart[:1], *apart[1:][-1:]], ["step", "reward", "score", "response"]].to_dict("records")
    return {"scored": len(rows), "of": len(found), "agreement": agreement, "disagree": marked(shown, "audit"), "cannot_tell": unknown}


def _agreement(reward: Floats, score: Floats) -> Answer | None:
    """The share of pairs that both tell apart which they put in one order; its interval is that of as many pairs as share no sample."""
    known = np.isfinite(reward)
    told = same_order(reward[known], score[known])
    if known.sum() < FEWEST or not told.size:
        return None
    share, pairs = float(told.mean()), told.size / (known.sum() - 1) / 2
    low, high = wilson(share * pairs, pairs)
    means = "it agrees" if low > 0.5 else "it runs against you" if high < 0.5 else "cannot be told from chance"
    return {"share": share, "low": low, "high": high, "means": means}
