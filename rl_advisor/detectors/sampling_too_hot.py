"""Training samples are far worse than what the same policy does in evaluation, from the start and to the end.

Looks for: a training reward that stays near its floor while the held-out score stands far above it on the same scale, and entropy
    that is high and does not fall.
Means: exploration drowns the signal: sampling temperature or noise is so high that right answers are hardly ever drawn, so
    reward is never absorbed.
Not to be confused with: training prompts that are much harder than the test; a reward on another scale than the score.
Next test: sample the training prompts at the evaluation temperature: does the reward jump to the score?
Source: the field guide (entropy stays high: the policy behaves like a random walk).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("entropy/mean", "reward/mean|reward/success", "eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("temperature", "1"),)


def detect(run: Run, part: float = 0.2) -> Answer:
    """Present when the reward stays below ``part`` of the score all along and entropy keeps at least nine tenths of its start."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    entropy = run.curves["entropy/mean"]
    begin, now = float(np.median(segments.opening(entropy))), float(np.median(segments.final(entropy)))
    highest = float(np.quantile(train.value, 0.9))
    measures = {"reward": highest, "score": held.last, "entropy_first": begin, "entropy_now": now}
    measures["temperature"] = float(run.settings.get("temperature") or "nan")
    where = (
        Evidence(train.name, float(train.step[0]), float(train.step[-1])),
        Evidence("entropy/mean", float(entropy.step[0]), float(entropy.step[-1])),
    )
    text = f"The p90 of the training reward is {number(highest)} while {held.name} is "
    text += f"about {number(held.last)}; entropy {about(begin, now)}"
    shares = held.ceiling == 1.0 and train.ceiling == 1.0
    if shares and highest < part * min(held.start, held.last) and now >= 0.9 * begin and min(held.start, held.last) > 0.1:
        onset = Onset(float(train.step[0]), float(train.step[0]), float(train.step[0]))
        return present(f"{text}: sampled answers are far worse than evaluated ones.", onset, measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
