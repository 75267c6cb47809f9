"""The learning rate against what is usual for the method and for what is trained.

Relates: the learning rate, the method, the framework, and whether an adapter or a whole model is trained.
Why: usual rates differ a thousandfold: 1e-6 for a whole language model, ten times that for LoRA, 3e-4 for PPO in control. One step at a
    wrong scale either changes nothing or throws the policy away.
Confirmed by: too high: KL per update above 0.1, clipping above a third, entropy at once near 0, a reward that falls within the first
    updates. Too low: KL, entropy and length where they began.
Source: the table of priors; Andrychowicz et al. 2020 (arXiv 2006.05990).
"""

from rl_advisor.finding import number
from rl_advisor.priors import prior
from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE


def check(s: Settings) -> CheckSaid:
    """A fault beyond the possible range, a note beyond the usual one."""
    given = s.given("learning_rate")
    rate = given.number if given else s.level("policy/learning_rate")
    usual = prior("policy/learning_rate", s.around)
    if rate is None or usual is None or rate <= 0:
        return NOT_GIVEN
    side, keys = usual.side(rate), (given.key,) if given else ()
    if s.around.method is None and s.around.framework is None:
        return CheckSaid(
            "note", f"The learning rate is {number(rate)}; what is usual depends on the method, which nothing here names.", keys
        )
    low, high = (number(x) for x in usual.usual)
    stated = f"The learning rate is {number(rate)}; {low} to {high} is usual here ({usual.source.split(';')[0]})."
    do = f"Set `{keys[0] if keys else 'learning_rate'}` to {number(usual.middle)} ({low} to {high} is usual)."
    if side == "far_above":
        return CheckSaid("fault", f"{stated} {usual.above}", keys, do)
    if side == "above" or (given and side in ("below", "far_below")):
        what = (
            f"{number(rate / usual.usual[1])} times the highest usual rate"
            if side == "above"
            else f"a {number(usual.usual[0] / rate)}th of the lowest usual rate"
        )
        return CheckSaid(
            "note",
            f"{stated} That is {what}: the first thing to change if the run {'falls' if side == 'above' else 'stands still'}.",
            keys,
            do,
        )
    return CheckSaid("fine", stated, keys)
