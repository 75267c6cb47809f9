"""What is written into a case: belief and experiment when it is opened, and what a later run says of them."""

from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path

import numpy as np

from rl_advisor.answers.comparable import NO_VARIANT
from rl_advisor.answers.compare import differing
from rl_advisor.curves.course import Course
from rl_advisor.detectors import patterns
from rl_advisor.discovery import table
from rl_advisor.finding import BROKEN, Experiment, number
from rl_advisor.finding import Outcome as Shown
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.one_thread import OneThread
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.output.wording import setting
from rl_advisor.run import Run
from rl_advisor.tools import read
from rl_advisor.tools.advisors.builtin import of_case
from rl_advisor.tools.cases.shelf import LONGEST, Belief, CaseFile, Outcome, Prediction, Settled

LINK_RIGHT = 0.81
"""How often the link named of a broken run is one that a reader names, on 511 strangers' runs: ``python -m evals.judged``."""
EVEN = 0.5
"""What is believed of an experiment for which no finding speaks."""
Found = tuple[Outcome, float | None, list[str]]
"""What came of a case, what is believed now (None: as before), and why."""


NEXT: Mapping[Outcome, str] = {
    "confirmed": "Keep the change.",
    "open": "Repeat it with another seed before you believe either.",
    "refuted": "Take the change back: it was not this.",
}


@OneThread()
def drafted(place: str | Path, question: str = "") -> CaseFile:
    """A case on a run: what is believed of it, with which odds, and the one experiment. It has no name before it is kept."""
    run = read(place)
    case = open_case(run)
    judged, signed = judge(case), of_case(case)
    belief = _belief(judged, signed.p_continue_pays)
    return CaseFile(
        question=question[:LONGEST],
        run=str(place),
        called=run.name,
        step=case.step,
        verdict=judged.verdict,
        belief=belief,
        prediction=_prediction(case, belief, signed.next_experiment),
    )


def _prediction(case: Case, belief: Belief, experiment: Experiment) -> Prediction:
    """The experiment and what is expected; of a cause first what a later run is settled by: the outcome at this step, and the pattern."""
    right, wrong = experiment.expect_if_right, experiment.expect_if_wrong
    planned, course = case.run.planned_steps or 0, case.performance.counts
    if belief.about == "cause" and course is not None:
        end, pattern = float(_at(course, case.step).mean()), belief.pattern.replace("_", " ")
        seen, again = (f", and {pattern} is not there", f", or {pattern} is there again") if pattern else ("", "")
        there = f"at step {number(case.step)} {_outcome_of(case.run, course)} stands"
        right = f"A run with that done: {there} above {number(end + course.margin)} (here {number(end)}){seen}. {right}"
        wrong = f"A run with that done: {there} no higher than here{again}. {wrong}"
    by = case.step if belief.about == "cause" else planned if planned > case.step else None
    return Prediction(do=experiment.do, if_right=right, if_wrong=wrong, by_step=by)


def _belief(judged: Judged, pays: float) -> Belief:
    """The cause, or the link that likely broke where no finding names a cause; of a sound run whether going on pays."""
    if judged.cause is not None:
        said = f"{judged.cause.pattern.replace('_', ' ')} broke first: {judged.cause.statement}"
        return Belief(about="cause", says=said, p=LINK_RIGHT, pattern=judged.cause.pattern, link=judged.cause.link.value)
    if judged.verdict in BROKEN:
        link = judged.link.value if judged.link else "none"
        said = "what the experiment changes broke the run" + (f": likely the {link.replace('_', ' ')}" if judged.link else "")
        return Belief(about="cause", says=said, p=EVEN, link=link)
    return Belief(about="going on", says="Training on yields a checkpoint that is better than the best so far by more than noise.", p=pays)


@OneThread()
def settled(case: CaseFile, first: str | Path, runs: Sequence[str | Path], changed: str = "") -> CaseFile:
    """The case with what a later run says of it; of several the one whose settings differ as proposed, else the last.

    ``first`` is the run of the case, read as it looked at the step at which it was opened; ``changed`` says what was changed where no
    setting shows it.
    """
    before, later = read(first, case.step), [read(run) for run in runs]
    shown = [turned(case.belief.pattern, before, run) for run in later]
    did = [n for n, (as_proposed, _) in enumerate(shown) if as_proposed]
    meant = did[0] if len(did) == 1 else -1
    old, new = open_case(before), open_case(later[meant])
    outcome, p, because = _went_on(old, new) if case.belief.about == "going on" else _tested(case, old, new, shown[meant], changed)
    following = case.prediction.do if outcome == "not tested" else of_case(new).next_experiment.do
    if case.belief.about == "cause" and outcome in NEXT:
        following = f"{NEXT[outcome]} {following}"
    found = Settled(run=str(runs[meant]), outcome=outcome, p=case.p if p is None else p, because=because, next=following)
    told = case.model_copy(update={"settled": [*case.settled, found]})
    return told.noted(f"changed: {changed}") if changed else told


def _tested(case: CaseFile, old: Case, new: Case, shown: tuple[list[str], list[str]], changed: str) -> Found:
    """Confirmed where the run is likely mended and nothing else was changed, refuted where it likely is not."""
    did, others = shown
    if old.run.config and new.run.config and not did and not changed and (case.belief.pattern or not others):
        shows = f"what the settings show as changed is not what was proposed: {'; '.join(others[:4]) or 'nothing'}"
        return "not tested", None, [shows, "say it with --changed"]
    amounts, because = compared((old, judge(old)), (new, judge(new)), case.belief.pattern)
    because = [*([f"changed: {'; '.join([changed, *did] if changed else did)}"] if changed or did else []), *because]
    mended = repaired(amounts)
    if len(others) + bool(did or changed) > 1:
        because.append(f"changed as well: {'; '.join(others[:4])}: which of them did it cannot be told")
        mended = min(mended, 0.5 + (mended - 0.5) / 2)
    odds = case.p / max(1e-3, 1 - case.p) * mended / (1 - mended)
    return "confirmed" if mended >= SETTLED else "refuted" if mended <= 1 - SETTLED else "open", odds / (1 + odds), because


def _went_on(before: Case, after: Case) -> Found:
    """Whether the later part of the run came above the best that it had when the case was opened; not tested where it did not go on."""
    old, new = before.performance.counts, after.performance.counts
    if old is None or new is None or old.name != new.name or new.level.step[-1] <= old.level.step[-1]:
        return "not tested", None, ["it has no later points of the outcome"]
    best = float(new.levels[new.level.step > old.level.step[-1]].max())
    paid = best - old.best > max(old.margin, new.error)
    came = f"{new.name} came to {number(best)} after step {number(old.level.step[-1])}; its best before was {number(old.best)}"
    return "confirmed" if paid else "refuted", float(paid), [came]


SETTLED = 0.8
"""Probability of a repair from which a belief counts as confirmed, and of none from which it counts as refuted."""
LEAST = 0.02
"""What is left for the other side however clear the runs look: two runs differ by luck as well."""


def repaired(amounts: Mapping[str, float]) -> float:
    """Probability that what was wrong with the first run is mended in the second, where both were as likely before."""
    fitted = table(__file__, "settling.toml")
    odds = fitted["none"] + sum(fitted[name] * value for name, value in amounts.items())
    return float(np.clip(1 / (1 + exp(-odds)), LEAST, 1 - LEAST))


def compared(first: tuple[Case, Judged], second: tuple[Case, Judged], pattern: str) -> tuple[dict[str, float], list[str]]:
    """What two runs show of one belief: the amounts, and the sentences that say them.

    ``better``: how likely the second ends above the first at the same step, by more than what matters, less one half;
    ``sounder``: log-odds of a sound verdict, the second's less the first's; ``gone``: half where the pattern is no longer there, minus half
    where it is.
    """
    (old, said), (new, says) = first, second
    better, how = _better(old.performance.counts, new.performance.counts, new.run)
    sounder = float(np.clip(_sound(says) - _sound(said), -6, 6))
    gone, told = _gone(new, pattern)
    verdicts = f"it is judged {says.verdict.replace('_', ' ')}, the first was {said.verdict.replace('_', ' ')}"
    return {"better": better, "sounder": sounder, "gone": gone}, [t for t in (how, verdicts, told) if t]


def _sound(judged: Judged) -> float:
    broken = float(np.clip(sum(p for v, p in judged.probabilities.items() if v in BROKEN), 0.01, 0.99))
    return log((1 - broken) / broken)


def _better(old: Course | None, new: Course | None, run: Run) -> tuple[float, str]:
    if old is None or new is None or old.name != new.name:
        return 0.0, "the two runs share no outcome that can be compared"
    until = min(old.level.step[-1], new.level.step[-1])
    ends = [_at(course, until) for course in (old, new)]
    rng = np.random.default_rng(0)
    gain = rng.permuted(ends[1]) - ends[0]
    margin = max(old.margin, new.margin, 1e-12)
    p = float(np.mean(gain > margin))
    was, now = (number(end.mean()) for end in ends)
    return p - 0.5, f"{_outcome_of(run, new)} is at {now} at step {number(until)}, where the first run was at {was}"


def _outcome_of(run: Run, course: Course) -> str:
    """The outcome by the run's own name."""
    curve = run.curves.get(course.name)
    return curve.raw if curve is not None else course.name


def _at(course: Course, until: float) -> np.ndarray:
    """The level near a step in every draw: over the tenth of the course before it."""
    last = max(1, int(np.searchsorted(course.level.step, until, side="right")))
    draws: np.ndarray = course.level.draws[:, max(0, last - max(1, last // 10)) : last].mean(axis=1)
    return draws


def _gone(new: Case, pattern: str) -> tuple[float, str]:
    found = new.findings.get(pattern)
    if found is None or found.outcome not in (Shown.PRESENT, Shown.ABSENT):
        return 0.0, ""
    name, there = pattern.replace("_", " "), found.outcome is Shown.PRESENT
    return (-0.5, f"{name} is still there: {found.statement}") if there else (0.5, f"{name} is no longer there")


def turned(pattern: str, first: Run, second: Run) -> tuple[list[str], list[str]]:
    """What differs between the two runs: settings that belong to what was believed, and others; each as ``name before -> after``.

    Where no pattern says what belongs to the belief, a single setting that differs is the experiment.
    """
    told = {
        key: f"{key} {setting(before)} -> {setting(after)}"
        for key, (before, after) in differing([first, second]).items()
        if not NO_VARIANT.search(key) and key != "planned_steps"
    }
    its = {ours for ours, _ in patterns()[pattern].change} if pattern in patterns() else set(told) if len(told) == 1 else ()
    return [text for key, text in told.items() if key in its], [text for key, text in told.items() if key not in its]
