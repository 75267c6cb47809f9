"""Responses refuse, hedge or praise more than they did.

Looks for: the share of responses that refuse, and the number of hedging or praising phrases a hundred words, from the first to the latest
    samples; and whether responses with more of them are paid more among answers to one prompt.
Means: where it is paid, a judge likes the tone more than the content, or refusing is the safe answer. Where it is not paid, the tone
    changed for another reason.
Not to be confused with: a changed mix of prompts, some of which should be refused; a few phrases more in longer responses.
Next test: the same fifty prompts to the first and the last checkpoint; have people, or a second judge, grade both without the phrases.
Source: known biases of judges towards tone; the field guide on refusals and flattery.
"""

from rl_advisor.finding import Answer, Role, absent, present, unclear
from rl_advisor.output.wording import from_to
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_change import onset, pays, shift
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("rollouts",)
LEAST = {"refusal": 0.1, "hedging": 0.3, "praise": 0.3}
"""Growth below which a change does not matter: a share of the responses, phrases a hundred words."""


def detect(run: Run) -> Answer:
    """Present when a tone grew by more than chance, at least doubled, and is paid for; unclear when it grew and is not known to be paid."""
    s = stretches(run)
    measures: dict[str, float] = {}
    grown, paid = [], []
    for column, least in LEAST.items():
        change = shift(s, column)
        measures |= {f"{column}_first": change.first, f"{column}_latest": change.latest}
        if not (change.up and change.delta > least and change.latest > 2 * change.first):
            continue
        grown.append(column)
        pay = pays(s, column)
        if pay is not None and pay.low > 0:
            paid.append(column)
    if paid:
        text = f"{_said(measures)}; {' and '.join(paid)} earns reward."
        return present(text, onset(s, paid[0]), measures, (samples(s),))
    if grown:
        text = f"{_said(measures)}; nothing shows that {' or '.join(grown)} earns reward."
        return unclear(text, measures=measures, evidence=(samples(s),))
    return absent(
        f"{_said(measures)}.",
        measures=measures,
        evidence=(samples(s),),
    )


def _said(measures: dict[str, float]) -> str:
    """From where to where each tone went: refusals as a share of the responses, phrases a hundred words."""
    phrases = ", ".join(f"{c} {from_to(measures[f'{c}_first'], measures[f'{c}_latest'])}" for c in LEAST if c != "refusal")
    return f"Refusals went {from_to(measures['refusal_first'], measures['refusal_latest'], 'share')}; phrases a hundred words: {phrases}"
