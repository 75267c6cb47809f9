"""The critic predicts no better than a constant, so the advantage is noise.

Looks for: after the first fifth of the run, an explained variance whose interval lies at or below zero, or that fell from a good
    level to a bad one; beside it a value loss that does not fall.
Means: advantages point the actor in random directions. Return scale, targets, terminal masks or the critic's size are wrong.
Not to be confused with: the first updates, which are often at or below zero; a value loss that rises because returns rise; a short
    task such as CartPole, where explained variance may sit near zero while the return climbs; a run without a critic.
Next test: freeze the actor, fit the critic alone on one fixed batch of rollouts: if it cannot fit that, mend the critic first.
Source: the field guide's signals of a broken critic; decoupled advantage estimates (VAPO).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.features.fit import SAME_EVERYWHERE
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.output.wording import counted, from_to, percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("value/explained_variance",)
CHANGE: tuple[tuple[str, str], ...] = (("critic", ""),)


def detect(run: Run, good: float = 0.1) -> Answer:
    """Present when explained variance after warm-up stays below ``good`` and the outcome does not rise all the same."""
    curve = run.curves["value/explained_variance"]
    step, value = curve.finite()
    if 0 < value.size < 8 and np.abs(value).max() < SAME_EVERYWHERE and run.last_step > 0 and _not_falling(run, 1) is not None:
        text = f"Explained variance is 0 to the last digit in {counted(value.size, 'row')}: the critic predicts one value for every state."
        return present(text, None, {"rows": float(value.size)}, (Evidence(curve.name, float(step[0]), float(step[-1])),))
    if value.size < 8:
        raise TooFewPoints(f"{value.size} points of explained variance, 8 needed")
    warm = value[value.size // 5 :]
    late = segments.final(curve, 0.4)
    level, spread = float(np.median(late)), float(np.std(late) / np.sqrt(late.size))
    low_share = float(np.mean(warm <= 0))
    thriving = outcomes.thriving(run) and any(s.got_somewhere for s in outcomes.trusted(run))
    measures = {"late": level, "share_not_above_zero": low_share, "error": spread, "nine_tenths_below": float(np.quantile(value, 0.9))}
    where = (Evidence(curve.name, float(step[value.size // 5]), float(step[-1])),)
    text = f"Explained variance is {number(level)} lately, and zero or less in {percent(low_share)} of the updates"
    if (loss := _not_falling(run)) is not None:
        measures |= {"value_loss_first": loss[0], "value_loss_last": loss[1]}
        text += f"; the value loss does not fall ({from_to(*loss)})"
    if level + 2 * spread < good and not thriving:
        return present(f"{text}.", segments.began(curve) or segments.around(step, float(step[0])), measures, where)
    if level + 2 * spread < good:
        return unclear(f"{text}, yet the outcome rose.", measures=measures, evidence=where)
    return absent(f"{text}.", measures=measures, evidence=where)


def _not_falling(run: Run, fewest: int = 8) -> tuple[float, float] | None:
    """The value loss at the start and at the end where it is not clearly lower there; None where it is, or is not logged."""
    curve = run.curves.get("value/loss")
    if curve is None or curve.finite()[1].size < fewest:
        return None
    first, last = segments.opening(curve), segments.final(curve)
    begin, now = float(np.median(first)), float(np.median(last))
    return None if now < 0.8 * begin else (begin, now)
