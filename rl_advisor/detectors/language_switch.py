"""Responses change over to a script that their prompts are not written in.

Looks for: the share of a response's letters in scripts that its prompt does not use (Han in an answer to an English question), latest
    against first samples, and whether it is paid among responses to one prompt.
Means: nothing in the reward asks for the prompt's language, so the policy mixes what it finds cheapest; often the first sign that text
    drifts away from what people can read.
Not to be confused with: tasks that ask for a translation or for symbols (the first samples do it as well), and languages that share one
    script, which this cannot tell apart.
Next test: add a small reward for the prompt's language, or read ten of the flagged responses for whether their sense is kept.
Source: reports on language mixing in long reasoning trained by outcome alone (arXiv 2501.12948).
"""

from rl_advisor.finding import Finding, Outcome, number
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_change import onset, pays, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
NEEDS: tuple[str, ...] = ("rollouts",)
SYMPTOM = True
_NAME = "language_switch"
_MIXED = 0.05
"""Share of foreign letters from which a response is called mixed: a name or a formula's letters stay below."""


def detect(run: Run) -> Finding:
    """Present when mixed responses became more common than at the start by more than chance."""
    s = stretches(run)
    change = shift_or_none(s, "foreign")
    if change is None:
        return Finding(_NAME, LINK, Outcome.UNCLEAR, "Too few prompts and responses with letters to compare their scripts.")
    mixed = [part["foreign"] > _MIXED for part in (s.first, s.latest)]
    low, high = wilson(int(mixed[1].sum()), len(mixed[1]))
    _, before = wilson(int(mixed[0].sum()), len(mixed[0]))
    measures = {"foreign_first": change.first, "foreign_latest": change.latest, "mixed_latest": float(mixed[1].mean())}
    text = f"The share of letters in scripts that the prompt does not use went {change.words}"
    text += f"; {number(measures['mixed_latest'])} of the latest responses are mixed ({number(float(mixed[0].mean()))} at the start)"
    if change.up and low > before:
        pay = pays(s, "foreign")
        text += "" if pay is None else f"; the reward follows it by {number(pay.rho)} ({number(pay.low)} to {number(pay.high)})"
        return Finding(_NAME, LINK, Outcome.PRESENT, f"{text}.", onset(s, "foreign"), measures, (samples(s),))
    outcome = Outcome.ABSENT if high < 0.1 or not change.up else Outcome.UNCLEAR
    return Finding(_NAME, LINK, outcome, f"{text}.", measures=measures, evidence=(samples(s),))
