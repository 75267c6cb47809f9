"""A goal that somebody set for the outcome: whether it is there beyond noise; else how far it is, and whether the pace gets there."""

import numpy as np

from rl_advisor.curves.ahead import continued
from rl_advisor.curves.course import OUTSIDES, SURE, Course
from rl_advisor.curves.outcomes import course_or_none, outcome
from rl_advisor.output.wording import chance, value
from rl_advisor.run import Run
from rl_advisor.vocabulary import metric_unit

FURTHER = 1 / 3
"""How far ahead is looked where no plan is known, as a share of what was done."""
LIKELY = 0.75
"""Share of the courses from which it likely gets there, and of the others from which it hardly does."""
NOTHING = 1e-3
"""Share of the outcome's scale that is called nothing."""


def measured(run: Run) -> Course | None:
    """The outcome of a run that has a goal; None where none was set, or too little is logged."""
    return None if run.goal is None else course_or_none(outcome(run))


def wanted(run: Run) -> float:
    """The goal on the scale of the outcome's curve, whose sign is turned where less of it is better."""
    turned = run.outcome_guess is not None and run.outcome_guess.lower_is_better
    return -float(run.goal or 0) if turned else float(run.goal or 0)


def reached(run: Run) -> bool:
    """Whether the level of the outcome stands at the goal, or above, in nineteen of twenty courses that fit it."""
    found = measured(run)
    return found is not None and float((found.ends >= wanted(run)).mean()) >= SURE


def said(run: Run) -> str:
    """Where the run stands beside its goal, in one sentence; empty where none was set."""
    if run.goal is None:
        return ""
    if (found := measured(run)) is None:
        return "it cannot be told whether the goal is reached: the outcome has too few points"
    unit, aim = metric_unit(found.name), wanted(run)
    levels = (aim, found.last, aim - found.last, *np.quantile(found.ends, OUTSIDES))
    goal, last, below, low, high = (value(0.0 if abs(x) < NOTHING * found.scale else float(x), unit, 3) for x in levels)
    stands = f"{found.name} stands at about {last} ({low} to {high})"
    share = float((found.ends >= aim).mean())
    if share >= SURE:
        return f"{goal} is reached: {stands}"
    if share > 1 - SURE:
        return f"{goal} is not reached beyond noise: {stands}"
    if found.best >= aim:
        return f"{goal} was reached ({value(found.best, unit, 3)} at step {found.best_step:.0f}) and is lost again: {stands}"
    return f"{goal} is not reached: {stands}, {below} below; {_pace(run, found)}"


def _pace(run: Run, found: Course) -> str:
    """Whether the courses, continued at their pace, get there by the planned end."""
    first, last = found.level.step[0], found.level.step[-1]
    until = float(run.planned_steps or 0) or float(last + FURTHER * (last - first))
    if until <= last:
        return "the plan is done"
    p = float((continued(found, until).max(axis=1) >= wanted(run)).mean())
    how = "likely gets there" if p >= LIKELY else "hardly gets there" if p <= 1 - LIKELY else "may get there"
    return f"at this pace it {how} by step {until:.0f} ({chance(p)})"
