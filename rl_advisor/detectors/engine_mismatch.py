"""Trainer and inference engine disagree about the probability of the same tokens.

Looks for: a gap between the two (KL, log-probability or probability difference) that grows over the run, or stands high from the start.
Means: constant from the first step, it is precision or kernels; growing, it is a vicious circle: the update amplifies the tokens on
    which the two disagree most, and ends in exploding gradients.
Not to be confused with: staleness, where the same engine holds older weights.
Next test: recompute the log-probabilities of one frozen batch with the trainer and with the engine; then truncated importance
    weights, or full precision in both.
Source: reports on training-inference mismatch; AReaL's comparison of rollouts between engines.
"""

import numpy as np

from rl_advisor.curves import outcome_shape, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.trend import trend
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("kl/mismatch|mismatch/logprob|mismatch/prob",)
CHANGE: tuple[tuple[str, str], ...] = (("mismatch_correction", ""), ("weight_cap", ""))
PRIOR = {"kl/mismatch": 0.05, "mismatch/logprob": 0.1, "mismatch/prob": 0.05}
"""Levels at which a practitioner looks twice (nats per token, nats, share)."""


def detect(run: Run, times: float = 2.0) -> Answer:
    """Present when the gap grows significantly to ``times`` its start, or stands above its prior from the first steps."""
    name = next(n for n in PRIOR if n in run.curves)
    curve = run.curves[name]
    step, value = curve.finite()
    if value.size < outcome_shape.FEWEST:
        raise TooFewPoints(f"{value.size} points of {name}")
    size = np.abs(value)
    begin, now = float(np.median(size[: max(3, size.size // 20)])), float(np.median(size[-max(3, size.size // 5) :]))
    slope = trend(step, size)
    measures = {"at_start": begin, "now": now, "p": slope.p}
    where = (Evidence(name, float(step[0]), float(step[-1])),)
    text = f"{name} went {about(begin, now)}"
    if slope.low > 0 and now > times * begin and now > PRIOR[name] / 5:
        return present(f"{text}: growing.", segments.began(curve), measures, where)
    if begin > PRIOR[name] and now > PRIOR[name]:
        return present(f"{text}: high from the start, which points at numerical precision.", None, measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
