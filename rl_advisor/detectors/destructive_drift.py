"""KL to the reference rises and the outcome falls: every further step destroys.

Looks for: the outcome ends below its best by more than noise, and KL to the reference grew over the same stretch.
Means: the policy gets worse and moves away from a known-good model at once. The better checkpoint lies behind.
Not to be confused with: a reward that fell because the data got harder, where KL does not grow with it; a step in the score alone.
Next test: reload the checkpoint before the onset and go on with half the learning rate: if it recovers, the step was too large.
Source: the practitioner's guide (KL rising, reward declining: stop).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.CONSEQUENCE
SPEAKS = {"collapsed": 0.7, "degrading": 0.7}
NEEDS: tuple[str, ...] = ("kl/ref", "reward/mean|reward/used|eval/score/*")
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "half"), ("kl_coef", "three times"))


def detect(run: Run, growth: float = 2.0) -> Answer:
    """Present when the outcome fell from its best while KL grew at least ``growth`` times."""
    curve = outcomes.outcome(run)
    assert curve is not None  # diagnosis asked for one
    s = outcomes.course_of(curve)
    step, kl = run.curves["kl/ref"].finite()
    if kl.size < outcomes.FEWEST:
        raise TooFewPoints(f"{kl.size} points of kl/ref")
    top = max(s.best_step, float(step[min(4, step.size - 1)]))
    near = kl[step <= top][-9:]
    before, after = float(np.median(near)), float(np.median(segments.final(run.curves["kl/ref"])))
    measures = {"kl_at_best": before, "kl_last": after, "best": s.best, "last": s.last}
    where = (Evidence("kl/ref", s.best_step, float(step[-1])), Evidence(s.name, s.best_step, float(s.step[-1])))
    text = f"Since step {s.best_step:.0f} KL went {about(before, after)} and {s.name} {about(s.best, s.last)}"
    late = kl[step > top]
    apart = late.size >= 3 and float(np.quantile(late[-max(3, late.size // 3) :], 0.25)) > float(np.quantile(near, 0.9))
    if s.fell and apart and after > growth * max(before, 1e-4) and after > 0.02:
        began = segments.began(run.curves["kl/ref"], after=top - 5 * float(np.median(np.diff(step))))
        return present(f"{text}: worse, and further from the reference.", began, measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
