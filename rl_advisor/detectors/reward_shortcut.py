"""The reward is earned by a shortcut that the samples show.

Looks for: the reward of the samples rose while another judgement of the same responses fell (a human's, a reference score, being correct),
    or while their text got worse or only bulkier: word order lost, answers that depend less on their prompt, paid loops, paid silence,
    length or tool calls that the reward follows among responses to one prompt and that explain most of its gain.
Means: the reward pays for something that is not the task. It needs no held-out score, so it is what speaks when none is logged.
Not to be confused with: reasoning that grows with the held-out score; terse but right answers, which still differ from prompt to prompt;
    a collapse, where text degenerates and the reward falls.
Next test: score 200 of the latest responses by an independent checker or by reading; rescore them cut to the length of the start.
Source: reward hacking shows in text style before it shows elsewhere; RAGEN-2 on answers that no longer depend on the prompt.
"""

from collections.abc import Sequence

from rl_advisor.finding import Answer, Outcome, Role
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import Shift, onset, shift
from rl_advisor.samples.text_signs import (
    Sign,
    dependence,
    held_out_rose,
    paid_growth,
    paid_kind,
    samples,
    turned_reference,
    word_order,
)
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run) -> Answer:
    """Present when the samples' reward rose together with at least one sign of worse or merely bulkier text."""
    s = stretches(run)
    gain = shift(s, "reward")
    if not gain.up:
        return _finding(s, Outcome.ABSENT, f"The samples' reward did not rise ({gain.words}), so no shortcut raises it.", gain, ())
    signs = [sign for sign in signs_of(s) if sign is not None]
    there = [sign for sign in signs if sign.there]
    if not there:
        text = f"The samples' reward rose {gain.words}, and their text shows no sign of a shortcut."
        return _finding(s, Outcome.ABSENT, text, gain, signs)
    said = "; ".join(sign.words for sign in there)
    if held_out_rose(run):
        text = f"The held-out score rose too, but while the samples' reward went {gain.words}, {said}."
        return _finding(s, Outcome.UNCLEAR, text, gain, signs)
    return _finding(s, Outcome.PRESENT, f"While the samples' reward went {gain.words}, {said}.", gain, signs)


def signs_of(s: Stretches) -> tuple[Sign | None, ...]:
    """Every sign, None where the samples do not allow to tell."""
    return (
        paid_growth(s, "tokens", "the length"),
        paid_growth(s, "calls", "the number of tool calls"),
        word_order(s),
        dependence(s),
        paid_kind(s, "loop", "ends in a loop", 0.0),
        paid_kind(s, "empty", "is empty", 0.0),
        turned_reference(s),
    )


def _finding(s: Stretches, outcome: Outcome, text: str, gain: Shift, signs: Sequence[Sign]) -> Answer:
    measures = {"reward_first": gain.first, "reward_latest": gain.latest}
    for sign in signs:
        measures |= {(k if k not in measures else f"{sign.column}_{k}"): v for k, v in sign.measures.items()}
    column = next((sign.column for sign in signs if sign.there and sign.column), "reward")
    when = onset(s, column) if outcome is Outcome.PRESENT else None
    return Answer(outcome, text, when, measures, (samples(s),))
