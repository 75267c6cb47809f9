"""Hindsight labels of a generated run from its hidden half of the evaluation episodes.

The rules speak about the true score only, on a scale where 0 is a random policy and 1 a solved task. Where a rule is near its
boundary, both readings are admitted.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from faults import Recipe

Floats = npt.NDArray[np.float64]
SCALE = {
    "CartPole-v1": (22.0, 500.0),
    "Acrobot-v1": (-500.0, -85.0),
    "Pendulum-v1": (-1250.0, -180.0),
    "FrozenLake-v1": (0.015, 0.74),
    "MountainCar-v0": (-200.0, -110.0),
    "MountainCarContinuous-v0": (-33.0, 93.0),
    "LunarLander-v3": (-180.0, 200.0),
    "LunarLanderContinuous-v3": (-180.0, 200.0),
    "Taxi-v4": (-200.0, 8.0),  # of a policy that stands still; a random one ends far below
}
"""Mean return of a random policy and of a solved task."""
SHARES = (0.25, 0.5, 0.75)
SOUND = frozenset({"improving", "plateaued"})
JUMP = 2 / np.pi**0.5
"""Mean distance of two draws of a normal distribution, in its standard deviations."""


def smooth(scores: Floats) -> Floats:
    """Moving mean of five; narrowed at the start so that the untrained policy stands for itself."""
    reach = [min(2, i) for i in range(scores.size)]
    return np.array([scores[i - h : i + h + 1].mean() for i, h in enumerate(reach)])


def label(recipe: Recipe, seed: int, steps: Floats, seen: Floats, hidden: Floats, noise: float = 0.0) -> dict[str, Any]:
    """The entry of ``labels.json`` for one run, from the logged and the hidden half of its evaluations.

    ``noise`` is the standard error of a late evaluation, in the same units.
    """
    low, high = SCALE.get(recipe.env, (0.0, 1.0))  # tasks of language models are scored by the share of right answers
    seen, hidden = (seen - low) / (high - low), (hidden - low) / (high - low)
    truth = smooth(hidden)
    drop, verdicts = _drop(steps, truth), _verdicts(recipe, truth, hidden, noise / (high - low))
    return {
        "scenario": recipe.family,
        "note": recipe.note,
        "verdicts": sorted(verdicts),
        "links": sorted(_links(recipe, truth, verdicts)),
        "eval_visible": False,
        "cuts": {f"{share:g}": _cut(share, steps, smooth(seen), truth, hidden) for share in SHARES},
        "best_step": int(steps[truth.argmax()]),
        "best_score": round(float(truth.max()), 4),
        "last_score": round(float(truth[-1]), 4),
        "injected_at": recipe.injected_at,
        "true_score_drop_at": drop,
        "crash": None,
        "steps": int(steps[-1]),
        "truth": [[int(s), round(float(v), 4)] for s, v in zip(steps, hidden, strict=True)],
        "source": f"{recipe.family}-s{seed}",
    }


def _verdicts(recipe: Recipe, truth: Floats, hidden: Floats, noise: float) -> set[str]:
    """Admissible verdicts by how far the score rose, how much of that is left, and whether it still rises.

    A run that would be sound is not called restless for jumps that twice the noise of its evaluations explains.
    """
    gained, kept = truth.max() - truth[0], truth[-1] - truth[0]
    late = truth[3 * truth.size // 4 :]
    found: set[str] = set()
    if gained < 0.15 or truth.max() < 0.35:
        found |= {"not_learning"}
    if -kept > 0.15:  # a model that knew something before and has lost it
        found |= {"collapsed", "degrading"}
    if gained > 0.1 and kept < 0.4 * gained:
        found |= {"collapsed", "degrading"} if gained > 0.15 else {"degrading"}
    elif gained > 0.1:
        found |= {"improving"} if late[-1] - late[0] > 0.03 else set()
        found |= {"plateaued"} if abs(late[-1] - late[0]) < 0.15 else set()
        found |= {"degrading"} if kept < 0.8 * gained else set()
    restless = float(np.abs(np.diff(hidden[hidden.size // 2 :])).mean())
    explained = bool(found) and found <= SOUND and restless <= 2 * JUMP * noise
    if gained > 0.1 and restless > 0.09 and not explained:
        found |= {"unstable"}
    return (found or {"plateaued"}) | ({"reward_hacking"} if recipe.hacks else set())


def _links(recipe: Recipe, truth: Floats, verdicts: set[str]) -> set[str]:
    """The broken link of the recipe, and what else an honest reader may say.

    A fault without effect admits ``none`` too. A run that came apart without a fault, or after having solved the task with one, admits
    what happens to sound recipes as well: too large an update, an unsound value function, or nothing but chance.
    """
    sound = verdicts <= SOUND
    if not recipe.links:
        return set() if sound else {"none", "policy_update", "training_signal"}
    came_apart = truth.max() > 0.9 and not sound and recipe.injected_at is None
    harmless = truth[-1] > 0.9 and truth.max() - truth[-1] < 0.1
    return set(recipe.links) | ({"none", "policy_update", "training_signal"} if came_apart else {"none"} if harmless else set())


def _drop(steps: Floats, truth: Floats) -> int | None:
    """First step at which the score has lost a third of what it had gained at its best, and never regains it."""
    gained = max(truth.max() - truth[0], truth[0] - truth[-1])
    if gained < 0.15:
        return None
    lost = np.minimum.accumulate((truth < truth.max() - gained / 3)[::-1])[::-1]
    return int(steps[int(lost.argmax())]) if lost[-1] else None


def _cut(share: float, steps: Floats, seen: Floats, truth: Floats, hidden: Floats) -> dict[str, Any]:
    """Whether going on paid: checkpoints are chosen on the logged half and judged on the hidden one."""
    cut = share * steps[-1]
    before = steps <= cut
    gain = truth[~before][seen[~before].argmax()] - truth[before][seen[before].argmax()]
    error = 1.4826 * float(np.median(np.abs(np.diff(hidden, n=2)))) / 30**0.5  # of a mean of five
    noise = max(0.05 * float(np.ptp(truth)), 2 * error * 2**0.5, 0.02)
    return {"cut": int(cut), "gain_after": round(float(gain), 4), "continue_pays": bool(gain > noise)}
