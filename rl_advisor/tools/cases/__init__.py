"""The case file: what was believed of a run with which odds, the one experiment, and what the run that followed said of it.

A practitioner predicts before looking. A case is opened on a run, noted in, and settled by a later one: confirmed, refuted, open, or not
tested. Each is one JSON file (the truth) and one Markdown page made from it. Runs are named by their path or address here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_advisor.output.clean import clean
from rl_advisor.tools.cases import shelf
from rl_advisor.tools.runs import read


def open_case(folder: Path, run: str | Path, question: str = "") -> dict[str, Any]:
    """Opens a case on a run and returns it as it was written; raises what :func:`rl_advisor.tools.runs.read` raises."""
    return shelf.keep(folder, draft(run, question))


def note_case(folder: Path, name: str, text: str) -> dict[str, Any]:
    """Adds a note to a case; raises UsageError with the near names where there is none of that name."""
    from rl_advisor.tools.cases import advice

    return shelf.keep(folder, advice.noted(shelf.load(folder, name), text))


def settle_case(folder: Path, name: str, runs: Sequence[str | Path], changed: str = "") -> dict[str, Any]:
    """Judges a case by a later run; what is named wrongly raises as above."""
    case = shelf.load(folder, name)
    return shelf.keep(folder, settle(case, case.run, runs, changed))


def draft(run: str | Path, question: str = "") -> shelf.CaseFile:
    """A case on a run that is kept nowhere yet."""
    from rl_advisor.judgement.one_thread import OneThread
    from rl_advisor.tools.cases import advice

    with OneThread():
        return _cleaned(advice.drafted(read(run), str(run), question))


def settle(case: shelf.CaseFile, first: str | Path, runs: Sequence[str | Path], changed: str = "") -> shelf.CaseFile:
    """The case with what the later of ``runs`` says; its ``first`` run is read again, as it looked at the step at which it was opened."""
    from rl_advisor.judgement.one_thread import OneThread
    from rl_advisor.tools.cases import advice

    with OneThread():
        later = [(str(run), read(run)) for run in runs]
        return _cleaned(advice.settled(case, read(first, case.step), later, changed))


def _cleaned(case: shelf.CaseFile) -> shelf.CaseFile:
    return shelf.CaseFile.model_validate(clean(case.model_dump(by_alias=True)))
