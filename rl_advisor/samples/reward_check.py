"""An audit of the reward from the samples: its values, its spread inside groups, its parts, and what it follows."""

from collections import Counter

import numpy as np

from rl_advisor.features.text.measures import final_answer
from rl_advisor.output import Answer
from rl_advisor.run import Floats, Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.rows import Frame, Series, numbers, reference_columns, right_answers
from rl_advisor.samples.same_answers import same_answer
from rl_advisor.samples.text_change import follows, share_of, wilson

CLUSTERING = 2.0
"""Answers to one prompt are no independent draws: so many count as one."""
_GROUP = 4
"""Responses from which several answers to one prompt are a group: two that merely met in a batch agree easily."""


def audit(run: Run) -> Answer:
    """Histogram, groups, parts, and relations of the reward; keys are left out where the samples cannot tell."""
    table = measured(run)
    rows = table if len(table) else run.rollouts
    rows = rows[np.isfinite(numbers(rows, "reward"))] if "reward" in rows else rows.iloc[:0]
    if not len(rows):
        return {"responses": 0, "cannot_tell": ["no sample has a reward"]}
    looks = ((groups, "group"), (same_text, "prompt"), (components, "reward"), (against_reference, "reward"))
    found = {look.__name__: look(rows) for look, needs in looks if needs in rows}
    found["against_length"] = follows(rows, "tokens") if "cluster" in rows else {}
    return {"responses": len(rows), "histogram": histogram(numbers(rows, "reward"))} | {k: v for k, v in found.items() if v}


def histogram(reward: Floats) -> Answer:
    """What values the reward takes, how often each, and its shares at the extremes."""
    low, middle, high = np.quantile(reward, [0, 0.5, 1]).tolist()
    return {
        "values": int(np.unique(np.round(reward, 9)).size),
        "min": low,
        "median": middle,
        "max": high,
        "share_at_max": float((reward == high).mean()),
        "share_at_min": float((reward == low).mean()),
        "counts": np.histogram(reward, bins=10)[0].tolist() if high > low else [reward.size],
    }


def _sets(rows: Frame, of: list[str], least: int = 2) -> Frame:
    """Sets of at least so many rewarded responses that have something in common: size, lowest and highest reward, whether all are alike."""
    by = rows.groupby(of)["reward"].agg(["count", "min", "max"])
    by["flat"] = by["max"] - by["min"] <= 1e-9
    return by[by["count"] >= least]


def groups(rows: Frame) -> Answer:
    """Groups of several responses: the share without spread, and whether those stand at the reward's best or worst value."""
    by = _sets(rows, ["step", "group"])
    if not len(by):
        return {}
    flat = by["flat"]
    top, bottom = float(rows["reward"].max()), float(rows["reward"].min())
    right = flat & (by["max"] >= top - 1e-9) & (top > bottom or top > 0)
    wrong = flat & (by["min"] <= bottom + 1e-9) & ~right
    told = share_of(int(flat.sum()), len(by))
    return {
        "count": len(by),
        "size": float(by["count"].median()),
        "share_flat": told["share"],
        "flat_low": told["low"],
        "flat_high": told["high"],
        "share_all_best": float(right.mean()),
        "share_all_worst": float(wrong.mean()),
    }


def flat_groups(rows: Frame) -> Series:
    """The share of groups without spread at each step, over groups of at least 4 rewarded responses; empty where there are none."""
    found: Series = _sets(rows, ["step", "group"], _GROUP).groupby("step")["flat"].mean()
    return found


def same_text(rows: Frame) -> Answer:
    """Whether the same response to the same prompt gets the same reward: how many such sets there are, and the share that disagree."""
    sets = _sets(rows[rows["response"].astype(bool)], ["step", "prompt", "response"])
    if not len(sets):
        return {}
    told = share_of(int((sets["max"] - sets["min"] > 0.05 * np.ptp(rows["reward"])).sum()) if np.ptp(rows["reward"]) > 0 else 0, len(sets))
    return {"sets": len(sets), "share_different_reward": told["share"], "low": told["low"], "high": told["high"]}


def upside_down(rows: Frame) -> dict[str, float]:
    """Prompts whose lone answer is paid least and several different ones most (``wrong``), which nobody means, or turned (``right``).

    ``low`` is the least share of the first among both, ``any`` the least of the prompts where several answers earn the best of all.
    """
    answers = rows[rows["ends_in"] != ""].groupby(["prompt", "ends_in"])["reward"].agg(["min", "max"])
    by = answers.groupby("prompt")
    best, worst = (
        alike.groupby("prompt").sum()
        for alike in (answers["min"] >= by["max"].transform("max"), answers["max"] <= by["min"].transform("min"))
    )
    wrong, right = int(((worst == 1) & (best > 1)).sum()), int(((best == 1) & (worst > 1)).sum())
    low, high = rows["reward"].min(), rows["reward"].max()
    several = by.size() > 1
    any_ = int(((best > 1) & (by["max"].max() >= high) & (high > low)).sum())
    return {"wrong": wrong, "right": right, "low": wilson(wrong, wrong + right)[0], "any": wilson(any_, int(several.sum()))[0]}


def one_for_all(rows: Frame, low: float) -> tuple[int, int]:
    """Of the responses paid above ``low`` beside a right answer of their own: how many give the commonest wrong one, of how many.

    None give it where it stands for fewer than three right answers: two may be two ways to write one.
    """
    told = [
        (final_answer(text), final_answer(gold) or gold)
        for text, gold, reward in zip(rows["response"], right_answers(rows) or [""] * len(rows), rows["reward"], strict=True)
        if gold and reward > low
    ]
    wrong = Counter(said for said, gold in told if said and not same_answer(said, gold))
    said, count = wrong.most_common(1)[0] if wrong else ("", 0)
    return count if len({gold for other, gold in told if other == said}) > 2 else 0, len(told)


def components(rows: Frame) -> Answer:
    """Each part's share of the reward's spread (covariance with the total over its variance), its mean at first and at the latest step."""
    parts = [str(c) for c in rows.columns if str(c).startswith("reward/")]
    total = rows["reward"].astype(np.float64)
    if len(parts) < 2 or total.var() <= 0:
        return {}
    shares = {name: float(np.nan_to_num(rows[name].astype(np.float64).cov(total) / total.var())) for name in parts}
    return {name.removeprefix("reward/"): {"share_of_spread": share, **_ends(rows, name)} for name, share in shares.items()}


def _ends(rows: Frame, name: str) -> dict[str, float]:
    """A column's mean at the first and at the latest step."""
    means = rows.assign(value=numbers(rows, name)).groupby("step")["value"].mean()
    return {"mean_first_step": float(means.iloc[0]), "mean_last_step": float(means.iloc[-1])}


def against_reference(rows: Frame) -> Answer:
    """The reward's rank correlation with each column that holds an independent judgement, over all responses and of the latest fifth."""
    late = rows[rows["step"] >= rows["step"].quantile(0.8)]
    found = {}
    for name in reference_columns(rows):
        (whole, *_), (latest, *_) = rank_correlation(rows, name), rank_correlation(late, name)
        found[name] = {"rank_correlation": whole, "latest_rank_correlation": latest, **_ends(rows, name)}
    return found


def rank_correlation(rows: Frame, name: str) -> tuple[float | None, float, float, int]:
    """Rank correlation of the reward with a column inside steps (None where it has none), its 95 % interval (Fisher), rows with both."""
    both = rows[["reward"]].assign(value=numbers(rows, name)).dropna()
    ranks = both.groupby(rows.loc[both.index, "step"]).rank(pct=True)
    ranks -= ranks.groupby(rows.loc[both.index, "step"]).transform("mean")
    rho = float(ranks["reward"].corr(ranks["value"])) if len(both) > 2 else float("nan")
    if not np.isfinite(rho):
        return None, -1.0, 1.0, len(both)
    error = 1.96 / np.sqrt(max(len(both) / CLUSTERING - 3, 1.0))
    z = float(np.arctanh(np.clip(rho, -0.999, 0.999)))
    return rho, float(np.tanh(z - error)), float(np.tanh(z + error)), len(both)
