"""The scale of rewards, observations and the critic's loss.

Relates: normalisation of observations and rewards, reward scaling, the weight of the critic's loss; the size of the value loss in the log.
Why: networks learn targets near 1. Returns of a million make the critic's errors drown everything and drive SAC's temperature up; a critic
    whose loss hardly counts never learns.
Confirmed by: a value loss above a thousand, an entropy temperature that only grows, explained variance near 0.
Source: Engstrom et al. (arXiv 2005.12729); SB3 documentation, tips and tricks: always normalise; FinRL issue 476.
"""

from rl_advisor.priors import prior
from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings, said
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
LARGE = 1e4


def check(s: Settings) -> CheckSaid:
    """A fault for a critic that does not count, or unscaled rewards that the value loss shows; a note for normalisation that is off."""
    if s.around.method in ("grpo", "ppo_language", "language", "diffusion", "tabular"):
        return NOT_GIVEN
    weight, normal, scaling = s.given("value_coef"), s.given("normalize"), s.given("reward_scaling")
    keys = s.keys("value_coef", "normalize", "reward_scaling")
    usual = prior("setting/value_coef", s.around)
    if weight and weight.number is not None and usual is not None and usual.side(weight.number) == "far_below":
        text = f"{weight}, where 0.1 to 1 is usual ({usual.source}): the critic learns next to nothing."
        return CheckSaid("fault", text, keys, f"Set `{weight.key}` to 0.5.")
    loss = s.level("value/loss")
    unscaled = (scaling is not None and scaling.number == 1) or (
        s.has_script and not s.calls("VecNormalize", "NormalizeReward", "TransformReward")
    )
    if loss is not None and loss > LARGE and unscaled:
        shown = f" ({scaling})" if scaling else ""
        text = f"The value loss stands at {loss:.3g} and rewards are not scaled{shown}: the critic chases targets far from 1."
        return CheckSaid(
            "fault", text, keys, "Scale rewards so that returns are of order 1 to 10 (VecNormalize, or a factor).", confirmed=True
        )
    if normal is not None and normal.value is False:
        return CheckSaid("note", f"{normal}: observations of unequal scale slow learning down.", keys, f"Try `{normal.key}` on.")
    return CheckSaid("fine", said((weight, normal, scaling)) + ".", keys) if keys else NOT_GIVEN
