"""Most groups of responses get one and the same reward, so the update has nothing to compare.

Looks for: the share of groups without spread in the last fifth; whether it grew; whether the reward there says all right or all wrong.
Means: with a group-relative advantage those groups give no gradient. All right: the prompts have become too easy. All wrong: they are
    out of reach. The two call for opposite mends.
Not to be confused with: a share of one by construction where the reward is scaled over the batch; prompts that were solved one after
    the other as the run learned, which is success (harder prompts would teach more).
Next test: a histogram of the pass rate per prompt; then dynamic sampling, or prompts of the missing difficulty.
Source: TRL's notes on frac_reward_zero_std; dynamic sampling in DAPO (arXiv 2503.14476).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, not_logged, number, present, unclear
from rl_advisor.output.wording import percent, roughly
from rl_advisor.run import Curve, Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.reward_check import flat_groups, groups
from rl_advisor.vocabulary import Link

if TYPE_CHECKING:
    pass

LINK = Link.TRAINING_SIGNAL
ROLE = Role.SILENCE
NEEDS: tuple[str, ...] = ("reward/flat_groups|rollouts",)
CHANGE: tuple[tuple[str, str], ...] = (("dynamic_filtering", ""), ("group_size", "twice"))


def detect(run: Run, share: float = 0.8) -> Answer:
    """Present when at least ``share`` of the groups have no spread over the last fifth of the run."""
    curve = run.curves.get("reward/flat_groups") or _of_samples(run)
    if curve is None:
        text = "No share of zero-variance groups is logged, and the samples hold no groups of several rewarded responses."
        return not_logged(text)
    step, value = curve.finite()
    if value.size < 3 and value.min() < 1:
        raise TooFewPoints(f"{value.size} points of {curve.name}")
    begin, now = float(np.median(value[:3])), float(np.median(segments.final(curve)))
    reward = outcomes.training(run)
    level = float(np.median(segments.final(reward))) if reward is not None else _level(run)
    measures = {"at_start": begin, "now": now, "live_share": 1 - now, "reward": level}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"{roughly(now, 'share').capitalize()} of the groups have zero reward variance ({percent(begin)} at the start)"
    text += f", at a reward near {number(level)}"
    if now < share:
        return absent(f"{text}.", measures=measures, evidence=where)
    if begin < share and outcomes.thriving(run):
        return unclear(f"{text}: they came as the run learned, as solved prompts do.", measures=measures, evidence=where)
    onset = Onset(float(step[0]), float(step[0]), float(step[0])) if begin >= share else segments.began(curve)
    split = _split(run)
    said = (
        "; in the latest samples " + " and ".join(f"{percent(v)} of the groups are all at the {k}" for k, v in split.items() if v)
        if any(split.values())
        else ""
    )
    measures |= {f"samples_all_{k}": v for k, v in split.items()}
    said = (
        f"{text}: there is no gradient to learn from{said}." if begin >= share else f"{text}: little gradient is left to learn from{said}."
    )
    return present(said, onset, measures, where)


def _split(run: Run) -> dict[str, float]:
    """The shares of groups whose responses all earn the best and all earn the worst, in the latest fifth of the steps with samples."""
    table = measured(run)
    if not len(table) or not table["reward"].notna().any():
        return {}
    steps = np.unique(table["step"])
    last = groups(table[(table["step"] > steps[-1 - steps.size // 5]) | (table["step"] == steps[-1])])
    top, bottom = float(table["reward"].max()), float(table["reward"].min())
    return {"best": last["share_all_best"], "worst": last["share_all_worst"]} if last and top > bottom else {}


def _level(run: Run) -> float:
    """The mean reward of the latest measured samples; NaN without any."""
    table = measured(run)
    return float(table.loc[table["step"] == table["step"].max(), "reward"].mean()) if len(table) else float("nan")


def _of_samples(run: Run) -> Curve | None:
    """The share of groups without spread at each step with samples; None where they hold no groups."""
    import pandas as pd

    table = measured(run)
    share = flat_groups(table) if len(table) else pd.Series(dtype=np.float64)
    if not len(share):
        return None
    return Curve("rollouts", "group spread", "rollouts", share.index.to_numpy(np.float64), share.to_numpy(np.float64), mapped=True)
