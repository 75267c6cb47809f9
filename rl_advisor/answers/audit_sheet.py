"""The blind sheet of an audit: a person scores samples without seeing their reward, and the scores are held against it.

It is drawn evenly over parts of the steps and of the rewards, so its shares are the sheet's own, not the run's. Nothing is ever written
over: a file that is there is read, or refused when it is no sheet of ours.
"""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from rl_advisor.answers.spot_check import SEED, marked
from rl_advisor.output import Answer
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import UsageError
from rl_advisor.reading.formats import audit_sheet as sheets
from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.run import Run
from rl_advisor.samples.person import FEWEST, HEAD, PARTS, agreement, keyed, scored

SAMPLES, LONGEST = 48, 8_000
"""Samples of a sheet, and characters of a cell that is written."""
_FORMULA = re.compile(r"((?:^|[;\t\n])[^\S\t\n]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a spreadsheet, of whatever separator, would take a text for something to compute."""


def audit_sheet(run: Run, path: Path) -> Answer:
    """Writes the sheet where no file is; else what its scores say of the reward: agreement with intervals, and who disagrees most.

    Raises:
        UsageError: no sample has a reward, or the file is no sheet of ours; the message says what was found.
    """
    if path.suffix != ".csv":
        raise UsageError(f"{path.name!r} is neither a number of samples nor a sheet, which ends in .csv")
    return {"sheet": path.name, **(_against(run, path) if path.exists() else _written(run, path))}


def _written(run: Run, path: Path) -> Answer:
    rows = keyed(run)
    if not len(rows):
        raise UsageError("no sample with a text has a reward, so there is nothing to hold a person's scores against")
    rows = rows.sample(frac=1, random_state=SEED)
    drawn = rows.groupby([np.ceil(PARTS * rows[by].rank(method="dense", pct=True)) for by in ("step", "reward")])
    rows = drawn.head(max(1, SAMPLES // drawn.ngroups))
    cells = [[_FORMULA.sub(r"\1'", readable(str(text), LONGEST)) for text in rows[name]] for name in HEAD[2:]]
    with path.open("x", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([HEAD, *zip(rows["key"], [""] * len(rows), *cells, strict=True)])
    return {"written": len(rows)}


def _against(run: Run, path: Path) -> Answer:
    """The reward and its parts against the scores; the samples that the two rank most differently either way."""
    if not sheets.claims(path):
        raise UsageError(f"{path.name} is no audit sheet: it begins with {head(path, 60)!r}, a sheet with {HEAD[:2]}; nothing was written")
    given = sheets.read(path).scores
    rows = scored(replace(run, scores=given))
    found = agreement(rows)
    lacking = len(given) - len(rows)
    unknown = [f"{lacking} of {len(given)} samples have no number as score, or are not this run's"] if lacking else []
    unknown += [] if found else [f"{FEWEST} samples that differ in score and in reward are needed"]
    gap = rows["reward"].rank(pct=True) - rows["score"].rank(pct=True)
    apart = gap[gap.abs() > 1 / PARTS].sort_values().index
    shown = rows.loc[[*apart[:1], *apart[1:][-1:]], ["step", "reward", "score", "response"]].to_dict("records")
    return {"scored": len(rows), "of": len(given), "agreement": found, "disagree": marked(shown, "audit"), "cannot_tell": unknown}
