"""The outcome falls while KL to the reference stands: it is hardly the policy that changed.

Looks for: over the last third, the outcome falling and KL to the reference flat by equivalence or falling.
Means: a policy that stays where it is cannot get much worse by itself: the prompts became harder, the grading or the evaluation changed,
    or a strong KL penalty pulls the policy back towards a worse reference.
Not to be confused with: a KL that is not logged or is a constant placeholder; a fall that KL led by long and that has gone on since.
Next test: grade the checkpoint of before the fall on the prompts and with the grader of today.
Source: the practitioner's guide on the relation of KL and reward, its remaining cell.
"""

from rl_advisor import trajectory
from rl_advisor.finding import Answer, Evidence, Outcome, Role
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")


def detect(run: Run) -> Answer:
    """Present when the outcome falls and KL does not rise."""
    found = trajectory.kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if found.kl in ("flat", "falling") and found.way == "falling":
        outcome = Outcome.PRESENT
    else:
        open_yet = found.way == "undecidable" or (found.way == "falling" and found.kl == "undecidable")
        outcome = Outcome.UNCLEAR if open_yet else Outcome.ABSENT
    return Answer(outcome, f"{found.text}.", measures=found.measures, evidence=where)
