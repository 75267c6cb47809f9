"""The size of the policy loss or of the gradient doubles or halves from one step to the next.

Looks for: an abrupt, lasting step in the scale of the loss or gradient norm, beside any slow drift.
Means: something changed abruptly there: the data, the schedule, the configuration of a resumed run, a gradient that exploded or died.
Not to be confused with: the sign or the zero crossings of a policy loss, which say nothing (with fresh data and centred advantages it
    is about zero by construction, and with a KL term it starts at zero and grows).
Next test: look at what else steps at that index: learning rate, data, reward, a restart in the log.
Source: the practitioner's guide on discontinuities, corrected for group-relative advantages.
"""

from rl_advisor.curves import segments
from rl_advisor.features.change import discontinuity
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import fold
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("policy/grad_norm|policy/total_loss|policy/loss",)


def detect(run: Run, times: float = 2.0) -> Answer:
    """Present when the ratio of typical sizes before and after one step is ``times`` or its inverse, interval included."""
    name = next(n for n in ("policy/grad_norm", "policy/total_loss", "policy/loss") if n in run.curves)
    curve = run.curves[name]
    found = discontinuity(*curve.finite())
    measures = {
        "at_step": found.at,
        "ratio": found.ratio,
        "ratio_low": found.low,
        "ratio_high": found.high,
        "changed_share": found.ratio - 1,
    }
    text = f"{name} {fold(found.ratio)} at step {found.at:.0f}"
    if found.low > times or found.high < 1 / times:
        onset = segments.around(curve.finite()[0], found.at, 2)
        return present(f"{text}.", onset, measures, (Evidence(name, found.at, found.at),))
    return absent(f"{text}: no abrupt change of scale.", measures=measures)
