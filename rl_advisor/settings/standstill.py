"""Whether a policy moves, whether its reward gains what matters: facts of a run for rows."""

from functools import lru_cache

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.run import Run

SWING, TURNS = 0.2, 3
"""Share of the outcome's scale that a swing is deep, and how many of them are a see-saw."""


def decimals(run: Run, _: str = "", most: int = 3) -> bool:
    """Whether numbers are logged with more decimals than these: a console of three prints 5e-7 as 0, which is no rate of 0."""
    values = (c.numbers for c in run.curves.values())
    return any(bool(np.any(np.abs(v - v.round(most)) > 1e-9 * np.abs(v))) for v in values)


def farthest(run: Run, _: str = "", tenth: float = 0.1) -> float | None:
    """The most by which all updates together can have moved the policy, as a share of its actions; None where that is not logged.

    By Pinsker's inequality a KL of k nats changes at most the square root of k/2 of the probability, and the changes of single updates
    add up. Asked of a run only when its entropy stands still as well: the KL may be logged of one update in many.
    """
    kl, entropy = run.curves.get("kl/old"), run.curves.get("entropy/mean")
    if kl is None or entropy is None or entropy.numbers.size < 8 or kl.numbers.size < 0.8 * entropy.numbers.size:
        return None
    nats = entropy.numbers
    if np.ptp(nats) > tenth * max(0.01, 0.01 * float(np.median(np.abs(nats)))):
        return None
    return float(np.sqrt(np.clip(kl.numbers, 0, None) / 2).sum())


def seen_again(run: Run, _: str = "") -> float | None:
    """At how many of the steps with samples a prompt is seen on average."""
    return float(run.rollouts.groupby("prompt")["step"].nunique().mean()) if len(run.rollouts) and "prompt" in run.rollouts else None


def unbaselined(run: Run, _: str = "", close: float = 0.02) -> float | None:
    """The share of rows at which mean advantage and a mean reward differ by next to nothing; None where they are not logged together."""
    advantage, found = run.curves.get("advantage/mean"), []
    for reward in (run.curves.get("reward/mean"), run.curves.get("reward/used")):
        if advantage is None or reward is None:
            continue
        _steps, a, b = np.intersect1d(advantage.step, reward.step, return_indices=True)
        x, y = advantage.value[a], reward.value[b]
        told = np.isfinite(x) & np.isfinite(y) & (np.abs(y) > close)  # a reward of nothing equals a centred advantage by chance
        if told.sum() >= 8:
            found.append(float(np.mean(np.abs(x - y)[told] <= np.maximum(close, 0.1 * np.abs(y[told])))))
    return max(found, default=None)


@lru_cache(maxsize=16)
def see_saw(run: Run, _: str = "") -> tuple[int, float] | None:
    """How often the outcome turned, and by how much at least: by more than its noise and a fifth of its scale."""
    s, spread = outcomes.course_or_none(outcomes.outcome(run)), run.curves.get("eval/other/reward_std")
    if s is None:
        return None
    deep = max(SWING * s.scale, 4 * s.noise / np.sqrt(3))
    seen, own = segments.swings(s.smoothed, deep), spread.numbers if spread is not None and s.name.startswith("eval/") else np.empty(0)
    if seen < TURNS and own.size >= outcomes.FEWEST and (own > 0).mean() > 0.3:
        # What the episodes of each evaluation scatter by is known: what single evaluations swing beyond it is the policy's own.
        # The second half must do it alone: what swung while it learned and has settled is no see-saw.
        beyond = 2 * max(SWING * s.scale, float(np.quantile(own, 0.75)))
        if segments.swings(s.value[s.value.size // 2 :], beyond) >= TURNS:
            return segments.swings(s.value, beyond), beyond
    return seen, deep


FACTS = (decimals, farthest, seen_again, unbaselined)
"""What rows may ask of a run, by these names."""
