"""The sentences that every door shows, each built once from typed facts, so that words cannot contradict numbers."""

import re

from rl_advisor.answers.story.chain import cause_of, named
from rl_advisor.answers.story.quantities import Quantity, label, logged_at, outcome_quantities
from rl_advisor.answers.templates import case
from rl_advisor.curves import goal, outcomes
from rl_advisor.curves.task import task
from rl_advisor.detectors import marked
from rl_advisor.finding import Assessment, FindingView
from rl_advisor.output.wording import WORDS, chance, clause, plain, sentence, span
from rl_advisor.run import Run

SOUND = tuple(name for name, words in WORDS["verdict"].items() if words["mood"] in ("good", "even"))
"""Verdicts of runs of which nothing is the cause: what is found there limits them at most."""
UNKNOWN = "unknown from this log"
CLOSE = (0.25, 0.35)
"""Probability of a better checkpoint between which a call is close, around the one from which a sound run goes on."""
EVEN = 0.5
"""Probability of a better checkpoint from which it is no reason to stop; what is broken is."""


def progress(run: Run, a: Assessment) -> str:
    """How far the run has come."""
    return (
        f"{a.step}/{a.planned_steps} steps" if a.planned_steps else f"{a.step} {run.step_unit if run.step_unit != 'updates' else 'steps'}"
    )


def kind(run: Run) -> str:
    """What is trained where no reward says how well, and by what it is judged; empty where one does."""
    found, guess = task(run), run.outcome_guess
    by = (
        f"; it is judged by {guess.raw}, of which less is better: its sign is turned" if guess is not None and guess.lower_is_better else ""
    )
    return "" if not found.says or (found.by_reward and outcomes.outcome(run) is not None) else f"this looks like {found.says}{by}"


def verdict(a: Assessment) -> str:
    """The verdict with how sure it is: the probability where there is one; between which verdicts it lies where none is called."""
    p = a.probabilities.get(a.verdict, 1.0)
    likely = [plain(v) for v in sorted(a.probabilities, key=lambda v: -a.probabilities[v]) if v != "undecidable"][:2]
    if a.verdict == "undecidable" and likely:
        return f"{plain(a.verdict)} ({' or '.join(likely)}, {a.confidence} confidence)"
    if p < EVEN:
        return f"unclear: {' or '.join(likely)} ({chance(p, a.confidence)} for the first)"
    sure = f"{chance(p, a.confidence)}, " if p < 1 else ""
    return f"{plain(a.verdict)} ({sure}{a.confidence} confidence)"


def call(run: Run, a: Assessment) -> str:
    """Go on or stop, and why."""
    figures = {
        "finished": a.planned_steps is not None and a.step >= a.planned_steps,
        "close": CLOSE[0] <= a.p_continue_pays <= CLOSE[1],
        "goal": goal.reached(run),
        "p": chance(a.p_continue_pays, a.confidence),
    }
    said: str = case("call", figures | a.model_dump(exclude={"findings"}))["says"]
    return f"Undecided: {said.partition(': ')[2]}" if a.call == "undecided" and not said.startswith("Undecided") else said


def beside(a: Assessment) -> str:
    """How the run stands beside earlier sound runs; empty where none were named, or where leaving their band is the cause."""
    found = next((f for f in a.findings if f.pattern in marked("beside") and f.outcome != "not_logged"), None)
    return sentence(found.statement) if found is not None and found is not cause_of(a) else ""


def cause(a: Assessment) -> str:
    """What broke first and when; where nothing names it, the stage to look at; empty where nothing is broken."""
    found = cause_of(a)
    if found is None:
        # Nothing is known to be broken where nothing is decided, and what a setting proves stands in what to do.
        asked = (
            a.first_broken_link != "none"
            and a.verdict != "undecidable"
            and not any(clause(line) in a.next_experiment.do for line in a.at_odds)
        )
        return f"{UNKNOWN}; look first at {WORDS['stage'][a.first_broken_link]}" if asked else ""
    said = clause(found.statement)
    title = "" if _says_its_name(found, said) else f"{named(found)}: "
    said = said[0].lower() + said[1:] if title and re.match("[A-Z][a-z]+ ", said) else said
    if found.onset is None or f"step {found.onset['step']:.0f}" in said:
        return f"{title}{said}"
    return f"{title}{said} (from {span(found.onset['low'], found.onset['high'])})"


def _says_its_name(f: FindingView, said: str) -> bool:
    """Whether a statement holds every word of its pattern's name, in any form: to say both would be to say it twice."""
    return all(word[:4] in said.lower() for word in f.pattern.split("_"))


def keep(run: Run, a: Assessment) -> str:
    """Which checkpoint to keep, with the score that was logged there; who chose it says why (``best_checkpoint.why``)."""
    best, told = a.best_checkpoint, trusted(run, a)
    if told is None or told.best is None:
        return f"{best.path}: {best.why}" if best.path else best.why
    if best.path is None:
        none = "no saved checkpoint beats the start" if run.checkpoints else "no checkpoint was saved"
        rose = a.verdict != "not_learning" and told.best > min(told.first, told.last)
        return f"{none}; {told.metric} was best at step {best.step}" if rose else none
    at = logged_at(run.curves.get(told.metric), best.step)
    there = f" ({told.metric} {told.spelled(at)}){_tied(run, a, told, at)}" if at is not None else ""
    if at is None or best.step is None or told.best_step is None or abs(best.step - told.best_step) < 1:
        return f"{best.path}{there}"
    return f"{best.path}{there}; the best level, {told.spelled(told.best)} at step {told.best_step:.0f}, was not saved"


def _tied(run: Run, a: Assessment, told: Quantity, at: float) -> str:
    """The saved checkpoint before the break where a higher value was logged: the earlier one is kept because the two tie within noise."""
    end = a.onset.low if a.onset else a.step
    saved = {c.path: x for c in run.checkpoints if c.step <= end and (x := logged_at(run.curves.get(told.metric), c.step)) is not None}
    path = max(saved, key=lambda name: saved[name], default=None)
    higher = path is not None and saved[path] > at and told.spelled(saved[path]) != told.spelled(at)
    return f" or {path} ({told.spelled(saved[path])}), a tie within noise" if path and higher else ""


def trusted(run: Run, a: Assessment) -> Quantity | None:
    """The quantity that a checkpoint is chosen by: the held-out score, or the reward where it is not gamed."""
    known = outcomes.held_out(run) is not None or a.verdict != "reward_hacking"
    return next(iter(outcome_quantities(run)), None) if known else None


def nothing(run: Run) -> str:
    """Why no outcome is told: the error that ended the run, or what keeps the reward from being found."""
    crashed = [e for e in run.events if e.kind in ("error", "out_of_memory")]
    if crashed:
        lines = f"{len(crashed)} lines" if len(crashed) > 1 else "one line"
        return f"the run ended before anything could be measured: {crashed[0].where} reports an error ({lines}); start there"
    idle = [f"{label(c)} says nothing in this kind of training" for n in ("reward/mean", "reward/success") if (c := run.curves.get(n))]
    return next((g.why for g in run.gaps if g.where == "reward"), idle[0] if idle else "no reward and no score is logged")
