"""Whether a later run bears out what was believed of an earlier one: three amounts, and how likely they make a repair.

The weights are fitted on pairs of the proving ground in which the truth is known: a fault, then the same training without
it, or with it and something else changed (``python -m evals.proving_ground.settled``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path

import numpy as np

from rl_advisor.answers.compare import spelled
from rl_advisor.assessment import BROKEN
from rl_advisor.curves.course import Course
from rl_advisor.detectors import patterns
from rl_advisor.finding import Outcome, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.verdict import Judged

SETTLED = 0.8
"""Probability of a repair from which a belief counts as confirmed, and of none from which it counts as refuted."""
LEAST = 0.02
"""What is left for the other side however clear the runs look: two runs differ by luck as well."""


@dataclass(frozen=True)
class Compared:
    """What two runs show of one belief."""

    amounts: Mapping[str, float]
    because: tuple[str, ...]

    @property
    def repaired(self) -> float:
        """Probability that what was wrong with the first is mended in the second, where both were as likely before."""
        fitted = _weights()
        odds = fitted["none"] + sum(fitted[name] * value for name, value in self.amounts.items())
        return float(np.clip(1 / (1 + exp(-odds)), LEAST, 1 - LEAST))


def compared(first: tuple[Case, Judged], second: tuple[Case, Judged], pattern: str) -> Compared:
    """The amounts, each with the sentence that says it.

    ``better``: how likely the second ends above the first at the same step, by more than what matters, less one half;
    ``sounder``: log-odds of a sound verdict, the second's less the first's; ``gone``: half where the pattern is no longer there, minus half
    where it is.
    """
    (old, said), (new, says) = first, second
    better, how = _better(old.performance.counts, new.performance.counts)
    sounder = float(np.clip(_sound(says) - _sound(said), -6, 6))
    gone, told = _gone(new, pattern)
    verdicts = f"it is judged {says.verdict.replace('_', ' ')}, the first was {said.verdict.replace('_', ' ')}"
    return Compared({"better": better, "sounder": sounder, "gone": gone}, tuple(t for t in (how, verdicts, told) if t))


def _sound(judged: Judged) -> float:
    broken = float(np.clip(sum(p for v, p in judged.probabilities.items() if v in BROKEN), 0.01, 0.99))
    return log((1 - broken) / broken)


def _better(old: Course | None, new: Course | None) -> tuple[float, str]:
    if old is None or new is None or old.name != new.name:
        return 0.0, "the two runs share no outcome that can be compared"
    until = min(old.level.step[-1], new.level.step[-1])
    ends = [_at(course, until) for course in (old, new)]
    rng = np.random.default_rng(0)
    gain = rng.permuted(ends[1]) - ends[0]
    margin = max(old.margin, new.margin, 1e-12)
    p = float(np.mean(gain > margin))
    was, now = (number(end.mean()) for end in ends)
    return p - 0.5, f"{new.name} is at {now} at step {number(until)}, where the first run was at {was}"


def _at(course: Course, until: float) -> np.ndarray:
    """The level near a step in every draw: over the tenth of the course before it."""
    last = max(1, int(np.searchsorted(course.level.step, until, side="right")))
    draws: np.ndarray = course.level.draws[:, max(0, last - max(1, last // 10)) : last].mean(axis=1)
    return draws


def _gone(new: Case, pattern: str) -> tuple[float, str]:
    found = new.findings.get(pattern)
    if found is None or found.outcome not in (Outcome.PRESENT, Outcome.ABSENT):
        return 0.0, ""
    name, there = pattern.replace("_", " "), found.outcome is Outcome.PRESENT
    return (-0.5, f"{name} is still there: {found.statement}") if there else (0.5, f"{name} is no longer there")


@cache
def _weights() -> dict[str, float]:
    fitted: dict[str, float] = json.loads(Path(__file__).with_name("settling.json").read_text(encoding="utf-8"))
    return fitted


def changed(pattern: str, differing: Mapping[str, Sequence[object]]) -> tuple[list[str], list[str]]:
    """What differs between the two runs: settings that belong to what was believed, and others; each as ``name before -> after``.

    Where no pattern says what belongs to the belief, a single setting that differs is the experiment.
    """
    told = {key: f"{key} {spelled(before)} -> {spelled(after)}" for key, (before, after) in differing.items()}
    if pattern not in patterns():
        return (list(told.values()), []) if len(told) == 1 else ([], list(told.values()))
    turned = {ours for ours, _ in patterns()[pattern].change}
    return [text for key, text in told.items() if key in turned], [text for key, text in told.items() if key not in turned]


def went_on(before: Case, after: Case) -> tuple[bool | None, str]:
    """Whether the later part of a run came above the best that it had when the case was opened; None where it did not go on."""
    old, new = before.performance.counts, after.performance.counts
    if old is None or new is None or old.name != new.name or new.level.step[-1] <= old.level.step[-1]:
        return None, "it has no later points of the outcome"
    later = new.levels[new.level.step > old.level.step[-1]]
    best, margin = float(later.max()), max(old.margin, new.error)
    return (
        best - old.best > margin,
        f"{new.name} came to {number(best)} after step {number(old.level.step[-1])}; its best before was {number(old.best)}",
    )
