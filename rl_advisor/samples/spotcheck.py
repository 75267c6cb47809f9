"""What the model actually says: the samples worth reading, and the text statistics of every step."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.text.measures import distinct_share
from rl_advisor.features.text.telling_words import telling_words
from rl_advisor.run import Run
from rl_advisor.samples.changes import MEANINGS, MEASURED
from rl_advisor.samples.excerpts import shown
from rl_advisor.samples.measured_text import measured, stretches
from rl_advisor.samples.reward_check import single_answer
from rl_advisor.samples.rows import training, written

if TYPE_CHECKING:
    import pandas as pd


def triad(run: Run, step: int | None = None, count: int = 3, seed: int = 0) -> dict[str, Any]:
    """The samples to read, each with its provenance.

    ``highest`` and ``lowest`` reward (of the step, else of the whole run), ``random`` of the latest step, ``longest``, ``newest_failures``,
    ``contrast`` (pairs of one group), ``contradicting`` (different answers to one prompt, both paid most) and ``early_late`` (pairs of one
    prompt). The same samples for the same run, step and seed. ``step`` takes the nearest earlier step that has samples. Raises ValueError
    for a step before the first sample or a count below 1.
    """
    if count < 1:
        raise ValueError(f"count must be 1 or more, not {count}")
    rows = _readable(run)
    if not len(rows):
        return {
            "step": None,
            "highest": [],
            "lowest": [],
            "random": [],
            "gaps": [{"where": "rollouts", "why": "no responses with text were found"}],
        }
    latest = _step(rows, step)
    here, pool = rows[rows["step"] == latest], rows[rows["step"] == latest] if step is not None else rows
    rewarded = pool[np.isfinite(pool["reward"])].sort_values(["reward", "step"], ascending=[False, False], kind="stable")
    drawn = here[here["sampled"].astype(bool)] if "sampled" in here else here
    picked = drawn.iloc[np.sort(np.random.default_rng(seed).permutation(len(drawn))[:count])]
    lowest = rewarded.sort_values(["reward", "step"], ascending=[True, False], kind="stable")
    return {
        "step": latest,
        "highest": _show(_varied(rewarded, count)),
        "lowest": _show(_varied(lowest, count)),
        "random": _show(picked),
        "longest": _show(here.loc[here["response"].str.len().sort_values(ascending=False, kind="stable").index[:1]]),
        "newest_failures": _show(_failures(rows[rows["step"] <= latest], count)),
        "contrast": _contrast(here, count),
        "contradicting": _contradicting(here, count, _nothing(rows["reward"])),
        "early_late": _early_late(rows[rows["step"] <= latest], count),
        "gaps": _unshown(rows, rewarded),
    }


def _unshown(rows: pd.DataFrame, rewarded: pd.DataFrame) -> list[dict[str, str]]:
    """What could not be picked, and why."""
    gaps = [] if len(rewarded) else ["no response has a reward, so none can be called highest or lowest"]
    known = rows["prompt"].astype(bool).any()
    seen = rows.groupby("prompt")["step"].agg(["min", "max"])
    if rows["step"].min() < rows["step"].max() and not (known and (seen["min"] < seen["max"]).any()):
        gaps.append(
            "no prompt comes back at a later step" if known else "no prompts are logged, so early and late answers cannot be paired"
        )
    return [{"where": "rollouts", "why": why} for why in gaps]


def statistics(run: Run) -> dict[str, Any]:
    """Text statistics of every measured step, what each means, and the words that tell high from low reward and late from early apart."""
    table = measured(run)
    if not len(table):
        return {"steps": [], "meaning": {}, "words": {}}
    steps = [_of_step(step, part) for step, part in table.groupby("step")]
    told = {k for s in steps for k in s}
    whole = {name: {"step": c.step.tolist(), "value": c.value.tolist()} for name, c in run.family("rollouts/").items()}
    answer = {"steps": steps, "meaning": {k: v for k, v in MEANINGS.items() if k in told}, "words": _words(run)}
    return {**answer, "of_all_responses": whole} if whole else answer


def _readable(run: Run) -> pd.DataFrame:
    rows = training(run)
    rows = rows if len(rows) else written(run.rollouts)
    return rows[rows["response"].astype(bool)].reset_index(drop=True) if len(rows) else rows


def _step(rows: pd.DataFrame, asked: float | None) -> float:
    steps = np.unique(rows["step"])
    known = steps if asked is None else steps[steps <= asked]
    if not known.size:
        raise ValueError(f"no samples at or before step {asked}; the first are of step {steps[0]:g}, the last of step {steps[-1]:g}")
    return float(known[-1])


def _show(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [shown(row) for _, row in rows.iterrows()]


def _varied(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """The first rows, those that repeat an earlier text last; of equally rewarded ones those that repeat an earlier prompt after others."""
    import pandas as pd

    head = rows.head(count * 50)
    again = head.duplicated("response").to_numpy()
    asked = head.groupby(["reward", "group"], sort=False).cumcount().to_numpy()
    level = pd.factorize(head["reward"])[0]
    return head.iloc[np.lexsort((asked, level, again))].head(count)


def _failures(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """The latest responses whose reward is the lowest of their group while the group had a better one."""
    by = rows.groupby(["step", "group"])["reward"]
    failed = rows[(rows["reward"] == by.transform("min")) & (rows["reward"] < by.transform("max"))]
    return _varied(failed.sort_values("step", ascending=False, kind="stable"), count)


def _contrast(rows: pd.DataFrame, count: int) -> list[dict[str, Any]]:
    """Best and worst rated response of the groups with the widest spread: the same prompt, different rewards."""
    rows = rows.dropna(subset=["reward"])  # NaN sorts last and would pass for the best
    spread = rows.groupby("group")["reward"].agg(lambda r: r.max() - r.min()).dropna()
    groups = spread[spread > 0].sort_values(ascending=False, kind="stable").index[:count]
    parts = [rows[rows["group"] == g].sort_values("reward", kind="stable") for g in groups]
    return [{"better": shown(p.iloc[-1]), "worse": shown(p.iloc[0])} for p in parts]


def _nothing(reward: pd.Series) -> float:
    """The reward of a response that earned nothing: the lowest of the run, or 0 when all are the same."""
    low, high = float(reward.min()), float(reward.max())
    return low if high > low else 0.0


def _contradicting(rows: pd.DataFrame, count: int, nothing: float) -> list[dict[str, Any]]:
    """Two responses to one prompt that earn the most, and more than ``nothing``, and end in different numbers or letters."""
    best = rows[(rows["reward"] >= rows["reward"].max() - 1e-9) & (rows["reward"] > nothing + 1e-9)]
    answers = best["response"].map(single_answer)
    pairs = []
    for _, part in answers[answers != ""].groupby(best["group"]):
        other = part[part != part.iloc[0]]
        if len(other):
            pairs.append({"one": shown(best.loc[part.index[0]]), "other": shown(best.loc[other.index[0]])})
    return pairs[:count]


def _early_late(rows: pd.DataFrame, count: int) -> list[dict[str, Any]]:
    """First and latest response to prompts that come back, those furthest apart first."""
    if "prompt" not in rows or not rows["prompt"].str.len().any():
        return []
    seen = rows.groupby("prompt")["step"].agg(["min", "max"])
    apart = (seen["max"] - seen["min"]).sort_values(ascending=False, kind="stable")
    pairs = [rows[rows["prompt"] == p].sort_values("step", kind="stable") for p in apart[apart > 0].index[:count]]
    return [{"early": shown(p.iloc[0]), "late": shown(p.iloc[-1])} for p in pairs]


def _of_step(step: object, part: pd.DataFrame) -> dict[str, Any]:
    means = {k: float(part[k].astype(np.float64).mean()) for k in ("reward", *MEASURED) if k in part and part[k].notna().any()}
    groups = [distinct_share(g["response"].tolist()) for _, g in part.groupby("group") if len(g) > 1]
    firsts = part.groupby("group")["response"].first().tolist()
    found = {"step": float(str(step)), "responses": len(part), **means, **_lengths(part)}
    if groups:
        found["distinct_in_group"] = float(np.mean(groups))
    if len(firsts) > 1:
        found["distinct_across"] = distinct_share(firsts)
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in found.items()}


def _lengths(part: pd.DataFrame) -> dict[str, float]:
    """Length of the best and worst rewarded tenth, and of right and wrong responses where the reward has two values."""
    rated = part[np.isfinite(part["reward"])].sort_values("reward", kind="stable")
    values = np.unique(rated["reward"])
    if values.size < 2:
        return {}
    tenth = max(1, len(rated) // 10)
    found = {"tokens_high_reward": rated["tokens"].tail(tenth).mean(), "tokens_low_reward": rated["tokens"].head(tenth).mean()}
    if values.size == 2:
        right = rated["reward"] == values[1]
        found |= {"tokens_right": rated.loc[right, "tokens"].mean(), "tokens_wrong": rated.loc[~right, "tokens"].mean()}
    return {k: float(v) for k, v in found.items()}


def _words(run: Run) -> dict[str, Any]:
    """Words whose use tells apart: late from early samples, and high from low reward among responses to one prompt."""
    table = measured(run)
    centred = table["reward"] - table.groupby("cluster")["reward"].transform("mean")
    pairs = {"high_against_low_reward": (table.loc[centred < 0, "response"], table.loc[centred > 0, "response"])}
    with suppress(TooFewPoints):
        s = stretches(run)
        pairs = {"late_against_early": (s.first["response"], s.latest["response"]), **pairs}
    found: dict[str, Any] = {}
    for name, (before, after) in pairs.items():
        with suppress(TooFewPoints):
            found[name] = _both_ends(telling_words(before.tolist(), after.tolist()))
    return found


def _both_ends(ranked: list[Any], most: int = 8, least_z: float = 3.0) -> dict[str, Any]:
    more = [w for w in ranked[:most] if w.z >= least_z]
    less = [w for w in ranked[::-1][:most] if w.z <= -least_z]
    return {"more": [_word(w) for w in more], "less": [_word(w) for w in less]}


def _word(word: Any) -> dict[str, Any]:
    return {
        "word": word.word[:40],
        "z": round(word.z, 1),
        "share_before": round(word.share_first, 4),
        "share_after": round(word.share_second, 4),
    }
