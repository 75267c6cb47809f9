"""Answers to one prompt that contradict one another all earn the top reward.

Looks for: short final answers (numbers, boxes, answer fields) of the latest samples; among responses to one prompt with the top reward,
    the share of pairs that end in different answers.
Means: the reward does not look at the answer, or accepts wrong ones: at most one of two different results is right.
Not to be confused with: tasks with many right answers, and answers written in different ways, which is why the share must be large;
    responses cut at the length limit, which end anywhere.
Next test: give the verifier a known wrong answer and see whether it is paid.
Source: a verifier must tell a right answer from a wrong one before anything can be learned from it; self-consistency turned round.
"""

import numpy as np

from rl_advisor.finding import Answer, Outcome, Role, number, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import measured, stretches
from rl_advisor.samples.reward_check import contradictions
from rl_advisor.samples.text_signs import paid_unfinished, samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
SPEAKS = {"not_learning": 1.0, "reward_hacking": 1.0}
NEEDS: tuple[str, ...] = ("rollouts",)
_LARGE = 0.25
"""Share of differing pairs from which it is more than another way of writing the same answer."""
_NO_ANSWERS = 0.95
"""Share of differing pairs from which the endings do not look like answers to one question."""

_CUT = 0.5
"""Share of cut responses from which their endings say nothing."""


def detect(run: Run) -> Answer:
    """Present when a quarter of the pairs or more of top-paid answers to one prompt differ, by more than chance."""
    s = stretches(run)
    cut = paid_unfinished(run, s)
    if cut is not None and cut.measures["truncated_latest"] > _CUT:
        text = f"{percent(cut.measures['truncated_latest'])} of completions are truncated, so final answers cannot be compared."
        return unclear(text, measures=cut.measures)
    reward = measured(run)["reward"]
    reward = reward[np.isfinite(reward)]
    if not len(reward):
        return unclear("The samples carry no rewards.")
    constant = float(reward.max() - reward.min()) <= 1e-9
    low = -np.inf if constant and reward.max() > 0 else float(reward.min())
    found = contradictions(s.latest, low, float(np.quantile(s.latest["reward"].dropna(), 0.5)))
    if not found:
        text = "Too few groups have top-rewarded responses with a short final answer to compare."
        return unclear(text)
    share, error = found["share"], found["error"]
    pairs = f"{percent(share)} of top-rewarded pairs disagree on the answer ({number(found['groups'])} groups)"
    text = f"{pairs}."
    if share > _NO_ANSWERS:
        text += " No two agree, so what is compared may not be the answer."
        return unclear(text, measures=found, evidence=(samples(s),))
    outcome = Outcome.PRESENT if share - 1.96 * error > _LARGE else Outcome.ABSENT if share + 1.96 * error < _LARGE else Outcome.UNCLEAR
    return Answer(outcome, text, measures=found, evidence=(samples(s),))
