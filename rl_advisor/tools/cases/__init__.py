"""The case file: what was believed of a run with which odds, the one experiment, and what the run that followed said of it.

A practitioner predicts before looking. A case is opened on a run, noted in, and settled by a later one: confirmed, refuted, open, or not
tested. Each is one JSON file (the truth) and one Markdown page made from it. Runs are named by their path or address here.
"""

from collections.abc import Sequence
from pathlib import Path

from rl_advisor.output import Answer
from rl_advisor.tools.cases import shelf


def open_case(cases: Path, run: str | Path, question: str = "") -> Answer:
    """Opens a case on a run and returns it as it was written; raises what :func:`rl_advisor.tools.read` raises."""
    from rl_advisor.tools.cases import advice

    return shelf.keep(cases, advice.drafted(run, question))


def note_case(cases: Path, name: str, text: str) -> Answer:
    """Adds a note to a case; raises UsageError with the near names where there is none of that name."""
    return shelf.keep(cases, shelf.load(cases, name).noted(text))


def settle_case(cases: Path, name: str, runs: Sequence[str | Path], changed: str = "") -> Answer:
    """Judges a case by a later run; what is named wrongly raises as above."""
    from rl_advisor.tools.cases import advice

    case = shelf.load(cases, name)
    return shelf.keep(cases, advice.settled(case, case.run, runs, changed))
