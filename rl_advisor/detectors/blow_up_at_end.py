"""Numbers explode in the last rows: what the log shows is the beginning of a crash.

Looks for: a loss, a gradient, a value, a reward or one of its parts whose last rows are a hundred times the largest of all rows before and
    still there at the end.
Means: a simulator, a division or an update left the range of sound numbers; the rows before are no warning and the mean hides it.
Not to be confused with: one outlying row from which everything recovers; growth all along the run (see value_divergence).
Next test: the last batch before it: which sample, which term? Clip that term, and resume from the checkpoint before.
Source: reports of simulators whose unclipped terms reach 1e6 within ten iterations before NaN.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.output.wording import counted
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.FAULT
SPEAKS = {"collapsed": 3.0}
NEEDS: tuple[str, ...] = ("value/loss|value/mean|policy/grad_norm|policy/total_loss|reward/mean|reward/component/*",)
WATCHED = ("value/loss", "value/mean", "policy/grad_norm", "policy/total_loss", "policy/loss", "reward/mean", "kl/old")


def detect(run: Run, times: float = 100.0) -> Answer:
    """Present when a curve ends ``times`` above all that came before its last twentieth."""
    curves = [run.curves[n] for n in WATCHED if n in run.curves] + list(run.family("reward/component/").values())
    long = [c for c in curves if c.finite()[1].size >= 20]
    if not long:
        raise TooFewPoints("no loss, gradient norm or reward has 20 points")
    found = [(c, place) for c in long if (place := exploded(c, times)) is not None]
    if not found:
        return absent("No loss, gradient or reward explodes in its last rows.")
    curve, place = min(found, key=lambda f: float(f[0].finite()[0][f[1]]))
    step, value = curve.finite()
    before, now = float(np.abs(value[:place]).max()), float(np.abs(value[place:]).max())
    text = f"{curve.name} blows up at step {step[place]:.0f}: at most {number(before)} before, {number(now)} after"
    text += f", and {counted(len(found) - 1, 'more curve')} with it." if len(found) > 1 else "."
    measures = {"before": before, "after": now, "curves": float(len(found))}
    return present(text, segments.around(step, float(step[place])), measures, (Evidence(curve.name, float(step[place]), float(step[-1])),))


def exploded(curve: Curve, times: float) -> int | None:
    """The row from which a curve is beyond all that came before its last rows, to its end; None where it is not."""
    _, value = curve.finite()
    size = np.abs(value)
    last = max(3, min(20, size.size // 20 + 2))
    usual = float(size[:-last].max())
    beyond = np.flatnonzero(size[-last:] > 5 * usual)
    if usual <= 0 or size[-1] < 5 * usual or size[-last:].max() < times * usual or not beyond.size:
        return None
    return int(size.size - last + beyond[0])
