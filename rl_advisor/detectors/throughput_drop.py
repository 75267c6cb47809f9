"""Steps take longer and longer, or suddenly longer.

Looks for: the logged time of a step (or the throughput) late in the run against early, with the trend's interval.
Means: longer samples, a growing buffer, a card that throttles, a leak, a neighbour. What grew tells which.
Not to be confused with: the first steps, which compile and warm up; evaluation and saving steps, which are long now and then.
Next test: divide the time of a step by the length of what it sampled: if that is level, only the samples grew.
Source: change between quarters of the run and the Theil-Sen trend, both beyond their noise.
"""

import numpy as np

from rl_advisor.curves.segments import began
from rl_advisor.features import TooFewPoints
from rl_advisor.features.trend import trend
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("time/step|throughput/tokens|throughput/env_steps",)


def detect(run: Run, slower: float = 1.15) -> Answer:
    """Present when the last quarter is ``slower`` times the first (the opening tenth aside) and the trend agrees beyond noise."""
    name = next(n for n in ("time/step", "throughput/tokens", "throughput/env_steps") if n in run.curves and run.curves[n].finite()[1].size)
    curve = run.curves[name]
    step, value = curve.finite()
    skip = max(1, step.size // 10)
    step, value = step[skip:], value[skip:]
    if step.size < 12:
        raise TooFewPoints(f"{step.size} points of {name} after the first steps, 12 needed")
    sign = 1.0 if name == "time/step" else -1.0
    quarter = step.size // 4
    first, last = float(np.median(value[:quarter])), float(np.median(value[-quarter:]))
    times = (last / first if sign > 0 else first / last) if first > 0 and last > 0 else 1.0
    found = trend(step, value)
    low, high = sorted((sign * found.low, sign * found.high))
    measures = {"first": first, "last": last, "times_slower": times}
    text = f"{name} goes from {number(first)} in the first quarter to {number(last)} in the last"
    longer = _responses(run)
    if longer is not None:
        measures["responses_times_longer"] = longer
        text += f"; responses are {number(longer)} times as long"
    where = (Evidence(name, float(step[0]), float(step[-1])),)
    if times >= slower and low > 0:
        return present(f"{text}.", began(curve), measures, where)
    if times >= slower or high * (step[-1] - step[0]) > (slower - 1) * first:
        return unclear(f"{text}, within noise.", None, measures, where)
    return absent(f"{text}.", None, measures, where)


def _responses(run: Run) -> float | None:
    """How many times longer responses are in the last quarter than in the first; None where their length is not logged."""
    curve = run.curves.get("response/length")
    if curve is None or curve.finite()[1].size < 8:
        return None
    value = curve.finite()[1]
    quarter = value.size // 4
    return float(np.median(value[-quarter:]) / max(np.median(value[:quarter]), 1e-9))
