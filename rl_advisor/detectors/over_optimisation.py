"""The held-out score turns over against the distance from the reference, while the reward that is optimised still rises.

Looks for: the score as a function of d, the root of KL to the reference: a fit of d (a - b ln d) above its start whose peak lies inside
    the distances reached, a score that fell behind it, and a training reward that gained.
Means: the reward stands in for what is wanted, and has been followed beyond the distance up to which the two agree. A stronger KL
    penalty stops earlier on the same curve; it does not lift the curve.
Not to be confused with: a score that falls at one step because the evaluation changed; a policy that lost reward and score alike.
Next test: score two hundred samples of three checkpoints with a second judge; keep the checkpoint nearest the peak distance.
Source: scaling laws of reward-model over-optimisation (Gao et al. 2022, arXiv 2210.10760), the form for reinforcement learning.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.relation import aligned
from rl_advisor.finding import Answer, Evidence, Outcome, Role, number, present
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
SPEAKS = {"reward_hacking": 0.7, "degrading": 0.3}
NEEDS: tuple[str, ...] = ("eval/score/*", "kl/ref", "reward/mean|reward/used|reward/success")
CHANGE: tuple[tuple[str, str], ...] = (("kl_coef", "three times"),)


def fitted(distance: Floats, score: Floats) -> tuple[float, float, float]:
    """a, b of ``score = start + d (a - b ln d)`` by least squares, and the share of the variance that the fit leaves."""
    design = np.column_stack([np.ones_like(distance), distance, -distance * np.log(distance)])
    found, *_ = np.linalg.lstsq(design, score, rcond=None)
    left = float(np.var(score - design @ found) / max(float(np.var(score)), 1e-12))
    return float(found[1]), float(found[2]), left


def detect(run: Run) -> Answer:
    """Present when the fit explains half of the score, peaks inside the distances seen, and score and reward went apart behind the peak."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    kl = run.curves["kl/ref"].finite()
    step, value, drift = aligned(*score.finite(), *kl)
    distance = np.sqrt(np.maximum(drift, 0.0))
    seen = distance > 1e-3
    if seen.sum() < 8 or np.ptp(distance[seen]) < 0.5 * distance[seen].max():
        raise TooFewPoints(f"{int(seen.sum())} evaluations at different KL distances, 8 needed")
    a, b, left = fitted(distance[seen], value[seen])
    peak = float(np.exp(np.clip(a / b - 1, -50, 50))) if b > 0 else float("inf")
    measures = {"peak_distance": peak, "distance": float(distance[-1]), "unexplained": left, "score": held.last, "reward": train.last}
    where = (Evidence(held.name, float(step[0]), float(step[-1])), Evidence("kl/ref", float(step[0]), float(step[-1])))
    gained = train.last - train.start > train.margin and train.gain.low > 0 and not train.fell
    inside = float(distance[seen].min()) < peak < 0.8 * float(distance[seen].max())
    text = f"{held.name} is at about {number(held.last)} and {train.name} at about {number(train.last)}"
    text += f", at a KL distance of {number(float(distance[-1]))}"
    if held.fell and gained and inside and left < 0.5:
        text += f"; the score was best at a distance near {number(peak)}."
        return present(text, segments.decline_began(score), measures, where)
    outcome = Outcome.UNCLEAR if held.fell and gained else Outcome.ABSENT
    return Answer(outcome, f"{text}: no peak at a smaller distance.", measures=measures, evidence=where)
