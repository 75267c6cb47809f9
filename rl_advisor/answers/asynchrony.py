"""Synchronous against asynchronous runs: which is which, what asynchrony costs at equal samples and brings at equal time.

What a run says of itself goes before what it logged: a setting that lets samples grow old, else how many policy versions old they were. A
run whose settings say nothing of it is taken to be in step where another one's do.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rl_advisor.answers.templates import case, sentences
from rl_advisor.curves.course import Course, course
from rl_advisor.gpu.steps import seconds_a_step
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed, pair
from rl_advisor.run import Curve, Run
from rl_advisor.settings.given import settings_of

AGE = "rollout/staleness"
FRESH = 0.5
"""Policy versions up to which samples count as fresh."""
SAMPLES = ("progress/episodes", "progress/env_steps", "progress/tokens")
OFF_POLICY = (
    "rollout/staleness",
    "ratio/mean",
    "ratio/clip_fraction",
    "kl/old",
    "kl/mismatch",
    "mismatch/logprob",
    "rollout/behave_weight",
    "rollout/dropped",
)


class Side(NamedTuple):
    """A run of one kind."""

    run: Run
    course: Course
    samples: float
    """How many a step is."""
    seconds: float | None
    """How long a step takes."""


def asynchrony(runs: Sequence[Run], curves: Sequence[Curve | None]) -> Answer:
    """Both kinds, their levels at equal samples and at equal time, speed, off-policy measures, what follows; else empty."""
    kinds, (unit, samples) = [_asynchronous(run) for run in runs], _samples(runs)
    known = [on if on is not None or not run.config else False for on, run in zip(kinds, runs, strict=True)]
    every = zip(known, runs, curves, samples, strict=True)
    found = [(on, Side(run, c, n, seconds_a_step(run))) for on, run, curve, n in every if curve is not None and (c := course(curve))]
    sides = [[side for on, side in found if on is late] for late in (False, True)]
    if not all(sides):
        return {}
    usual = {name: [m for side in sides if (m := _usual(side, name)) is not None] for name in OFF_POLICY}
    moved = {name: medians for name, medians in usual.items() if len(medians) > 1}
    timed = all(s.seconds for side in sides for s in side)
    pace = [float(np.mean([s.samples / s.seconds for s in side if s.seconds])) for side in sides] if timed else []
    answer: Answer = {
        "synchronous": [s.run.name for s in sides[0]],
        "asynchronous": [s.run.name for s in sides[1]],
        "untold": [run.name for on, run in zip(kinds, runs, strict=True) if on is None and run.config],
        "by": str(settings_of(sides[1][0].run).given("asynchronous") or ""),
        "unit": unit,
        "equal_samples": _at([[(s.course, s.samples) for s in side] for side in sides]),
        "equal_time": _at([[(s.course, s.seconds) for s in side if s.seconds] for side in sides]) if timed else None,
        "speed": pace[1] / pace[0] if pace else None,
        "off_policy": moved,
        "moved": listed([f"{name} {' → '.join(pair(first, last))}" for name, (first, last) in moved.items()], 5),
    }
    return answer | {"said": [*sentences("asynchrony", answer), case("asynchrony_pays", answer)["says"]]}


def _asynchronous(run: Run) -> bool | None:
    """Whether samples may be old when they are used: by the settings, else by how old they were; None where neither says."""
    if (given := settings_of(run).given("asynchronous")) is not None:
        return given.value not in (0, "", "none", "null")
    age = run.curves.get(AGE)
    return bool(np.median(age.numbers) > FRESH) if age is not None and age.numbers.size else None


def _usual(side: Sequence[Side], name: str) -> float | None:
    """The median of a curve over the runs that log it."""
    logged = [curve.numbers for s in side if (curve := s.run.curves.get(name)) is not None and curve.numbers.size]
    return float(np.median(np.concatenate(logged))) if logged else None


def _samples(runs: Sequence[Run]) -> tuple[str, Sequence[float]]:
    """How many samples a step is, by what all of them counted or by their settings; else steps stand for them."""
    for name in SAMPLES:
        counted = [curve.finite() for run in runs if (curve := run.curves.get(name)) is not None]
        if len(counted) == len(runs) and all(count.size and step[-1] > 0 for step, count in counted):
            return name.partition("/")[2].replace("_", " "), [float(count[-1] / step[-1]) for step, count in counted]
    prompts = [settings_of(run).number("batch_prompts") or 0.0 for run in runs]
    return ("prompts", prompts) if all(prompts) else ("steps", [1.0] * len(runs))


def _at(sides: Sequence[Sequence[tuple[Course, float]]]) -> Answer:
    """Both kinds' levels where the same was spent, and whether the asynchronous one's stands above by more than noise."""
    end = min(spent * float(c.level.step[-1]) for side in sides for c, spent in side)
    reached = [np.array([np.interp(end / spent, c.level.step, c.middle) for c, spent in side]) for side in sides]
    error = sum((x.var() + np.mean([c.error**2 for c, _ in side])) / x.size for x, side in zip(reached, sides, strict=True))
    before, after = (float(x.mean()) for x in reached)
    way = "above" if after > before else "below"
    sure = abs(after - before) > max(2 * error**0.5, *(c.margin for side in sides for c, _ in side))
    in_step, late = pair(before, after)
    return {"at": end, "synchronous": in_step, "asynchronous": late, "way": way if sure else "level"}
