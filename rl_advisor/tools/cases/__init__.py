"""The case file: what was believed of a run with which odds, the one experiment, and what the run that followed said of it.

A practitioner predicts before looking. A case is opened on a run, noted in, and settled by a later one: confirmed, refuted, open, or not
tested. Each is one JSON file (the truth) and one Markdown page made from it. Runs are named by their path or address here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_advisor.judgement.one_thread import OneThread
from rl_advisor.output.clean import clean
from rl_advisor.tools.cases import advice, shelf
from rl_advisor.tools.runs import read


def open_case(folder: Path, run: str | Path, question: str = "") -> dict[str, Any]:
    """Opens a case on a run and returns it as it was written; raises what :func:`rl_advisor.tools.runs.read` raises."""
    with OneThread():
        return _clean(advice.begin(folder, read(run), str(run), question))


def note_case(folder: Path, name: str, text: str) -> dict[str, Any]:
    """Adds a note to a case; raises UsageError with the near names where there is none of that name."""
    return _clean(advice.note(folder, name, text))


def settle_case(folder: Path, name: str, runs: Sequence[str | Path], changed: str = "") -> dict[str, Any]:
    """Judges a case by a later run: its own run is read again, as it looked at the step at which the case was opened."""
    case = shelf.load(folder, name)
    with OneThread():
        first = read(case.run, case.step)
        return _clean(advice.settle(folder, name, first, [(str(run), read(run)) for run in runs], changed))


def _clean(answer: dict[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = clean(answer)
    return cleaned
