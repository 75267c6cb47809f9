"""The outcome rises while KL to the reference stands: learning without drift.

Looks for: over the last third, the outcome rising and KL to the reference flat by equivalence.
Means: the best of cases: seen early in training or under a strong KL penalty.
Not to be confused with: a KL that is not logged or is a constant placeholder.
Next test: go on; a weaker penalty may be faster.
Source: the practitioner's guide on the relation of KL and reward.
"""

from rl_advisor import trajectory
from rl_advisor.finding import Answer, Evidence, Outcome, Role
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("kl_coef", "half"),)


def detect(run: Run) -> Answer:
    """Present when the outcome rises and KL does not."""
    found = trajectory.kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if found.kl in ("flat", "falling") and found.way == "rising":
        outcome = Outcome.PRESENT
    else:
        outcome = Outcome.UNCLEAR if "undecidable" in (found.kl, found.way) else Outcome.ABSENT
    return Answer(outcome, f"{found.text}.", measures=found.measures, evidence=where)
