"""The plateau is made by the schedule: the learning rate has decayed to nothing.

Looks for: a learning rate in the last fifth far below its maximum, while the outcome is flat.
Means: the run stopped because it was told to, not because there is nothing left to learn.
Not to be confused with: a run that was flat long before the rate decayed.
Next test: go on from the last checkpoint at a tenth of the peak rate, held constant.
Source: outcomes that flatten with an annealed rate or clip range.
"""

import numpy as np

from rl_advisor.curves import outcome_shape
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import from_to
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("policy/learning_rate", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("lr_schedule", "constant"), ("learning_rate", "a tenth of"))


def detect(run: Run, left: float = 0.1) -> Answer:
    """Present when the rate ends below ``left`` of its maximum and the outcome is flat over the last third only."""
    step, rate = run.curves["policy/learning_rate"].finite()
    if rate.size < outcome_shape.FEWEST:
        raise TooFewPoints(f"{rate.size} points of the learning rate")
    curve = outcome_shape.outcome(run)
    assert curve is not None  # diagnosis asked for one
    s = outcome_shape.shape(curve)
    highest, now = float(rate.max()), float(np.median(rate[-max(3, rate.size // 20) :]))
    measures = {"highest": highest, "now": now}
    text = f"The learning rate went {from_to(highest, now, 'rate')}"
    if now < left * highest and s.direction() == "flat" and s.rose and not s.at_ceiling:
        where = (Evidence("policy/learning_rate", s.recent_first, float(step[-1])),)
        return present(f"{text} and the outcome flattened with it.", None, measures, where)
    return absent(f"{text}.", measures=measures)
