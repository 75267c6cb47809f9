"""How KL is estimated, and whether that estimate may go into the loss.

Relates: the KL estimator (k1, k2, k3 or low_var_kl), whether it stands in the loss or in the reward, and KL in the log.
Why: k3 is exp of a log-ratio: one token of which the reference was sure makes it huge, and in half precision infinite. k1 in the loss has
    a gradient of zero on average: KL is logged and not held.
Confirmed by: single KL values a hundred times their neighbours while entropy and length stand still (k3); a KL that grows in spite of its
    weight (k1 in the loss).
Source: arXiv 2510.01555 and 2512.21852 on KL estimators in GRPO; verl issues 721, 747 and 891.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
HUGE = 100.0


def check(s: Settings) -> CheckSaid:
    """A fault where k3 stands in the loss and KL has blown up or turned NaN; a note for k1 in the loss."""
    given = s.given("kl_estimator")
    word = s.words("kl_estimator")
    if given is None or not word:
        return NOT_GIVEN
    keys = s.keys("kl_estimator", "kl_in_loss", "kl_coef")
    cubic = "low_var" in word or "k3" in word
    kl = s.level("kl/ref")
    if cubic and s.given("kl_in_loss") is not None and s.given("kl_in_loss").value is False:  # type: ignore[union-attr]
        return CheckSaid("fine", f"{given} is set and the KL loss is off.", keys)
    blown = s.broke("kl/ref") or (kl is not None and kl > HUGE)
    if cubic and blown:
        text = f"{given} in the loss, and KL has blown up: exp of a log-ratio overflows on single tokens."
        return CheckSaid("fault", text, keys, "Use k2 (mse) in the loss or k1 in the reward, and clamp the log-ratio.", confirmed=True)
    if cubic:
        return CheckSaid(
            "note", f"{given}: single tokens can make this estimate huge; a lone KL peak is then the estimator's, not the policy's.", keys
        )
    if word in ("k1", "kl") and s.given("kl_in_loss") is not None:
        return CheckSaid(
            "note",
            f"{given} in the loss has a gradient of zero on average: it does not hold the policy.",
            keys,
            "Use k2 or k3 in the loss.",
        )
    return CheckSaid("fine", f"{given}.", keys)
