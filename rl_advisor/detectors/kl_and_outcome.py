"""KL to the reference and the outcome, together, say what kind of stretch the run is in.

Looks for: over the last third, which way KL to the reference goes and which way the outcome goes.
Means: up and up is learning, paid for with distance; up without KL is learning for free; neither is rest, at the top or for want of a
    signal; a fall without KL comes from outside the policy: data, judge, environment or evaluation. Drift without gain and drift with a
    fall have pages of their own (drift_without_gain, destructive_drift).
Not to be confused with: stretches so noisy that one of the two ways cannot be told.
Next test: for a fall without drift, the last two checkpoints against the same frozen prompts and the same judge; for rest, one evaluation
    with many prompts: is the level good enough?
Source: the practitioner's guide on KL against reward, the most telling pair of curves.
"""

from rl_advisor.curves.kl_regime import kl_regime
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")
CELLS = {
    ("rising", "rising"): "learning with drift",
    ("flat", "rising"): "learning without drift",
    ("falling", "rising"): "learning without drift",
    ("flat", "flat"): "at rest",
    ("falling", "flat"): "at rest",
    ("flat", "falling"): "a decline without drift, from outside the policy",
    ("falling", "falling"): "a decline without drift, from outside the policy",
}
"""Which way KL goes, which way the outcome goes -> what that is called."""


def detect(run: Run) -> Answer:
    """Present with the name of the cell; unclear where one of the two ways cannot be told."""
    found = kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if "undecidable" in (found.kl, found.way):
        return unclear(f"{found.text}.", measures=found.measures, evidence=where)
    name = CELLS.get((found.kl, found.way))
    return present(f"{found.text}: {name}.", None, found.measures, where) if name else absent(f"{found.text}.", None, found.measures, where)
