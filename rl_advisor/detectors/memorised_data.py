"""Training prompts are learned by heart: the reward on them rises, the held-out score falls or stands.

Looks for: the training reward gained, the held-out score did not, and the same few prompts come back again and again (in the
    rollouts, or many passes over the data).
Means: too little or too narrow data for this many steps. What is learned does not carry over.
Not to be confused with: reward hacking, where the style of the responses changes (length, entropy, tool use) and prompts vary.
Next test: plot the reward by how often a prompt has been seen; train the same steps on ten times the prompts.
Source: the field guide on contaminated and narrow data; saw-tooth rewards at epoch borders.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.FAULT
KINDS = ("any",)
SPEAKS = {"degrading": 3.0}
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success", "rollouts|progress/epoch")

ONCE = 2.0
"""Passes over the data below which no prompt can have been learned by heart."""
STYLE = {"response/length", "response/truncated", "response/repetition", "episode/tool_calls", "episode/turns"}
"""Side metrics that learning prompts by heart leaves alone and a gamed reward does not."""


def repetition(run: Run) -> tuple[float, float, float]:
    """At how many steps with samples a prompt is seen on average, of how many, and the passes over the data."""
    epochs = run.curves.get("progress/epoch")
    passes = float(np.nanmax(epochs.value)) if epochs is not None else float("nan")
    if not len(run.rollouts) or "prompt" not in run.rollouts:
        return float("nan"), float("nan"), passes
    seen = run.rollouts.groupby("prompt")["step"].nunique()
    return float(seen.mean()), float(run.rollouts["step"].nunique()), passes


def detect(run: Run, often: float = 2.0, many: float = 5.0) -> Answer:
    """Present when prompts come back in at least ``often`` of the logged steps on average, or ``many`` epochs, and the score fell."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    back, of, passes = repetition(run)
    measures = {
        "steps_per_prompt": back,
        "steps_with_samples": of,
        "epochs": passes,
        "reward_gain": train.last - train.start,
        "score_change": held.last - held.start,
    }
    measures["score_last"] = held.last
    where = (Evidence(held.name, held.best_step, float(held.step[-1])),)
    told = "" if np.isnan(back) else f"on average a prompt was seen at {number(back)} of the {number(of)} steps with samples"
    seen = ", ".join(filter(None, (told, "" if np.isnan(passes) else f"{number(passes)} passes over the data")))
    repeats = passes >= many or (back >= often and not passes < ONCE)
    # Of a handful of prompts nothing but their answers can be learned, whatever that does to the style.
    few = passes >= 4 * many or (of >= 4 and back > 0.8 * of)
    style = set() if few else segments.departures(run).keys() & STYLE
    parted = train.last - train.start > train.margin and (held.fell or (not held.rose and held.n >= 8)) and not held.at_ceiling
    if repeats and parted and not style:
        text = f"{train.name} gained about {number(train.last - train.start)} while {held.name} ends at about {number(held.last)}; {seen}."
        return present(text, segments.decline_began(score), measures, where)
    if parted:
        text = f"Reward and score diverge, but {seen}, and the style of the responses {'changed' if style else 'did not change'}."
        return absent(text, measures=measures, evidence=where)
    return absent(f"The held-out score keeps up with the reward; {seen}.", measures=measures)
