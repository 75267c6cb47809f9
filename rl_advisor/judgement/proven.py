"""What is proven without weighing: a crash, what settings contradict, what single rows show; each with its link and the one thing to do."""

from rl_advisor.assessment import Experiment
from rl_advisor.finding import Finding
from rl_advisor.judgement.proofs import FEW, proofs
from rl_advisor.judgement.proofs.crashes import crash_of, warned_of
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.output.wording import sentence
from rl_advisor.run import Run
from rl_advisor.settings import checks

STANDS = ("improving", "plateaued")
"""Verdicts that say that an outcome was reached in spite of what single rows show."""
RIGHT = {
    "crash": "It runs past that point.",
    "settings": "What showed it goes away: {because}",
    "rows": "The cause was {cause}.",
    "warnings": "The trainer no longer warns.",
}
"""What shows if it was the cause."""


def proven(run: Run) -> list[Finding]:
    """The proven faults of a run, the surest first: a crash, settings that the log confirms, rows, settings alone."""
    settings, crash = checks.proven(run), crash_of(run)
    confirmed, alone = ([f for f in settings if f.confirmed is sure] for sure in (True, False))
    return [
        *([crash] if crash else []),
        *confirmed,
        *(warned_of(run) if Rows(run).count < FEW else []),
        *(f for f in proofs(run) if f.there and f.causes),
        *alone,
    ]


def experiment_on(fault: Finding) -> Experiment:
    """The next experiment on a proven fault."""
    first, says = fault.causes[0], fault.statement
    if fault.seen_in == "crash":
        says = f"The run stopped with an error{' at ' + fault.about[1] if fault.about[1] else ''}: {says}."
    return Experiment(
        do=f"{sentence(says)} {first.tell_apart}",
        expect_if_right=RIGHT[fault.seen_in].format(because=first.because, cause=first.cause),
        expect_if_wrong="If nothing changes, this was not the cause: start from the earliest curve that moved.",
    )


def normal(run: Run) -> list[str]:
    """What the rows show to be as it should be, where somebody might take it for a fault."""
    return [f.statement for f in proofs(run) if not f.there]


def few(run: Run) -> bool:
    """Whether there are only a few rows, so that each is read for itself."""
    return 0 < Rows(run).count < FEW
