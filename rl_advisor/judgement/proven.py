"""What is proven without weighing: a crash, what settings contradict, what single rows show; each with its link and the one thing to do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rl_advisor.assessment import Experiment
from rl_advisor.judgement.proofs import causes, proofs
from rl_advisor.judgement.proofs.crashes import crash_of
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.settings_to_change import learning_rate, slower
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.settings.given import CheckOutcome
from rl_advisor.vocabulary import Link


@dataclass(frozen=True)
class Proven:
    """One proven fault."""

    says: str
    link: Link
    do: str
    right: str
    """What shows if it was the cause."""
    borne: bool = False
    """Whether it would show in the outcome if it mattered: a score that was reached in spite of it says that it does not."""


def proven(run: Run) -> list[Proven]:
    """The proven faults of a run, the surest first: a crash, settings that the log confirms, rows, settings alone."""
    settings = checks.proven(run)
    confirmed = [_setting(o) for o in settings if o.confirmed]
    return [*_crash(run), *confirmed, *_rows(run), *(_setting(o) for o in settings if not o.confirmed)]


FEW = 8
BORNE = ("truncation", "flat_groups", "no_entropy", "drift")
"""Causes that an outcome may bear."""
SLOWER = ("large_steps", "drift", "growing", "broken_policy")
"""Causes that a smaller learning rate tells from the others."""
STANDS = ("improving", "plateaued")
"""Verdicts that say that an outcome was reached in spite of what single rows show."""


def that_matter(faults: Sequence[Proven], verdict: str) -> list[Proven]:
    """The proven faults that a verdict leaves standing."""
    return [fault for fault in faults if not (fault.borne and verdict in STANDS)]


def experiment_on(fault: Proven) -> Experiment:
    """The next experiment on a proven fault."""
    return Experiment(
        do=f"{fault.says} {fault.do}",
        expect_if_right=fault.right,
        expect_if_wrong="If nothing changes, this was not the cause: start from the earliest curve that moved.",
    )


def normal(run: Run) -> list[str]:
    """What the rows show to be as it should be, where somebody might take it for a fault."""
    return [p.says for p in proofs(Rows(run)) if not p.fault]


def _setting(o: CheckOutcome) -> Proven:
    return Proven(o.statement, o.link, o.do, f"What showed it goes away: {o.confirm_by}")


def few(run: Run) -> bool:
    """Whether there are only a few rows, so that each is read for itself."""
    return 0 < Rows(run).count < FEW


def _crash(run: Run) -> Iterator[Proven]:
    crash = crash_of(run)
    if crash is not None:
        where = f" at {crash.where}" if crash.where else ""
        yield Proven(f"The run stopped with an error{where}: {crash.means}.", crash.link, crash.do, "It runs past that point.")


def act(run: Run, name: str) -> str:
    """What to do about a likely cause, with the value to set where it is known."""
    test = causes()[name].tell_apart
    return f"Set {slower(run)}. {test}" if name in SLOWER and learning_rate(run) else test


def _rows(run: Run) -> Iterator[Proven]:
    """What rows prove and at least one cause explains."""
    for proof in proofs(Rows(run)):
        if proof.fault and proof.causes:
            cause = causes()[proof.causes[0]]
            yield Proven(proof.says, cause.link, act(run, proof.causes[0]), f"The cause was {cause.cause}.", borne=proof.causes[0] in BORNE)
