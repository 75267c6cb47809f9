"""When each training step ended, on the telemetry's clock, and what the trainer itself says a step's time went into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features.gpu.phase_fit import inside
from rl_advisor.features.gpu.phases import longest
from rl_advisor.features.series import Ints
from rl_advisor.run import UNSAID, Floats, Run

Spans = Floats

TIMERS = table(__file__, "timers.toml")


@dataclass(frozen=True)
class Steps:
    """Whole single steps on the telemetry's clock: where each began and ended, its number, and the mean seconds of a step."""

    spans: Spans
    number: Floats
    period: float

    def chain(self) -> Floats:
        """The ends of the longest run of steps that follow each other without a break, the first being where it begins."""
        if not len(self.spans):
            return np.empty(0)
        breaks = np.flatnonzero(np.diff(self.number) != np.median(np.diff(self.number))) + 1 if len(self.number) > 2 else np.empty(0, int)
        part = self.spans[longest(breaks, len(self.spans))]
        return np.asarray(np.r_[part[0, 0], part[:, 1]], np.float64)


NO_STEPS = Steps(np.empty((0, 2)), np.empty(0), float("nan"))


def steps_of(run: Run, first: float, last: float, holes: Spans) -> Steps:
    """The steps that lie within telemetry from ``first`` to ``last`` and touch none of its holes.

    The first logged step is left out: what came before it is start-up. Where only every tenth step is logged the period is
    known and single steps are not, so ``spans`` is empty.
    """
    number, time = run.clock()
    forward = np.diff(time, prepend=-np.inf) > 0
    number, time = number[forward], time[forward]
    if number.size < 3:
        return NO_STEPS
    jump = np.diff(number)
    unit = 1.0 if run.step_unit in {"updates", UNSAID} else float(np.median(jump))
    seconds = np.diff(time) / (jump / unit)
    begin = 1 if number[0] < unit and seconds[0] > 1.5 * np.median(seconds) else 0
    spans = np.stack([time[:-1], time[1:]], axis=1)
    keep = (jump == unit) & (spans[:, 0] >= first) & (spans[:, 1] <= last) & (np.arange(jump.size) >= begin)
    for start, end in holes:
        keep &= (spans[:, 1] <= start) | (spans[:, 0] >= end)
    if keep.sum() < 3:
        return Steps(np.empty((0, 2)), np.empty(0), float(np.median(seconds)))
    return Steps(spans[keep], number[1:][keep], float((spans[keep, 1] - spans[keep, 0]).mean()))


def step_of(steps: Steps, at: Floats) -> Ints:
    """The index of the step that each moment lies in, -1 outside."""
    return np.where(inside(steps.spans, at), np.searchsorted(steps.spans[:, 0], at, side="right") - 1, -1)


def phase_named(timer: str) -> str | None:
    """Our phase for a trainer's timer, ``other`` when nothing fits; None for a total or a detail of another timer."""
    name = timer.lower()
    if re.fullmatch(TIMERS["other"], name):
        return None
    return next((phase for phase, pattern in TIMERS.items() if re.fullmatch(pattern, name)), "other")


def logged_seconds(run: Run) -> Mapping[str, float]:
    """Mean seconds of each phase in a step as the trainer timed it, and ``step``; empty when it timed no phase.

    The first logged step is left out when there are more than three. What the timers do not cover is ``other``.
    """
    total: dict[str, float] = {}
    for name, curve in run.family("time/phase/").items():
        phase = phase_named(name.removeprefix("time/phase/"))
        if phase is not None:
            total[phase] = total.get(phase, 0.0) + _mean_after_first(curve.numbers)
    if not total.keys() & {"generation", "training"}:
        return {}
    whole = next((run.curves[n] for n in ("time/step", "time/phase/step") if n in run.curves), None)
    timed = sum(total.values())
    step = max(_mean_after_first(whole.numbers), timed) if whole is not None else timed
    if step > timed:
        total["other"] = total.get("other", 0.0) + step - timed
    return total | {"step": step}


def _mean_after_first(values: Floats) -> float:
    return float(values[1:].mean() if values.size > 3 else values.mean())


LONGEST_STEP_S = 7 * 86_400.0


def seconds_a_step(run: Run) -> float | None:
    """Median seconds from one step to the next by the wall clock, by what the run logs otherwise; None where nothing tells."""
    steps, times = run.clock()
    if steps.size < 3 and (elapsed := run.curves.get("time/elapsed")) is not None:
        steps, times = elapsed.finite()
    if steps.size > 2:
        gaps, took = np.diff(steps), np.diff(times)
        pace = took[gaps > 0] / gaps[gaps > 0]
        usual = float(np.median(pace[pace >= 0])) if (pace >= 0).any() else 0.0
        if 0 < usual < LONGEST_STEP_S:
            return usual
    curve = run.curves.get("time/step")
    if curve is None or not curve.numbers.size:
        return logged_seconds(run).get("step")
    seconds, apart = float(np.median(curve.numbers)), np.diff(curve.finite()[0])
    # Where steps count environment steps a logged row is many of them.
    each = seconds / max(1.0, float(np.median(apart))) if apart.size else seconds
    return each if 0 < each < LONGEST_STEP_S else None
