"""The reward jumps each time the data begins anew.

Looks for: the change of the reward across the borders of epochs against its changes elsewhere, at three borders at least.
Means: a jump upwards says that prompts seen before are answered better than new ones: they are remembered. A jump either way says that
    the order of the data, not the policy, makes part of the curve; levels before and after a border cannot be compared.
Not to be confused with: one jump, which may be a new curriculum or a changed reward; slow waves that have another period.
Next test: plot the reward by how often a prompt has been seen, first visits apart; shuffle anew in every epoch.
Source: data-order effects in reasoning training (arXiv 2507.18014); comparison with chance by moving the borders.
"""

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("progress/epoch", "reward/mean|reward/used|reward/success")


def jumps(value: Floats, at: list[int], width: int) -> Floats:
    """Mean of ``width`` points from each place on minus the mean of the ``width`` points before it."""
    return np.array([value[i : i + width].mean() - value[i - width : i].mean() for i in at])


def detect(run: Run, fewest: int = 3) -> Answer:
    """Present when the mean jump at the borders is rarer than one in a hundred among shifted borders, and large enough to matter."""
    reward = outcomes.training(run)
    assert reward is not None  # diagnosis asked for it
    s = outcomes.course_of(reward)
    step, value = reward.finite()
    epoch = np.interp(step, *run.curves["progress/epoch"].finite())
    borders = np.flatnonzero(np.diff(np.floor(epoch + 1e-9)) > 0) + 1
    length = int(np.median(np.diff(borders))) if borders.size > 1 else 0
    width = max(2, min(10, length // 4))
    at = [int(i) for i in borders if width <= i <= value.size - width]
    if len(at) < fewest or length < 8:
        raise TooFewPoints(f"{len(at)} epoch boundaries at least 8 points apart, {fewest} needed")
    # The same number of places at the same distances, moved by every possible part of an epoch: what chance would show.
    moved = [[i + d for i in at if width <= i + d <= value.size - width] for d in range(-length // 2, length // 2 + 1) if abs(d) > width]
    by_chance = np.array([jumps(value, places, width).mean() for places in moved if places])
    seen = float(jumps(value, at, width).mean())
    spread = float(jumps(value, at, width).std(ddof=1) / np.sqrt(len(at)))
    usual, scatter = float(np.median(by_chance)), float(by_chance.std())
    measures = {"jump": seen, "error": spread, "elsewhere": usual, "borders": float(len(at))}
    where = (Evidence(reward.name, float(step[0]), float(step[-1])),)
    text = f"At {len(at)} epoch boundaries {reward.name} changes by {number(seen)} on average, elsewhere by {number(usual)}"
    apart = abs(seen - usual)
    if apart > s.margin and apart > 3 * spread and apart > 2.6 * scatter and apart > float(np.abs(by_chance - usual).max()):
        first = float(step[at[0]])
        return present(f"{text}.", Onset(first, first, first), measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
