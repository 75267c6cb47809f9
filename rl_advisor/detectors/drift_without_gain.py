"""KL to the reference keeps rising while the outcome is flat: the run has had its say.

Looks for: over the last third, KL to the reference rising and the outcome flat by equivalence.
Means: the policy goes on moving away from a known-good model and gains nothing by it; more steps add risk without upside.
Not to be confused with: verifiable-reward training without a KL penalty, where KL always grows: there a flat held-out score, or
    worse length or diversity, must agree; the first steps, when KL rises before the reward does.
Next test: evaluate the checkpoint at the onset against the last one on held-out prompts, enough of them to see the margin. Where nothing
    was ever gained: evaluate the starting model as a baseline, then train on the test prompts themselves; there the reward must rise.
Source: the practitioner's guide (the critical warning pattern of KL and reward).
"""

from rl_advisor.curves import segments
from rl_advisor.curves.kl_regime import kl_regime
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SILENCE
SPEAKS = {"plateaued": 0.7}
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("kl_coef", "three times"),)

TEXT = {"response/length", "response/truncated", "response/repetition", "entropy/mean"}
"""What shows in the answers that a drift costs something."""


def detect(run: Run) -> Answer:
    """Present when KL to the reference rises over the last third while the outcome is flat by equivalence."""
    found = kl_regime(run)
    where = (Evidence("kl/ref", found.first, found.last), Evidence(found.outcome, found.first, found.last))
    if found.kl == "rising" and found.way == "flat":
        text = f"{found.text}: the policy drifts without gain."
        if run.settings.get("kl_coef") == 0 and not found.outcome.startswith("eval/") and not segments.departures(run).keys() & TEXT:
            text = f"{found.text}; without a KL penalty KL grows anyway, and there is no score to say whether that costs anything."
            return unclear(text, measures=found.measures, evidence=where)
        onset = Onset(found.first, float(run.curves["kl/ref"].step[0]), found.last)
        return present(text, onset, found.measures, where)
    if found.kl == "rising" and found.way == "undecidable":
        return unclear(f"{found.text}; whether the drift brings a gain cannot be told.", measures=found.measures, evidence=where)
    return absent(f"{found.text}.", measures=found.measures, evidence=where)
