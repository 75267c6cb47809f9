"""The held-out score steps at one evaluation and nothing in training does.

Looks for: a lasting step, up or down, between two neighbouring evaluations, twice what any other two differ by, while reward, KL, entropy
    and length go on across it as they did before.
Means: the evaluation changed (temperature, length limit, prompt template, test split), not the policy.
Not to be confused with: a policy that collapses, where the training reward falls too; steep learning, which takes several evaluations;
    a hack, where the score parts from the reward gradually and samples change with it.
Next test: run the first checkpoint again under the protocol of today.
Source: the field guide on fixed evaluation protocols.
"""

import numpy as np

from rl_advisor.curves import outcome_shape
from rl_advisor.curves.task_family import families
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present, unclear
from rl_advisor.output.wording import from_to
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")
FEWEST = 10
"""Evaluations below which a step may be anything."""
BESIDE = ("kl/ref", "entropy/mean", "response/length", "episode/length", "policy/grad_norm")
"""What a policy that changes at one step moves with its score."""
MOST = 0.35
"""Share of a curve's range that it may move across the step and still go on as before."""
BRINGS: tuple[str, ...] = ("train_eval_gap",)


def detect(run: Run, share: float = 0.15) -> Answer:
    """Present when the score steps by more than ``share`` of its scale from one evaluation to the next and nothing in training does."""
    score, reward = outcome_shape.held_out(run), outcome_shape.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held = outcome_shape.shape(score)
    if held.n < FEWEST:
        raise TooFewPoints(f"{held.n} evaluations, {FEWEST} needed to tell a changed protocol from a changed policy")
    for point in change_points(held.step, held.value):
        place = int(np.searchsorted(held.step, point.step))
        if place < 3 or held.n - place < 3 or not alone(held, point.after - point.before, place, share):
            continue
        before, at = float(held.step[place - 1]), float(held.step[place])
        moved = [moves(run.curves[n], before, at) for n in (*BESIDE, reward.name) if n in run.curves]
        if moves(reward, before, at) is None or any(m is not None and m > MOST for m in moved):
            continue
        text = f"{held.name} jumps {from_to(point.before, point.after)} at step {at:.0f} while training goes on as before"
        if "control" in families(run):
            return unclear(f"{text}; greedy evaluation of a policy can do that by itself.")
        where = (Evidence(held.name, before, at),)
        return present(f"{text}.", Onset(at, before, at), {"before": point.before, "after": point.after}, where)
    return absent(f"{held.name} makes no jump that training does not make.")


def alone(held: outcome_shape.Shape, size: float, place: int, share: float) -> bool:
    """Whether a change of level is made between two neighbouring evaluations, and is far beyond what others of them differ by."""
    steps = np.diff(held.value)
    own, others = steps[place - 1], np.delete(steps, place - 1)
    large = abs(size) > share * held.margin / outcome_shape.MATERIAL
    return bool(large and own * size > 0 and abs(own) > 0.7 * abs(size) and abs(own) > 2 * float(np.max(np.abs(others))))


def moves(curve: Curve, before: float, at: float, rows: int = 5) -> float | None:
    """How far a curve's level differs between the rows before one step and those from another on, as a share of its range."""
    step, value = curve.finite()
    early, late = value[step <= before][-rows:], value[step >= at][:rows]
    if min(early.size, late.size) < 3:
        return None
    # The range within which nine tenths lie: a single outlier is no scale. What neighbouring rows differ by is no move.
    spread, scatter = float(np.subtract(*np.quantile(value, [0.95, 0.05]))), float(np.median(np.abs(np.diff(value))))
    gap = abs(float(np.median(late) - np.median(early)))
    return gap / spread if spread > 0 and gap > 3 * scatter else 0.0
