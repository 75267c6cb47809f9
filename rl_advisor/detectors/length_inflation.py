"""Responses get longer without getting better.

Looks for: length rises together with the reward, the reward follows length among responses to one prompt and explains most of the gain,
    and no held-out score rises with it; or wrong responses grow while right ones do not. Without samples: the curves of length, reward
    and held-out score.
Means: the reward pays for length, or the loss divides by it so that long wrong answers are punished less a token.
Not to be confused with: reasoning that grows with the held-out score, and a model that learns to finish its answers (longer pays only up
    to there).
Next test: rescore the latest responses cut to the length of the start; compare right and wrong ones of equal length.
Source: Dr. GRPO on the bias of dividing by length; the classic length preference of reward models.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.payoff import difference
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, present, unclear
from rl_advisor.output.wording import about, from_to
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import onset, shift
from rl_advisor.samples.text_signs import GROWTH, held_out_rose, paid_growth, samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("response/length|rollouts", "reward/mean|reward/used|rollouts")
CHANGE: tuple[tuple[str, str], ...] = (("length_neutral_loss", ""),)


def detect(run: Run) -> Answer:
    """Present when paid length explains the reward's gain, or only wrong answers grow; by the samples, else by the curves."""
    try:
        s = stretches(run)
    except TooFewPoints:
        return _by_curves(run)
    length, sign, better = shift(s, "tokens"), paid_growth(s, "tokens", "the length"), held_out_rose(run)
    measures = {"length_first": length.first, "length_latest": length.latest, **(sign.measures if sign else {})}
    if sign is not None and sign.there:
        text = sign.words[0].upper() + sign.words[1:]
        outcome = Outcome.UNCLEAR if better else Outcome.PRESENT
        text += "; the held-out score rose too." if better else "."
        return Answer(outcome, text, onset(s, "tokens") if not better else None, measures, (samples(s),))
    if (wrong := _wrong_grow(s)) is not None:
        return present(wrong[0], onset(s, "tokens"), measures | wrong[1], (samples(s),))
    if not length.up or length.latest < GROWTH * length.first:
        text = f"Length went {length.words}: it grew by less than a quarter."
        return absent(text, measures=measures, evidence=(samples(s),))
    gain = shift(s, "reward")
    measures |= {"reward_first": gain.first, "reward_latest": gain.latest}
    text = f"Length went {length.words}, the reward of the samples {gain.words}; nothing shows that length is rewarded."
    outcome = Outcome.ABSENT if better or gain.down else Outcome.UNCLEAR
    return Answer(outcome, text, measures=measures, evidence=(samples(s),))


def _wrong_grow(s: Stretches) -> tuple[str, dict[str, float]] | None:
    """What is seen and measured when wrong responses grew and right ones did not, where rewards have two values; None otherwise."""
    values = np.unique(s.table["reward"].dropna())
    if values.size != 2:
        return None
    means, changes = [], []
    for value in values:
        a, b = s.first[s.first["reward"] == value], s.latest[s.latest["reward"] == value]
        if min(len(a), len(b)) < 16:
            return None
        means.append((float(a["tokens"].mean()), float(b["tokens"].mean())))
        try:
            changes.append(difference(a["tokens"], b["tokens"], a["cluster"].tolist(), b["cluster"].tolist()))
        except TooFewPoints:
            return None
    (wrong_a, wrong_b), (right_a, right_b) = means
    if changes[0][1] > 0 and wrong_b > GROWTH * wrong_a and right_b < 1.1 * right_a:
        right = f"right ones went {from_to(right_a, right_b)}"
        measures = {
            "wrong_length_first": wrong_a,
            "wrong_length_latest": wrong_b,
            "right_length_first": right_a,
            "right_length_latest": right_b,
        }
        return f"Wrong responses grew {from_to(wrong_a, wrong_b)}, {right}.", measures
    return None


def _by_curves(run: Run) -> Answer:
    length = outcomes.course_or_none(run.curves.get("response/length"))
    reward, held = outcomes.course_or_none(outcomes.training(run)), outcomes.course_or_none(outcomes.held_out(run))
    if length is None or reward is None:
        return unclear("The curves of length and reward are too short, and there are too few samples.")
    measures = {"length_first": length.start, "length_latest": length.last, "reward_first": reward.start, "reward_latest": reward.last}
    evidence = tuple(Evidence(x.name, float(x.step[0]), float(x.step[-1])) for x in (length, reward, held) if x is not None)
    said = f"Length went {about(length.start, length.last)}, the reward {about(reward.start, reward.last)}"
    grew = length.gain.low > 0 and length.last > GROWTH * length.start
    if not grew or not reward.rose:
        return absent(f"{said}: they did not grow together.", None, measures, evidence)
    if held is None:
        return unclear(f"{said}; there is no held-out score to tell whether the answers got better.", None, measures, evidence)
    said += f", {held.name} {about(held.start, held.last)}."
    measures |= {"score_first": held.start, "score_latest": held.last}
    outcome = Outcome.ABSENT if held_out_rose(run) else Outcome.PRESENT
    when = segments.began(run.curves["response/length"]) if outcome is Outcome.PRESENT else None
    return Answer(outcome, said, when, measures, evidence)
