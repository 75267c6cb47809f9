"""The training reward rises and the held-out score does not follow: the reward is being gamed, or the training data learned by heart.

Looks for: a held-out score that fell while the reward, over the same steps, stood or rose; or one that stands, with enough evaluations to
    say so, while the reward gained a fifth of its scale and the style of the answers (length, cuts, repetition, tool calls) changed.
Means: with side metrics far from their beginnings and cases that vary, the policy has found what the reward pays besides the
    task. With the same few cases again and again and an unchanged style, it has learned those (see memorised_data).
Not to be confused with: a constant distance between easy training and hard tests: only a widening gap counts; a
    test protocol that changed (one step in the score alone); reward and score that fall together.
Next test: look at twenty of the highest-rewarded samples of the last checkpoint; grade them again by a second, stricter rule.
Source: the field guide's triad of reward hacking; reward-model over-optimisation (Gao et al. 2022, arXiv 2210.10760).
"""

from collections.abc import Mapping

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.outcomes import Course
from rl_advisor.curves.task import task
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.settings.standstill import STYLE
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")


def detect(run: Run) -> Answer:
    """Present when the score fell for good while the reward did not fall with it, or stood while reward and style left it."""
    score, reward = outcomes.held_out(run), outcomes.training(run)
    assert score is not None and reward is not None  # diagnosis asked for both
    held, train = outcomes.course_of(score), outcomes.course_of(reward)
    at_best = float(np.interp(held.best_step, train.step, train.smoothed))
    left = segments.departures(run)
    measures = {
        "reward_start": train.start,
        "reward_at_best_score": at_best,
        "reward_last": train.last,
        "score_start": held.start,
        "score_best": held.best,
        "score_last": held.last,
        "side_metrics_changed": float(len(left)),
    }
    where = (Evidence(held.name, held.best_step, float(held.step[-1])), Evidence(train.name, held.best_step, float(train.step[-1])))
    side = _moved_too(left)
    if parted(held, train, at_best):
        went = f"Since step {held.best_step:.0f} {held.name} fell {about(held.best, held.last)} while {train.name} "
        went += f"went {about(at_best, train.last)}"
        return present(f"{went}.{side}", segments.decline_began(score), measures, where)
    went = f"{train.name} went {about(train.start, train.last)}, "
    went += f"{held.name} {about(held.start, held.last)}"
    if left_behind(held, train) and "control" not in task(run).traits:
        if left.keys() & STYLE:
            return present(f"{went}: the gap widens.{side}", segments.began(reward), measures, where)
        return unclear(f"{went}: the gap widens; whether by style or by heart cannot be told.", None, measures, where)
    if held.n < 8 and train.last - train.start > train.margin and not held.rose:
        return unclear(f"{went}; {held.n} evaluations are too few to tell.", measures=measures)
    return absent(f"{went}: no widening gap.", measures=measures, evidence=where)


def _moved_too(left: Mapping[str, float]) -> str:
    """The side metrics that left where they began, as a sentence; empty where none did."""
    return f" Far from where they began: {', '.join(sorted(left))}." if left else ""


def parted(held: Course, train: Course, at_best: float) -> bool:
    """Whether the score fell for good while the reward, over the same stretch, stood or rose, and had gained in all."""
    sure = train.gain.low > 0 or train.overall.low > 0
    gained = max(train.last - train.start, train.last - at_best) > train.margin and sure
    stood = train.last - at_best > -train.margin and not train.fell
    return bool(held.fell and held.lost > 0.15 and gained and stood)


def left_behind(held: Course, train: Course, much: float = 7.0) -> bool:
    """Whether the reward surely gained a fifth of its scale and the score, with room above it, next to nothing."""
    gained = (train.last - train.start) / train.margin if train.margin > 0 else 0.0
    room = not (held.at_ceiling or held.touches_ceiling)
    # A score that never moved has no margin. Of several evaluations one is high by luck: what counts is where the score ends.
    could, came = ((x / held.margin if held.margin > 0 else 0.0) for x in (held.gain.high, held.last - held.start))
    behind = could < gained / 3 and came < gained / 6
    return bool(gained > much and train.gain.low > 0 and not train.fell and held.n >= 8 and room and behind)
