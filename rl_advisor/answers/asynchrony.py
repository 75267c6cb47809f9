"""Synchronous against asynchronous runs: which is which, what asynchrony costs at equal samples and brings at equal time.

What a run says of itself goes before what it logged: a setting that lets samples grow old, else how many policy versions old they were. A
run whose settings say nothing of it is taken to be in step where another one's do.
"""

from collections.abc import Sequence

import numpy as np

from rl_advisor.answers.templates import case, sentences
from rl_advisor.curves.course import Course, course
from rl_advisor.gpu.steps import seconds_a_step
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed, pair
from rl_advisor.run import Curve, Run
from rl_advisor.settings.given import settings_of

FRESH = 0.5
"""Policy versions up to which samples count as fresh."""
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


def asynchrony(runs: Sequence[Run], curves: Sequence[Curve | None]) -> Answer:
    """Both kinds, their levels at equal samples and at equal time, speed, off-policy measures, what follows; else empty."""
    prompts = [settings_of(run).number("batch_prompts") or 0.0 for run in runs]
    each = prompts if all(prompts) else [1.0] * len(runs)
    sides: list[list[tuple[Run, Course, float, float]]] = [[], []]
    for run, curve, n in zip(runs, curves, each, strict=True):
        late = _asynchronous(run)
        if curve is not None and (c := course(curve)) is not None and (late is not None or run.config):
            sides[bool(late)].append((run, c, n, seconds_a_step(run) or 0.0))
    if not all(sides):
        return {}
    usual = {name: [m for side in sides if (m := _usual([run for run, *_ in side], name)) is not None] for name in OFF_POLICY}
    moved = {name: medians for name, medians in usual.items() if len(medians) > 1}
    timed = all(seconds for side in sides for *_, seconds in side)
    slow, fast = (float(np.mean([n / seconds for *_, n, seconds in side])) if timed else 0.0 for side in sides)
    names = [[run.name for run, *_ in side] for side in sides]
    answer: Answer = {
        "synchronous": names[0],
        "asynchronous": names[1],
        "untold": [run.name for run, *_ in sides[0] if _asynchronous(run) is None],
        "by": str(settings_of(sides[1][0][0]).given("asynchronous") or ""),
        "unit": "prompts" if all(prompts) else "steps",
        "equal_samples": _at([[(c, n) for _, c, n, _ in side] for side in sides]),
        "equal_time": _at([[(c, seconds) for _, c, _, seconds in side] for side in sides]) if timed else None,
        "speed": fast / slow if timed else None,
        "off_policy": moved,
        "moved": listed([f"{name} {' → '.join(pair(first, last))}" for name, (first, last) in moved.items()], 5),
    }
    return answer | {"said": [*sentences("asynchrony", answer), case("asynchrony_pays", answer)["says"]]}


def _asynchronous(run: Run) -> bool | None:
    """Whether samples may be old when they are used: by the settings, else by how old they were; None where neither says."""
    if (given := settings_of(run).given("asynchronous")) is not None:
        return given.value not in (0, "", "none", "null")
    age = _usual([run], OFF_POLICY[0])
    return None if age is None else age > FRESH


def _usual(runs: Sequence[Run], name: str) -> float | None:
    """The median of a curve over the runs that log it."""
    logged = [curve.numbers for run in runs if (curve := run.curves.get(name)) is not None]
    found = np.concatenate([*logged, np.empty(0)])
    return float(np.median(found)) if found.size else None


def _at(sides: Sequence[Sequence[tuple[Course, float]]]) -> Answer:
    """Both kinds' levels where the same was spent (each run's course, what a step took), and which stands above by more than noise."""
    end = min(spent * float(c.level.step[-1]) for side in sides for c, spent in side)
    reached = [np.array([np.interp(end / spent, c.level.step, c.middle) for c, spent in side]) for side in sides]
    error = sum((x.var() + np.mean([c.error**2 for c, _ in side])) / x.size for x, side in zip(reached, sides, strict=True))
    before, after = (float(x.mean()) for x in reached)
    way = "above" if after > before else "below"
    sure = abs(after - before) > max(2 * error**0.5, *(c.margin for side in sides for c, _ in side))
    in_step, late = pair(before, after)
    return {"at": end, "synchronous": in_step, "asynchronous": late, "way": way if sure else "level"}
