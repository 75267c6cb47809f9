"""The policy stays as random as it began, and nothing is learned: a random walk.

Looks for: an entropy that is high for its kind from the start, flat by equivalence to its end, beside an outcome that gained nothing.
Means: the reward never reaches the parameters: it is too sparse, the step too small or the advantage mere noise; or a bonus or a
    temperature keeps the policy random.
Not to be confused with: a run that learns at a high entropy; the first steps of any run; a policy that does not move at all because its
    learning rate is nothing (see frozen_policy).
Next test: shape the reward or start with the easiest prompts, sample more per update, and check the advantages: does entropy come down?
Source: the field guide on exploration (entropy stays high: the policy behaves like a random walk).
"""

import numpy as np

from rl_advisor.curves import outcome_shape, segments
from rl_advisor.curves.task import task
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("entropy/mean", "eval/score/*|reward/mean|reward/success|reward/used")
CHANGE: tuple[tuple[str, str], ...] = (("entropy_coef", "a tenth of"), ("group_size", "twice"))
HIGH = {"language": 2.5}
"""Nats a token from which a language model chooses among a dozen words and more."""


def detect(run: Run, kept: float = 0.9) -> Answer:
    """Present when entropy opens high for language, keeps ``kept`` of that to the end, and no outcome has gained anything."""
    curve = run.curves["entropy/mean"]
    s = outcome_shape.shape(curve)
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    high = next((level for family, level in HIGH.items() if family in task(run).traits), None)
    text = f"Entropy is about {number(begin)} nats at the start and {number(now)} at the end"
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(s.step[0]), float(s.step[-1])),)
    curves = (outcome_shape.held_out(run), outcome_shape.training(run))
    outcomes = [x for x in map(outcome_shape.shape_or_none, curves) if x is not None]
    gained = any(x.rose for x in outcomes) or not outcomes
    if high is None or begin < high or now < kept * begin or gained:
        return absent(f"{text}.", measures=measures, evidence=where)
    best = outcomes[0]
    text += f" and {best.name} stays near {number(best.last)}: the policy is as random as it began"
    return present(f"{text}.", segments.around(s.step, float(s.step[0])), measures, where)
