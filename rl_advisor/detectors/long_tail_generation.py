"""A few long answers keep the GPUs busy at a fraction of what they could do while all others are finished.

Looks for: the last part of generation at less than 60 % of the power above idle that generation usually draws, step after step; beside
    it, how much longer the longest response is than the mean one.
Means: the batch waits for its longest responses. A shorter limit, sampling the next batch meanwhile, or more prompts per engine fill the
    tail.
Not to be confused with: a slow reward, in which nothing is drawn at all; a ramp at the beginning of generation.
Next test: cut the longest allowed response by a third for a few steps: does generation shorten in proportion?
Source: RollPacker and others on skewed rollouts, which gain a factor of two and more by mending the tail; the rule of 60 % of the phase's
    power.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phases import GENERATION
from rl_advisor.finding import Answer, Evidence, Outcome, Role, number
from rl_advisor.gpu.look import Seen, look
from rl_advisor.output.wording import percent
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry|response/length_max",)
LOW = 0.6
SKEWED = 3.0


def detect(run: Run, most: float = 0.2) -> Answer:
    """Present when more than ``most`` of generation is such a tail in the middle step; unclear by lengths alone."""
    skew = _skew(run)
    said = "" if skew is None else f"; the longest response is {number(skew)} times the mean one"
    measures = {} if skew is None else {"longest_over_mean": skew}
    if not len(run.telemetry):
        if skew is None:
            raise TooFewPoints("the mean length of responses is not logged beside the longest")
        outcome = Outcome.UNCLEAR if skew > SKEWED else Outcome.ABSENT
        text = f"The longest response is {number(skew)} times the mean; how long GPUs wait for it is not logged."
        where = (Evidence("response/length_max", run.first_step, run.last_step),)
        return Answer(outcome, text, None, measures, where)
    tails = _tails(look(run))
    if tails.size < 3:
        raise TooFewPoints("generation and training could be told apart in fewer than three steps" + said)
    share = float(np.median(tails))
    measures |= {"tail_share": share, "steps": float(tails.size)}
    text = f"In the median step the last {percent(share)} of generation runs below 60 % of its usual power{said}."
    where = (Evidence("telemetry", run.first_step, run.last_step),)
    return Answer(Outcome.PRESENT if share > most else Outcome.ABSENT, text, None, measures, where)


def _tails(seen: Seen) -> Floats:
    """Share of each step's generation that its last stretch of low power makes up; empty where phases are not told with confidence."""
    split = seen.split
    if split is None or not split.named or split.confidence == "low" or not split.step.size:
        return np.empty(0)
    power = np.interp(split.at, seen.ticks.time, seen.ticks.value["power_w"])
    floor = float(np.quantile(seen.ticks.value["power_w"], 0.02))
    found = []
    for step in np.unique(split.step[split.step >= 0]):
        drawn = power[(split.step == step) & (split.label == GENERATION)] - floor
        if drawn.size < 8:
            continue
        usual = float(np.quantile(drawn, 0.8))
        full = np.flatnonzero(drawn >= LOW * usual)
        found.append(1 - (full[-1] + 1) / drawn.size if full.size and usual > 0 else 0.0)
    return np.array(found)


def _skew(run: Run) -> float | None:
    """The longest response over the mean one, in the middle of the logged steps."""
    longest, mean = run.curves.get("response/length_max"), run.curves.get("response/length")
    if longest is None or mean is None:
        return None
    _, i, j = np.intersect1d(longest.step, mean.step, return_indices=True)
    ratio = longest.value[i] / np.maximum(mean.value[j], 1e-9)
    ratio = ratio[np.isfinite(ratio)]
    return float(np.median(ratio)) if ratio.size >= 3 else None
