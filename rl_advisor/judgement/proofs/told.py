"""What somebody's own words prove: from what to what a metric went, as he saw it."""

from collections.abc import Iterator

import numpy as np

from rl_advisor.judgement.proofs.proof import REWARDS, Proof
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.output.wording import from_to

FIRST = (
    "What moved first: gradient norm, KL, entropy, the share of cut answers, or something that you changed?",
    "whether the update, the sampling or the reward broke first",
)
TOLD = "as the text says"
"""The note of a curve that somebody told in a sentence: its first and last values are what he saw, not noise."""


def parted(rows: Rows) -> Iterator[Proof]:
    """A reward that somebody says rises while the held-out score falls; of logged rows the detectors speak."""
    paid = _ends(rows, "reward/mean")
    if paid is None or paid[1] <= paid[0]:
        return
    for name in rows.family("eval/score/"):
        held = _ends(rows, name)
        if held is not None and held[0] - held[1] > 0.03 * max(abs(held[0]), abs(held[1])):
            says = f"{rows.called('reward/mean')} rises {from_to(*paid)} while {rows.called(name)} falls {from_to(*held)}:"
            yield Proof(
                f"{says} what is paid is no longer what is wanted.", causes=("parted",), about=(name, "reward/mean"), ask=(REWARDS,)
            )


def fell(rows: Rows) -> Iterator[Proof]:
    """A reward or score that, as somebody says, lost more than half of its level."""
    for name in ("reward/mean", *rows.family("eval/score/")):
        ends = _ends(rows, name)
        if ends is not None and ends[0] > 0 and ends[1] < 0.5 * ends[0]:
            says = (
                f"{rows.called(name)} falls {from_to(*ends)}: keep the last checkpoint from before the fall, and do not train on from here."
            )
            yield Proof(says, causes=("broken_policy",), about=(name,), ask=(FIRST,))


def _ends(rows: Rows, name: str) -> tuple[float, float] | None:
    """From what to what a metric went in somebody's words; None where nobody says it."""
    curve = rows.run.curves.get(name)
    if curve is None or curve.note != TOLD or curve.value.size < 2 or not np.isfinite(curve.value).all():
        return None
    return float(curve.value[0]), float(curve.value[-1])
