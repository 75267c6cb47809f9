"""Neither KL to the reference nor the outcome moves any more: training has converged.

Looks for: over the last third, KL to the reference and the outcome both flat by equivalence.
Means: nothing changes any more. Whether to stop depends on whether the level is good enough.
Not to be confused with: a policy that never moved (see frozen_policy); slopes that are merely not significant.
Next test: compare the last three checkpoints; if they agree, change the data or the reward, not the number of steps.
Source: the practitioner's guide on the relation of KL and reward.
"""

from rl_advisor import trajectory
from rl_advisor.finding import Answer, Evidence, Outcome, Role
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
SPEAKS = {"plateaued": 0.5}
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")


def detect(run: Run) -> Answer:
    """Present when neither moves."""
    found = trajectory.kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if found.kl in ("flat", "falling") and found.way == "flat":
        outcome = Outcome.PRESENT
    else:
        outcome = Outcome.UNCLEAR if "undecidable" in (found.kl, found.way) else Outcome.ABSENT
    return Answer(outcome, f"{found.text}.", measures=found.measures, evidence=where)
