"""KL to the reference and the outcome rise together: the policy changes and improves.

Looks for: over the last third, KL to the reference rising and the outcome rising.
Means: healthy learning: the policy finds behaviour that the reference does not have.
Not to be confused with: a training reward that rises while the held-out score does not (see train_eval_gap).
Next test: go on, and watch for the moment when the reward stops and KL does not.
Source: the practitioner's guide on the relation of KL and reward.
"""

from rl_advisor import trajectory
from rl_advisor.finding import Answer, Evidence, Outcome, Role
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")


def detect(run: Run) -> Answer:
    """Present when both rise over the last third."""
    found = trajectory.kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if found.kl == "rising" and found.way == "rising":
        outcome = Outcome.PRESENT
    else:
        outcome = Outcome.UNCLEAR if "undecidable" in (found.kl, found.way) else Outcome.ABSENT
    return Answer(outcome, f"{found.text}.", measures=found.measures, evidence=where)
