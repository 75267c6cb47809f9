"""The held-out score steps at one evaluation and nothing in training does.

Looks for: a lasting step, up or down, between two neighbouring evaluations, twice what any other two differ by, while reward, KL, entropy
    and length go on across it as they did before.
Means: the evaluation changed (temperature, length limit, prompt template, test split), not the policy.
Not to be confused with: a policy that collapses, where the training reward falls too; steep learning, which takes several evaluations;
    a hack, where the score parts from the reward gradually and samples change with it.
Next test: run the first checkpoint again under the protocol of today.
Source: the field guide on fixed evaluation protocols.
"""

from rl_advisor.curves import outcomes
from rl_advisor.curves.held_out_scores import FEWEST, lone_step
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present, unclear
from rl_advisor.output.wording import about, counted
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("eval/score/*", "reward/mean|reward/used|reward/success")


def detect(run: Run) -> Answer:
    """Present when the score steps by far from one evaluation to the next, lastingly, and nothing in training does."""
    score = outcomes.held_out(run)
    assert score is not None  # diagnosis asked for it
    count = score.finite()[1].size
    if count < FEWEST:
        raise TooFewPoints(f"{counted(count, 'evaluation')}, {FEWEST} needed to tell a changed protocol from a changed policy")
    found = lone_step(run, score)
    if found is None:
        return absent(f"{score.name} makes no jump that training does not make.")
    text = f"{score.name} jumps {about(found.old, found.new)} at step {found.at:.0f} while training goes on as before"
    if "control" in task(run).traits:
        return unclear(f"{text}; greedy evaluation of a policy can do that by itself.")
    where = (Evidence(score.name, found.before, found.at),)
    return present(f"{text}.", Onset(found.at, found.before, found.at), {"before": found.old, "after": found.new}, where)
