"""The reward pays for something beside the task: length, calls, tone or form, as a short formula of the responses shows.

Looks for: a formula of few terms (words, calls of a tool, closing words, polite phrases, marks, single words, being right) that foretells
    the reward of prompts it was not fitted on; terms with a price of their own beside being right, or a reward without being right in it.
Means: the policy is paid for that thing whether or not it solves the task, and will find it, whether it has by now or not.
Not to be confused with: a cost for length; a small part for the form beside being right; a reward that merely goes with length because
    right answers are longer, which no formula foretells exactly.
Next test: rescore two hundred responses with the paid thing taken out: does the reward fall while the answers stay the same?
Source: rewards a call and a closing word that three samples gave away; length bias of judges and reward models (arXiv 2310.03716).
"""

import re

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present, unclear
from rl_advisor.output.wording import value
from rl_advisor.run import Run
from rl_advisor.samples.reward_formula import paid_for
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)
CHANGE: tuple[tuple[str, str], ...] = (("length_neutral_loss", ""),)
_HARDLY_A_TASK = re.compile(
    r"words|characters|tokens|sentences|lines|marks|thanks|praise|hedging|claim|calls|turns|doubts|corrections|emoji|bold|headings|refusals"
)
_FORM = re.compile("a filled ")
"""A form that is paid beside being right is there to be learned first."""


def detect(run: Run, share: float = 0.1) -> Answer:
    """Present when a formula holds in which things that are not the task bring ``share`` of the reward's spread or more."""
    found = paid_for(run)
    if not found:
        raise TooFewPoints("the samples have too few different rewards for a formula")
    terms = found.get("terms", [])
    rows = run.rollouts["step"]
    where = (Evidence("rollouts", float(rows.min()), float(rows.max())),)
    if not terms or not found["holds"]:
        return absent("No short formula of what the responses hold foretells the reward.", evidence=where)
    measures = {"explained": found["r2"], "episodes": float(found["episodes"])} | {f"price of {t['what']}": t["weight"] for t in terms}
    measures |= {f"limit {i}": limit for i, limit in enumerate(limit for t in terms for limit in t["limits"])}
    beside = set(found["beside_the_task"])
    right = found["task_known"] and len(beside) < len(terms)
    paid = [t for t in terms if t["what"] in beside and t["low"] > 0 and t["share"] >= share and not (right and _FORM.match(t["what"]))]
    said = " + ".join(f"{value(t['weight'])} * {t['what']}" for t in terms)
    text = f"The reward is {said} (explains {value(found['r2'], 'share')} on prompts that were not fitted, {found['episodes']} responses)"
    if not paid:
        return absent(f"{text}: what is paid beside the task is little.", measures=measures, evidence=where)
    first = Onset(where[0].first_step, where[0].first_step, where[0].first_step)
    if found["task_known"] or any(_HARDLY_A_TASK.search(t["what"]) for t in paid):
        nothing = found["task_known"] and not right
        return present(f"{text}{'; being right earns nothing' if nothing else ''}.", first, measures, where)
    return unclear(f"{text}; whether that is the task does not stand in the samples.", None, measures, where)
