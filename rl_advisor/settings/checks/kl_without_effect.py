"""A KL coefficient that the chosen algorithm does not use.

Relates: the coefficient, the advantage estimator, and the switch that puts KL into the loss.
Why: in slime `--kl-coef` shapes the reward and is ignored with GRPO, which needs `--use-kl-loss` and `--kl-loss-coef`; in verl
    `kl_loss_coef` does nothing while `use_kl_loss` is False. The user believes that the policy is held, and it is not.
Confirmed by: KL to the reference that grows alike with any coefficient.
Source: slime issue 397; verl configuration, actor.use_kl_loss.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
GROUPS = ("grpo", "gspo", "reinforce", "rloo", "dapo")


def check(s: Settings) -> CheckSaid:
    """A fault where a coefficient above 0 is given that nothing uses."""
    weight, switch, reward = s.given("kl_coef"), s.given("kl_in_loss"), s.given("kl_in_reward")
    if weight is None or not weight.number:
        return NOT_GIVEN
    keys = s.keys("kl_coef", "kl_in_loss", "kl_in_reward", "algorithm")
    grouped = any(word in s.words("algorithm") for word in GROUPS)
    if weight.key == "kl_coef" and "advantage_estimator" in s.config and grouped and switch is None:
        text = f"{weight} has no effect with {s.given('algorithm')}: this estimator takes KL from the loss, which is not switched on."
        return CheckSaid("fault", text, keys, "Use `--use-kl-loss --kl-loss-coef` with the value instead of `--kl-coef`.")
    if "kl_loss_coef" in weight.key and switch is not None and switch.value is False and not (reward and reward.value):
        return CheckSaid("note", f"{weight} has no effect while {switch}.", keys, f"Set `{switch.key}` to True if a penalty is wanted.")
    return CheckSaid("fine", f"{weight} is used.", keys)
