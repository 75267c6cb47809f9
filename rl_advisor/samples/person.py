"""A person's scores of single samples, as a filled audit sheet holds them, against the reward and each of its parts."""

import hashlib
from typing import Any

import numpy as np

from rl_advisor.run import Floats, Run
from rl_advisor.samples.rows import Frame, numbers, training
from rl_advisor.samples.text_change import wilson

HEAD = ["rl-advisor sample", "your score, more is better", "prompt", "response"]
"""The columns of a sheet."""
FEWEST, PARTS = 8, 4
"""Scored samples that tell anything; rewards are high in their highest part of so many, a judgement low in its lowest."""


def keyed(run: Run) -> Frame:
    """The rewarded training samples, each different one once, with the ``key`` that a sheet names it by."""
    rows = training(run)
    rows = rows[np.isfinite(rows["reward"].astype(float))] if len(rows) else rows.assign(reward=[])
    told = map(repr, zip(*(rows.get(c, ()) for c in ("step", "prompt", "response")), strict=True))
    # A name that tells nothing of where the sample stood, and that no spreadsheet takes for a number.
    keys = ["s" + hashlib.blake2b(one.encode(errors="replace"), digest_size=8).hexdigest() for one in told]
    return rows.assign(key=keys).drop_duplicates("key")


def scored(run: Run) -> Frame:
    """The samples that a person scored, with the ``score``."""
    rows = keyed(run)
    known = {key: score for key, score in run.scores.items() if np.isfinite(score)}
    return rows.assign(score=rows["key"].map(known).astype(np.float64)).dropna(subset=["score"])


def agreement(rows: Frame) -> dict[str, dict[str, Any]]:
    """Of the reward, and of each part where there are several, the share of pairs that it puts in the person's order, with its interval.

    The interval is that of as many pairs as share no sample. Left out is what too few samples tell.
    """
    parts = [c for c in map(str, rows) if c.startswith("reward/")]
    found = {}
    for name in ["reward", *(parts if len(parts) > 1 else ())]:
        value = numbers(rows, name)
        known = np.isfinite(value)
        told = same_order(value[known], rows["score"].to_numpy(np.float64)[known])
        if known.sum() >= FEWEST and told.size:
            share, pairs = float(told.mean()), told.size / (known.sum() - 1) / 2
            low, high = wilson(share * pairs, pairs)
            means = "it agrees" if low > 0.5 else "it runs against you" if high < 0.5 else "cannot be told from chance"
            found[name] = {"share": share, "low": low, "high": high, "means": means}
    return found


def same_order(one: Floats, other: Floats) -> np.ndarray:
    """Of each ordered pair that both tell apart, whether both order it alike."""
    signs = np.sign(np.subtract.outer(one, one)) * np.sign(np.subtract.outer(other, other))
    return np.asarray(signs[np.isfinite(signs) & (signs != 0)] > 0)
