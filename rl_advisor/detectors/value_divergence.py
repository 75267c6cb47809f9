"""The critic's or Q function's error grows by orders of magnitude.

Looks for: a value loss (or predicted value) that rises by a large factor beyond its own early level, while the outcome does not rise.
Means: bootstrapping feeds on itself (over-estimation), targets move too fast, the step is too large or the reward scale is off.
Not to be confused with: a value loss that grows because returns grow; a single spike.
Next test: compare predicted values of start states with returns that were really obtained; then a slower target or a smaller step.
Source: over-estimation in Q-learning (double Q-learning, arXiv 1509.06461); the field guide on value explosion.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("value/loss|value/mean|exploration/rate",)
CHANGE: tuple[tuple[str, str], ...] = (("slower_target", ""), ("critic_learning_rate", ""))


def value_curve(run: Run) -> Curve | None:
    """The error of the critic, else its mean; with an epsilon-greedy policy and no policy loss, the one loss there is is the critic's."""
    own = run.curves.get("value/loss") or run.curves.get("value/mean")
    return own or (run.curves.get("policy/total_loss") if "policy/loss" not in run.curves else None)


def detect(run: Run, times: float = 30.0) -> Answer:
    """Present when the value loss ends ``times`` above its early level and the outcome did not rise."""
    curve = value_curve(run)
    if curve is None:
        raise TooFewPoints("neither a value loss nor a value is logged")
    step, value = curve.finite()
    if value.size < 8:
        raise TooFewPoints(f"{value.size} points of {curve.name}, 8 needed")
    size = np.abs(value)
    early = float(np.median(size[: max(4, value.size // 5)]))
    late = float(np.median(np.abs(segments.final(curve, 0.2))))
    ever = any(s.rose for s in outcomes.trusted(run))
    growth = abs(late) / max(early, 1e-12)
    measures = {"early": early, "late": abs(late), "growth": growth}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"{curve.name} went {about(early, abs(late))} ({number(growth)} times as large)"
    if growth > times * _of_returns(run) ** 2 and (not ever or outcomes.any_fell(run)):
        return present(
            f"{text} and the outcome {'fell' if ever else 'did not rise'}.", segments.began(curve, growing=True), measures, where
        )
    return absent(f"{text}.", measures=measures, evidence=where)


def _of_returns(run: Run) -> float:
    """How many times larger returns became, at least one: errors grow with the square of what is predicted."""
    reward = outcomes.training(run)
    if reward is None or reward.finite()[1].size < outcomes.FEWEST:
        return 1.0
    first, last = (abs(float(np.median(part))) for part in (segments.opening(reward, 0.2), segments.final(reward)))
    return max(1.0, last / first) if first else 1.0
