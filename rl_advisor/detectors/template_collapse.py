"""Answers no longer depend on the question.

Looks for: how often the response most like a response answers the same prompt; near chance in the latest samples and well above it in
    the first.
Means: one template is given to every prompt. Entropy does not show it: responses may vary while none has to do with its prompt.
Not to be confused with: terse answers that share no word with their question (they still differ from prompt to prompt), prompts that all
    have the same answer, and samples with few prompts.
Next test: shuffle the prompts among the responses and score again: an unchanged reward proves it.
Source: RAGEN-2 on collapse onto templates that no entropy shows.
"""

from rl_advisor.finding import Answer, Outcome, Role, present, unclear
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_signs import dependence, samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
SPEAKS = {"collapsed": 0.7}
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run) -> Answer:
    """Present when the most similar response answers the same prompt hardly more often than by chance, and did at the start."""
    s = stretches(run)
    alike = dependence(s, keep=0.35)
    if alike is None:
        return unclear("Too few prompts have several responses in the first or latest samples.", evidence=(samples(s),))
    text, measures = f"{alike.words[0].upper()}{alike.words[1:]}.", dict(alike.measures)
    if alike.there:
        return present(text, measures=measures, evidence=(samples(s),))
    never = measures["own_prompt_first"] - measures["own_prompt_chance"] < 0.2
    return Answer(Outcome.UNCLEAR if never else Outcome.ABSENT, text, measures=measures, evidence=(samples(s),))
