"""The gradient norm throws spikes.

Looks for: single steps many times above the running median, more of them later than earlier, or a last stretch that stays high.
Means: outlying batches, extreme log-probabilities or reward outliers; the usual precursor of NaN and of a sudden collapse.
Not to be confused with: one spike from which everything recovers; a norm that grows slowly as the policy sharpens.
Next test: log the batch of the largest spike and its rewards; clip lower; halve the learning rate over the stretch.
Source: the field guide on numerical stability; mismatch and ratio reports in which spikes come first.
"""

import numpy as np

from rl_advisor.features.change import spikes
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("policy/grad_norm",)
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "half"), ("max_grad_norm", "half"))


def detect(run: Run, share: float = 0.02) -> Answer:
    """Present when more than ``share`` of the steps are spikes, or one did not come back."""
    step, value = run.curves["policy/grad_norm"].finite()
    found = spikes(step, value)
    # Where most batches are silent, a spike is just a batch that says something: it must also beat the level of the first steps.
    late = found.steps > step[min(10, step.size - 1)]
    large = late & (found.sizes > 3 * float(np.median(value[:5])))
    count = int(large.sum())
    lasting = int(np.sum(~found.recovered[large]))
    median = float(np.median(value))
    measures = {"spikes": float(count), "not_recovered": float(lasting), "median": median, "largest": float(np.max(value))}
    text = f"{count} gradient-norm spikes (median {number(median)}, largest {number(float(np.max(value)))}), "
    text += f"{lasting} of which did not recover"
    if count >= 3 and count > share * value.size:
        first = float(found.steps[large][0])
        where = (Evidence("policy/grad_norm", first, float(found.steps[-1])),)
        return present(f"{text}.", Onset(first, first, first), measures, where)
    return absent(f"{text}.", measures=measures)
