"""The KL penalty is off: then KL is not computed, and nothing holds the policy near the reference.

Relates: the weight of the KL penalty, the switches that put it into the loss or the reward, and the passes over each batch.
Why: at weight 0 most trainers load no reference model. KL is then absent, 0 or NaN in the log, which is no fault. With many passes over a
    batch nothing but the clip range limits the drift.
Confirmed by: no KL in the log, or one that is 0 or NaN on every row beside a live gradient.
Source: TRL GRPOConfig (beta defaults to 0.0, the reference is not loaded); TRL issue 4040; verl use_kl_loss.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
MANY = 4


def check(s: Settings) -> CheckSaid:
    """A note where the penalty is off; what follows for the log is said."""
    if s.around.method not in ("grpo", "ppo_language", "language", "diffusion", None):
        return NOT_GIVEN
    weight, switch, reward = s.given("kl_coef"), s.given("kl_in_loss"), s.given("kl_in_reward")
    beta = weight or (s.given("beta") if switch is None and s.given("group_size") else None)
    keys = tuple(g.key for g in (beta, switch, reward) if g is not None)
    off = (beta is not None and beta.number == 0) or (switch is not None and switch.value is False and not (reward and reward.value))
    if off:
        passes = s.number("passes") or 1
        anchor = f" With {passes:g} passes over each batch only the clip range limits the drift." if passes >= MANY else ""
        return CheckSaid(
            "note", f"The KL penalty is off: KL is not computed, so a KL that is absent, 0 or NaN is not a fault.{anchor}", keys
        )
    return CheckSaid("fine", "A KL penalty holds the policy near the reference.", keys) if keys else NOT_GIVEN
