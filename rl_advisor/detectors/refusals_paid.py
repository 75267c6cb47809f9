"""The policy refuses more and more, because refusing is paid.

Looks for: a share of refusals among the latest answers that is beyond chance and far above that of the first ones, in a run whose
    reward did not fall with it or where refusing earns no less than answering the same prompt.
Means: the judge prefers a refusal to an attempt, or the penalty for a wrong answer is larger than that for none.
Not to be confused with: prompts that should be refused, whose share is the same in the first samples; a policy that broke, whose reward
    fell.
Next test: fifty harmless prompts to the first and the last checkpoint, graded by people; then a reward of zero for a refusal of those.
Source: over-refusal after safety tuning; the field guide on refusals.
"""

from rl_advisor.finding import Answer, Role, absent, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_change import onset, pays, shift, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run, common: float = 0.2) -> Answer:
    """Present when refusals became common and are paid no less; unclear when they did and the reward fell with them."""
    s = stretches(run)
    change = shift(s, "refusal")
    low, _ = wilson(int((s.latest["refusal"] > 0).sum()), len(s.latest))
    measures = {"refusal_first": change.first, "refusal_latest": change.latest, "refusal_low": low}
    text = f"{percent(change.latest)} of the latest answers are refusals, {percent(change.first)} of the first"
    if not (change.up and low > common and change.latest > 2 * change.first):
        return absent(f"{text}.", measures=measures, evidence=(samples(s),))
    pay, gain = pays(s, "refusal"), shift_or_none(s, "reward")
    paid = (pay is not None and pay.low > 0) or (gain is not None and not gain.down)
    if paid and not (pay is not None and pay.high < 0):
        return present(f"{text}, and they earn no less.", onset(s, "refusal"), measures, (samples(s),))
    return unclear(f"{text}; the reward fell with it.", onset(s, "refusal"), measures, (samples(s),))
