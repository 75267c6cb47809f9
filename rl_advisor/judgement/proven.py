"""What is proven without weighing: a crash, what settings contradict, what single rows show; each with its link and the one thing to do."""

from collections.abc import Sequence
from dataclasses import replace

from rl_advisor.finding import Experiment, Finding, Outcome
from rl_advisor.judgement.proofs import FEW, proofs
from rl_advisor.judgement.proofs.crashes import crash_in, warnings_in
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.output.wording import sentence
from rl_advisor.run import Run
from rl_advisor.settings import checks

LATE = "broken_policy"
"""The cause that says no more than that something broke: what a finding names goes before it."""
STANDS = ("improving", "plateaued")
"""Verdicts that say that an outcome was reached in spite of what single rows show."""
RIGHT = {
    "crash": "It runs past that point.",
    "settings": "What showed it goes away: {because}",
    "rows": "The cause was {cause}.",
    "warnings": "The trainer no longer warns.",
}
"""What shows if it was the cause."""


def faults(run: Run, text: str = "", beyond: Sequence[Finding] = (), found: Sequence[Finding] = ()) -> list[Finding]:
    """All that is wrong in the one order in which it is told: what stopped the run, what is proven, what was found, what is worth knowing.

    ``text`` is what a pasted run was read from; ``beyond`` are single values that cannot be, ``found`` what detectors found.
    """
    settings, crash = checks.run(run), crash_in(text)
    if crash is None or crash.about[0] in _printed(run, "warning"):  # the log goes on behind it
        crash = crash_in(_printed(run, "error", "out_of_memory", "non_finite"))
    sure, alone, notes = (
        [f for f in settings if f.there and f.confirmed],
        [f for f in settings if f.there and not f.confirmed],
        [f for f in settings if f.outcome is Outcome.UNCLEAR and f.causes[0].tell_apart],
    )
    rows = [f for f in proofs(run) if f.there and f.causes]
    late = [f for f in rows if LATE in {c.name for c in f.causes}]
    accused = {name for f in (*rows, *sure, *alone) for name in f.about}
    warned = [replace(f, statement=sentence(f.statement)) for f in warnings_in(text or _printed(run, "warning" * (Rows(run).count < FEW)))]
    values = [f for f in beyond if accused.isdisjoint(f.about)]
    return [*([crash] if crash else []), *sure, *warned, *(f for f in rows if f not in late), *values, *found, *late, *alone, *notes]


def _printed(run: Run, *kinds: str) -> str:
    return "\n".join(e.text for e in run.events if e.kind in kinds)


def proven(run: Run) -> list[Finding]:
    """The proven faults of a run, the surest first."""
    return [f for f in faults(run) if f.there]


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
    return [f.statement for f in proofs(run) if f.outcome is Outcome.ABSENT]


def few(run: Run) -> bool:
    """Whether there are only a few rows, so that each is read for itself."""
    return 0 < Rows(run).count < FEW
