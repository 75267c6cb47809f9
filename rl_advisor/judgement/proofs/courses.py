"""What few rows prove by how they go on: parts of a reward that part, scores that go to nothing, factors that no noise makes."""

from collections.abc import Iterator

import numpy as np

from rl_advisor.judgement.proofs.proof import REWARDS, Proof
from rl_advisor.judgement.proofs.rows import FEW, Rows
from rl_advisor.output.wording import from_to
from rl_advisor.run import Curve, Floats

FIRST = (
    "What moved first: gradient norm, KL, entropy, the share of cut answers, or something that you changed?",
    "whether the update, the sampling or the reward broke first",
)
TOLD = "as the text says"
"""The note of a curve that somebody told in a sentence: its first and last values are what he saw, not noise."""
LEAP = 10.0
"""From this factor between rows a quantity that does not grow by itself has left its level."""
LEAST = {"policy/grad_norm": 0.1, "kl/old": 0.05}
"""Levels below which a leap is no matter; 1 for what is not named."""
LEAPS = ("policy/grad_norm", "value/loss", "kl/old", "ratio/max", "policy/loss", "policy/total_loss")


def parted(rows: Rows) -> Iterator[Proof]:
    """A reward that somebody says rises while the held-out score falls; of logged rows the detectors speak."""
    paid = _told(rows, "reward/mean")
    if paid is None or paid[1] <= paid[0]:
        return
    for name in rows.family("eval/score/"):
        held = _told(rows, name)
        if held is not None and held[0] - held[1] > 0.03 * max(abs(held[0]), abs(held[1])):
            says = f"{rows.called('reward/mean')} rises {from_to(*paid)} while {rows.called(name)} falls {from_to(*held)}:"
            yield Proof(
                f"{says} what is paid is no longer what is wanted.", causes=("parted",), about=(name, "reward/mean"), ask=(REWARDS,)
            )


def crowded_out(rows: Rows) -> Iterator[Proof]:
    """One part of the reward that falls in every row to less than half of its level while another rises."""
    parts = {n: c for n, c in rows.family("reward/component/").items() if _few(c)}
    lost = [n for n, c in parts.items() if _falls(c.value)]
    won = [n for n, c in parts.items() if c.value[-1] - c.value[0] > 0.2 * max(1.0, abs(float(c.value[0])))]
    if lost and won:
        down, up = parts[lost[0]].value, parts[won[0]].value
        says = f"{rows.called(lost[0])} falls {from_to(float(down[0]), float(down[-1]))} while {rows.called(won[0])} rises"
        says += (
            f" {from_to(float(up[0]), float(up[-1]))} in {down.size} rows: the easier part of the reward is collected and the task dropped."
        )
        yield Proof(says, causes=("crowded_out",), about=(lost[0], won[0]), ask=(REWARDS,))


def fell(rows: Rows) -> Iterator[Proof]:
    """A reward or score that lost more than half of its level: as somebody says, or row by row in a few rows."""
    for name in ("reward/mean", *rows.family("eval/score/")):
        curve = rows.run.curves.get(name)
        if curve is None:
            continue
        ends = _told(rows, name) or _peak_and_end(curve)
        if ends is not None and ends[0] > 0 and ends[1] < 0.5 * ends[0]:
            says = f"{rows.called(name)} falls {from_to(*ends)}:"
            yield Proof(
                f"{says} keep the last checkpoint from before the fall, and do not train on from here.",
                causes=("broken_policy",),
                about=(name,),
                ask=(FIRST,),
            )


def leaps(rows: Rows) -> Iterator[Proof]:
    """A quantity of the update that multiplies and stays up: within few rows, or in longer ones that log nothing to judge by."""
    judged = "reward/mean" in rows.run.curves or bool(rows.family("eval/score/"))
    for name in LEAPS:
        values = np.abs(rows.values(name))
        if values.size < 4 or (values.size > FEW and judged) or not np.isfinite(values).all() or rows.phase == "start":
            continue
        before, after = float(np.median(values[: values.size // 2])), float(np.median(values[-max(2, values.size // 20) :]))
        if before > 1e-3 and after >= LEAP * before and after > LEAST.get(name, 1.0):
            says = f"{rows.called(name)} grows {from_to(before, after)} within {values.size} rows and stays up."
            yield Proof(says, causes=("reward_scale",) if name == "value/loss" else ("growing",), about=(name,))


def _few(curve: Curve) -> bool:
    """Whether a curve has few rows, all finite, so that each counts."""
    return 3 <= curve.value.size <= FEW and bool(np.isfinite(curve.value).all())


def _falls(values: Floats) -> bool:
    """Whether values fall in (almost) every row, to less than half."""
    down = np.diff(values) < 0
    return bool(values[0] > 0 and values[-1] < 0.5 * values[0] and down.mean() >= 0.75)


def _peak_and_end(curve: Curve) -> tuple[float, float] | None:
    """The highest of a few rows and the last ones, where nearly every row after it lies lower than the one before."""
    values = curve.value
    if not _few(curve) or float(values.min()) < 0:
        return None
    top = int(np.argmax(values))
    after = values[top:]
    steady = after.size >= 5 and int(np.sum(np.diff(after) > 0)) <= after.size // 6
    return (float(values[top]), float(after[-2:].mean())) if steady else None


def _told(rows: Rows, name: str) -> tuple[float, float] | None:
    """From what to what a metric went in somebody's words; None where nobody says it."""
    curve = rows.run.curves.get(name)
    if curve is None or curve.note != TOLD or curve.value.size < 2 or not np.isfinite(curve.value).all():
        return None
    return float(curve.value[0]), float(curve.value[-1])
