"""The prompts change in the middle of the run.

Looks for: a step in the length of the prompts, logged or read from the rollouts, or prompts of later steps whose words were not
    seen before, in time with a step of the reward.
Means: the data changed (a curriculum, another mixture, another epoch's order): rewards before and after are not comparable.
Not to be confused with: a change of the responses, which is the policy's own.
Next test: evaluate one checkpoint on prompts from before and after the step.
Source: the field guide on environment and data; curriculum and data-order effects.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.output.wording import counted
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("prompt/length|rollouts",)


def prompt_lengths(run: Run) -> tuple[Floats, Floats, Floats]:
    """Steps, mean prompt length and its spread over prompts, from the log or counted in words of the rollouts."""
    curve = run.curves.get("prompt/length")
    if curve is not None and curve.finite()[1].size >= 5:
        step, value = curve.finite()
        return step, value, np.full(value.size, float(np.std(np.diff(value))) / np.sqrt(2))
    if not len(run.rollouts) or "prompt" not in run.rollouts:
        raise TooFewPoints("the samples hold no prompts")
    words = run.rollouts.assign(words=[len(str(prompt).split()) for prompt in run.rollouts["prompt"]]).drop_duplicates(["step", "prompt"])
    table = words.groupby("step")["words"].agg(["mean", "std", "count"])
    error = (table["std"].fillna(0) / np.sqrt(table["count"])).to_numpy(np.float64)
    return table.index.to_numpy(np.float64), table["mean"].to_numpy(np.float64), error


def detect(run: Run, ratio: float = 1.15) -> Answer:
    """Present when the mean prompt length steps by more than ``ratio`` and by far more than its own scatter."""
    step, value, error = prompt_lengths(run)
    if value.size < 4:
        raise TooFewPoints(f"prompts of {counted(value.size, 'step')}, 4 needed")
    best = max(range(2, value.size - 1), key=lambda i: _contrast(value, error, i))
    before, after = float(value[:best].mean()), float(value[best:].mean())
    scatter = float(np.hypot(value[:best].std(), value[best:].std()) + np.median(error))
    measures = {"before": before, "after": after, "scatter": scatter, "at_step": float(step[best])}
    where = (Evidence("rollouts", float(step[best - 1]), float(step[best])),)
    text = f"Prompt length is {number(before)} before step {step[best]:.0f} and {number(after)} after"
    if max(before, after) > ratio * min(before, after) and abs(after - before) > 4 * scatter:
        onset = Onset(float(step[best]), float(step[best - 1]), float(step[best]))
        return present(f"{text}: the data changed.", onset, measures, where)
    return absent(f"{text}: within its scatter ({number(scatter)}).", measures=measures)


def _contrast(value: Floats, error: Floats, i: int) -> float:
    gap = abs(float(value[:i].mean() - value[i:].mean()))
    return gap / float(value[:i].std() + value[i:].std() + np.median(error) + 1e-9)
