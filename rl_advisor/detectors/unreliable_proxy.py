"""What is paid is not what people, or an independent check, find good: the reward is an unreliable proxy.

Looks for: among the samples of the second half, a rank correlation of the reward with a human or independent judgement of the same
    responses whose whole interval lies below a weak one.
Means: climbing this reward brings nothing that was wanted; the harder it is climbed, the further the two part.
Not to be confused with: a judgement that all answers share (nothing to rank by); a reward that agreed at the start and was turned later,
    which is gaming (see reward_shortcut); a run whose judgement rises with its reward although single answers are ranked differently.
Next test: rank fifty responses by hand and by the reward; rewrite the reward, or calibrate it on those, before another step.
Source: the field guide's table of reward distributions (low correlation with human scores); RewardBench on evaluating reward models.
"""

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Role, absent, not_logged, number, present
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.reward_check import rank_correlation
from rl_advisor.samples.rows import reference_columns
from rl_advisor.samples.text_change import samples, shift_or_none
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts",)
FEWEST = 40
"""Judged responses below which a correlation may be anything."""


def detect(run: Run, weak: float = 0.3) -> Answer:
    """Present when the upper end of the latest correlation lies below ``weak`` and the judgement did not rise with the reward."""
    s = stretches(run)
    names = reference_columns(s.table)
    if not names:
        return not_logged("No human or independent judgement stands beside the samples.")
    half = s.table[s.table["step"] >= s.table["step"].median()]
    told = [(name, *rank_correlation(half, name)) for name in names]
    name, rho, low, high, n = min((t for t in told if t[4] >= FEWEST and t[1] is not None), key=lambda t: t[1] or 0.0, default=told[0])
    if n < FEWEST or rho is None:
        raise TooFewPoints(f"fewer than {FEWEST} samples of the second half are judged")
    words = name.removeprefix("other/")
    measures = {"rank_correlation": rho, "low": low, "high": high, "judged": float(n)}
    text = f"In the second half the reward's rank correlation with {words} is {number(rho)} ({number(low)} to {number(high)}, {n} judged)"
    moved = shift_or_none(s, name)
    if high < weak and not (moved is not None and moved.up):
        return present(f"{text}: what is paid is not what is judged good.", measures=measures, evidence=(samples(s),))
    return absent(f"{text}.", measures=measures, evidence=(samples(s),))
