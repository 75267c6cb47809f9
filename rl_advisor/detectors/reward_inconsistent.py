"""The same response to the same prompt earns different rewards.

Looks for: sets of identical responses to one prompt in one step whose rewards differ by more than a twentieth of the reward's range.
Means: the reward depends on something that is not in the text: random labels, a noisy judge, a flaky checker or environment.
Not to be confused with: a judge with a little noise (small differences do not count) and environments whose state is not in the text.
Next test: score one fixed batch twice and compare; pin the judge's version and temperature.
Source: a reward that is no function of what it rewards has no signal to learn from.
"""

from rl_advisor.finding import Answer, Outcome, Role, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.reward_check import same_text
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)
_FEWEST = 10


def detect(run: Run) -> Answer:
    """Present when more than a fiftieth of the sets of identical responses disagree, interval included."""
    s = stretches(run)
    found = same_text(s.table)
    if not found or found["sets"] < _FEWEST:
        text = f"Too few duplicate responses to compare their rewards ({found.get('sets', 0)} sets)."
        return unclear(text)
    share = found["share_different_reward"]
    text = f"{percent(share)} of {found['sets']} sets of identical responses to one prompt got different rewards."
    outcome = Outcome.PRESENT if found["low"] > 0.02 else Outcome.ABSENT if found["high"] < 0.1 else Outcome.UNCLEAR
    return Answer(outcome, text, measures={k: float(v) for k, v in found.items()}, evidence=(samples(s),))
