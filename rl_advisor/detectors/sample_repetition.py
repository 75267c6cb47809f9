"""Responses repeat themselves.

Looks for: responses that end in an exact loop, and word 4-grams that come again within a hundred words, latest against first samples.
Means: the text degenerates: an update too large, entropy gone or exploded, or a reward that pays for bulk. The repetition itself only
    describes it.
Not to be confused with: code and tables, which repeat by nature (the run's own start is the yardstick), and rulers of dashes, which are
    no loops.
Next test: sample from an earlier checkpoint at the same temperature: are the loops gone?
Source: degenerate text is best told by its tail's period and by compression in equal windows.
"""

import numpy as np

from rl_advisor.finding import Answer, Outcome, Role, present
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_change import onset, shift, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("rollouts",)


def detect(run: Run) -> Answer:
    """Present when loops became common or the repeated share rose by a quarter of all 4-grams."""
    s = stretches(run)
    loops, repeated = shift(s, "loop"), shift_or_none(s, "repeated")
    n, hits = len(s.latest), int(s.latest["loop"].sum())
    low, high = wilson(hits, n)
    measures = {"loop_first": loops.first, "loop_latest": loops.latest, "loop_low": low, "loop_high": high}
    if repeated is not None:
        measures |= {"repeated_first": repeated.first, "repeated_latest": repeated.latest}
    looping = low > 0.05 and loops.up
    again = _repeats(repeated is not None and repeated.low > 0.1 and repeated.delta > 0.25, s.latest["repeated"].to_numpy(np.float64))
    text = f"The share of responses that end in a loop went {loops.words}"
    text += f", the share of repeated 4-grams {repeated.words}." if repeated is not None else "."
    if looping or again:
        when = onset(s, "loop" if looping else "repeated")
        return present(text, when, measures, (samples(s),))
    outcome = Outcome.ABSENT if high < 0.2 else Outcome.UNCLEAR
    return Answer(outcome, text, measures=measures, evidence=(samples(s),))


def _repeats(more: bool, repeated: np.ndarray) -> bool:
    """More repetition than at the start, in most responses that are long enough to say."""
    return bool(more and np.isfinite(repeated).mean() > 0.5)
