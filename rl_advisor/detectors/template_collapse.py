"""Answers no longer depend on the question.

Looks for: how often the response most like a response answers the same prompt, and how often the prompt is found from a response's
    words; both near chance in the latest samples and well above it in the first.
Means: one template is given to every prompt. Entropy does not show it: responses may vary while none has to do with its prompt.
Not to be confused with: terse answers that share no word with their question (they still differ from prompt to prompt), prompts that all
    have the same answer, and samples with few prompts.
Next test: shuffle the prompts among the responses and score again: an unchanged reward proves it.
Source: RAGEN-2 on collapse onto templates that no entropy shows.
"""

from rl_advisor.finding import Answer, Outcome, Role, present, unclear
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_signs import dependence, prompt_found, samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
SPEAKS = {"collapsed": 0.7}
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run) -> Answer:
    """Present when both ways to find the prompt fell near chance, unclear when one did, or when too few prompts allow to tell."""
    s = stretches(run)
    alike, found = dependence(s, keep=0.35), prompt_found(s)
    known = [sign for sign in (alike, found) if sign is not None]
    if not known:
        text = "Too few prompts have several responses in the first or latest samples."
        return unclear(text, evidence=(samples(s),))
    measures = {k: v for sign in known for k, v in sign.measures.items()}
    text = ". ".join(sign.words[0].upper() + sign.words[1:] for sign in known) + "."
    lost = sum(sign.there for sign in known)
    never = alike is not None and measures["own_prompt_first"] - measures["own_prompt_chance"] < 0.2
    if lost == len(known) == 2 or (lost and alike is not None and alike.there):
        return present(text, measures=measures, evidence=(samples(s),))
    outcome = Outcome.UNCLEAR if never or alike is None else Outcome.ABSENT
    return Answer(outcome, text, measures=measures, evidence=(samples(s),))
