"""Saying it: the summary, what was ruled out and what could not be seen. Every number in it stands in a finding or a field."""

from rl_advisor.assessment import BestCheckpoint, Call, Experiment
from rl_advisor.diagnosis import role_of
from rl_advisor.finding import Finding, Outcome, Role, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import roots
from rl_advisor.judgement.checkpoint import NOTHING
from rl_advisor.judgement.prospects import Prospect
from rl_advisor.judgement.unseen import fitting
from rl_advisor.judgement.verdict import Judged

OPENING = {
    "improving": "This run is still improving",
    "plateaued": "This run has had its say: nothing that matters has changed lately",
    "not_learning": "This run is not learning",
    "degrading": "This run is past its best and getting worse",
    "collapsed": "This run has collapsed",
    "reward_hacking": "The reward is being gamed: it is paid for something other than the task",
    "unstable": "This run swings without getting anywhere",
    "undecidable": "From what is logged, this run cannot be judged",
}
STILL_RISING = "This run was still improving when its plan ended"
SOUND = "; nothing is known to be broken"
FINISHED = "finished: nothing is left of the plan"
WRONG_REWARD = "What is optimised is not the task: the reward pays the opposite of it, or something else"
FEW = 4
"""Patterns named in a sentence of the summary."""
MOST = 8
"""Entries of a list; the rest stands in the findings."""


def words(pattern: str) -> str:
    """A pattern's name in plain words."""
    return pattern.replace("_", " ")


def summary(case: Case, judged: Judged, prospect: Prospect, said: Call, best: BestCheckpoint, experiment: Experiment) -> str:  # noqa: PLR0913
    """Five to eight sentences, in the order in which a colleague would tell it."""
    wrong = judged.cause is not None and judged.cause.pattern == "reward_sign"
    parts = [
        f"{WRONG_REWARD if wrong else opening(case, judged)}.",
        saw(case),
        first_break(case, judged),
        upside(case, judged, prospect, said),
        keep(best),
    ]
    out, blind = ruled_out(case), blind_spots(case)
    if out:
        parts.append("Looked for and not found: " + ", ".join(o.split(":")[0] for o in out[:5]) + ".")
    if blind:
        parts.append("Could not see: " + "; ".join(blind) + ".")
    parts.append(f"Next: {experiment.do}")
    return " ".join(p for p in parts if p)


def opening(case: Case, judged: Judged) -> str:
    """The verdict as a sentence; a run that rose to the end of its plan is not told to stop, it has finished."""
    ended = bool(case.run.planned_steps) and not case.remaining
    if judged.verdict != "improving":
        return OPENING[judged.verdict]
    return (STILL_RISING if ended else OPENING["improving"]) + ("" if judged.cause else SOUND)


def saw(case: Case) -> str:
    """What the outcome did."""
    told = []
    for s in (case.held, case.train):
        if s is not None:
            best = f", best {number(s.best)} near step {s.best_step:.0f}" if s.best - max(s.start, s.last) > s.margin / 2 else ""
            told.append(f"{s.name} went from {number(s.start)} to {number(s.last)}{best}")
    crashed = [e for e in case.run.events if e.kind in ("error", "out_of_memory")]
    if not told and crashed:
        return f"It ended before anything could be measured: {crashed[0].where} reports an error ({len(crashed)} lines); start there."
    rewardless = next((g.why for g in case.run.gaps if g.where == "reward"), "")
    if not told and rewardless:
        return f"{rewardless[0].upper()}{rewardless[1:]}."
    if not told:
        return "No outcome curve is long enough to measure."
    without = "" if case.held else "; no held-out score is logged, so the reward speaks for itself"
    return "; ".join(told) + without + "."


def first_break(case: Case, judged: Judged) -> str:
    """What broke first, and what followed from it."""
    if judged.cause is None:
        if judged.link is None:
            return ""
        return f"Nothing in the log moves clearly before it, so the {words(judged.link.value)} is only the likeliest place to look."
    text = f"What broke first: {words(judged.cause.pattern)} ({words(judged.cause.link.value)}). {judged.cause.statement}"
    others = [f for f in roots(case) if f.pattern != judged.cause.pattern][:2]
    if others:
        text += " Also seen: " + " ".join(f.statement for f in others)
    return text


def upside(case: Case, judged: Judged, prospect: Prospect, said: Call) -> str:
    """What going on can bring, and the call."""
    finished = judged.verdict in ("improving", "plateaued") and said == "stop"
    done = FINISHED if finished else "the plan is done"
    planned = done if case.run.planned_steps else "the planned number of steps is not known, so a third more is looked at"
    left = f"{number(100 * case.remaining)} percent of the plan is left" if case.remaining else planned
    chance = f"the chance that going on brings a better checkpoint is about {number(round(prospect.p, 2))}"
    if prospect.ahead is None:
        chance = f"with nothing to forecast from, {chance}"
    elif case.remaining:
        chance += f" (moved most by: {prospect.moved_by})"
    more = (
        " It is still rising, though: a longer plan may pay."
        if case.run.planned_steps and not case.remaining and case.present("still_improving")
        else ""
    )
    if left == FINISHED:
        return f"{left[0].upper()}{left[1:]}.{more}"
    return f"{left[0].upper()}{left[1:]}; {chance}: {said}.{more}"


def keep(best: BestCheckpoint) -> str:
    """Which checkpoint to keep."""
    if best.path:
        return f"Keep {best.path}: {best.why}."
    return f"{best.why[0].upper()}{best.why[1:]}." if best.why == NOTHING else f"Best step {best.step}: {best.why}."


def ruled_out(case: Case) -> list[str]:
    """Causes that were looked for in the data and measured as absent."""
    absent = [f for f in case.findings.values() if f.outcome is Outcome.ABSENT and role_of(f.pattern) is not Role.SYMPTOM]
    return [f"{words(f.pattern)}: {f.statement}" for f in absent]


def could_not_see(case: Case) -> list[str]:
    """What the data lacks first, then what stayed unclear, what no log of this kind of run shows, and what is not logged."""
    unclear = [f"{words(f.pattern)}: {f.statement}" for f in _unclear(case)]
    unlogged = [f"{words(f.pattern)}: {f.statement}" for f in _with(case, Outcome.NOT_LOGGED)]
    return _lacking(case) + unclear + fitting(case.run) + unlogged


def blind_spots(case: Case) -> list[str]:
    """The same in few words: what the data lacks, and the names of the patterns that could not be told."""
    told = [line.rstrip(".") for line in _lacking(case)[:3]]
    for what, found in (("unclear", _unclear(case)), ("not logged", _with(case, Outcome.NOT_LOGGED))):
        if found:
            told.append(f"{what}: " + ", ".join(words(f.pattern) for f in found[:FEW]) + (" and others" if len(found) > FEW else ""))
    return told


def _lacking(case: Case) -> list[str]:
    """A score, a plan, and the gaps."""
    score = "held-out score: not logged or too few evaluations, so a gamed reward cannot be told from a good one by curves"
    plan = "planned steps: not in the configuration, so the remaining budget is unknown"
    gaps = [f"{g.where}: {g.why}" for g in case.run.gaps[:MOST]]
    return [score] * (case.held is None) + [plan] * (case.run.planned_steps is None) + gaps


def _unclear(case: Case) -> list[Finding]:
    return [f for f in _with(case, Outcome.UNCLEAR) if role_of(f.pattern) is not Role.SYMPTOM]


def _with(case: Case, outcome: Outcome) -> list[Finding]:
    return [f for f in case.findings.values() if f.outcome is outcome]
