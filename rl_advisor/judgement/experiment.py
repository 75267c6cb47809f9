"""The one next experiment: taken from the manual page of the pattern that broke first, with what each explanation predicts."""

import re

from rl_advisor.curves import goal
from rl_advisor.curves.task import task
from rl_advisor.detectors import marked, patterns
from rl_advisor.finding import BROKEN, FALLS, BestCheckpoint, Call, Experiment, Finding, Verdict, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import proven_of, roots
from rl_advisor.judgement.proven import experiment_on, few, normal
from rl_advisor.judgement.settings_to_change import lasting, turns, usual_value
from rl_advisor.judgement.slowness import slowest
from rl_advisor.judgement.usual_steps import satisfied, told_step, usual_step
from rl_advisor.judgement.verdict import Judged
from rl_advisor.output.wording import sentence

BEFORE = re.compile(r"the (?:last )?checkpoint (?:before|at) (?:it|the onset|the error)\b")
"""How manual pages name the checkpoint to go back to."""


def next_experiment(case: Case, judged: Judged, call: Call, best: BestCheckpoint | None = None) -> Experiment:
    """The experiment that would confirm or refute the first break; for a healthy run the one that tests its verdict.

    A fault that is proven goes before: of the link that broke, or any where no finding says what broke.
    """
    if judged.verdict not in BROKEN and goal.reached(case.run):
        return satisfied(case)
    if judged.cause is not None and "usual_high it" in judged.cause.measures and (told := of_setting(case, judged.cause)):
        return told
    faults = [f for f in proven_of(case, judged.verdict) if judged.cause is None or f.link is judged.cause.link]
    if faults:
        return experiment_on(faults[0])
    if judged.cause is None and few(case.run):
        return told_step("few_rows", normal=" ".join(normal(case.run)[:3]))
    if judged.cause is None:
        open_question = beside(case, judged.verdict)
        usual = usual_step(case, judged.verdict, call)
        return first_of_all(open_question, usual) if open_question else usual
    name, page = judged.cause.pattern.replace("_", " "), patterns()[judged.cause.pattern].page
    other = next((f.pattern for f in roots(case) if f.pattern != judged.cause.pattern), None)
    rival = f"another reading fits better: {page['Not to be confused with']}"
    if other is not None:
        rival = f"what {other.replace('_', ' ')} predicts shows instead: {patterns()[other].page['Means']}"
    turned = turns(case.run, judged.cause.pattern)  # what to turn in the framework in use, where a switch of it belongs to the pattern
    how = (f"In {case.run.frameworks[0]} set {'; '.join(turned)}, and change nothing else.", lasting(case.outcome)) if turned else ()
    return Experiment(
        do=" ".join(part for part in (sentence(_named(page["Next test"], case, best)), *how) if part),
        expect_if_right=f"The cause was {name}: {page['Means']}",
        expect_if_wrong=f"It was not, and {rival}",
    )


def _named(test: str, case: Case, best: BestCheckpoint | None) -> str:
    """A test with the checkpoint that is kept in place of "the checkpoint before it"; said where none is on disk."""
    if "control" in task(case.run).traits:
        test = re.sub(r"\bprompts\b", "tasks", test)
    if not case.run.checkpoints:
        return BEFORE.sub("a checkpoint from before it (none is on disk)", test)
    return BEFORE.sub(best.path, test) if best is not None and best.path else test


def of_setting(case: Case, cause: Finding) -> Experiment | None:
    """The setting that is out of range at a usual value, and how long to look; None where it is not known by which key to set it."""
    told = usual_value(case.run, cause.evidence[0].metric, cause.measures["value it"]) if cause.evidence else ""
    if not told:
        return None
    return told_step("of_setting", told=told, steps=number(max(1.0, case.step / 10)))


def beside(case: Case, verdict: Verdict) -> Finding | None:
    """What is to be looked at first: GPUs that mostly wait in a run that learns; else a finding that breaks nothing and asks for a look."""
    idle = slowest(case.findings.values()) if verdict not in BROKEN else None
    asked = [] if verdict in (*FALLS, "reward_hacking") else marked("look first")
    return idle or next((case.findings[p] for p in asked if case.present(p)), None)


def first_of_all(question: Finding, usual: Experiment) -> Experiment:
    """The test of an open question; where time is what is lost, the usual step after it."""
    page = patterns()[question.pattern].page
    then = f" Then: {usual.do}" if question.pattern in marked("idle") else ""
    return Experiment(
        do=f"{sentence(question.statement)} {sentence(page['Next test'])}{then}",
        expect_if_right=f"It is that: {page['Means']} {usual.expect_if_right}",
        expect_if_wrong=f"It is not: {page['Not to be confused with']} {usual.expect_if_wrong}",
    )
