"""Why episodes failed: every failed one gets a reason, and the run the share of each, with and without what the infrastructure lost.

Besides what the episodes of each step did, as metrics of the run like any other: turns, calls by tool, failures, and what was lost.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rl_advisor.features.bins import evenly
from rl_advisor.features.text.behaviour import behaviour, calls_by_tool, is_control, way
from rl_advisor.features.text.turns import Turn, spoken, turns_in, with_calls
from rl_advisor.output import Answer
from rl_advisor.run import Curve, Run
from rl_advisor.samples.failure_signs import UNKNOWN, Episode, Reason, is_bad, is_word, reason_of, told_in
from rl_advisor.samples.rows import Frame, of_samples, right_answers, right_or_wrong, spread, training, where
from rl_advisor.samples.same_answers import marks
from rl_advisor.samples.text_change import share_of, wilson

_NEITHER = 0.5
"""What a verdict is as a number that says neither right nor wrong."""
_NEARLY_ALL, _STATE, _SHORTEST = 0.8, 2_000, 200
"""Share of good responses whose marks are asked for, last characters that would hold a right answer, and tokens of an answer."""


INFRASTRUCTURE = "infrastructure"
MOST, _EACH = 2_000, 8
"""Episodes that are looked into in all, and fewest of a step."""
_STEPS = 12
"""Steps of which shares are listed, evenly spread."""

ROWS = 4_000
"""Episodes that are looked at in all, as many of each step."""
_LOOK, _FEWEST, _TOOLS = 64, 4, 5
"""Episodes by which a run is known to be one of several turns, fewest steps of a curve, and tools that get a curve of their own."""


_OUTCOMES = ("reward/", "eval/score/", "rollouts/reward")
_ALWAYS = ("episode/turns", "episode/tool_calls", "episode/tool_failures", "episode/errors", "episode/pretended")
"""Those that tell something where they are 0 throughout."""


@of_samples
def why_failed(run: Run) -> Answer:
    """How many of the looked-at episodes failed, and why; empty where none did.

    ``reasons`` (share of the failed with its interval, and the words of the surest one), their course ``by_step``, and the ``reward`` with
    and without what the infrastructure lost.
    """
    rows = looked_at(run)
    found = judged(rows) if len(rows) else rows
    if not len(found) or set(found["reason"]) == {UNKNOWN}:  # episodes of control say no words
        return {}
    reasons: dict[str, Answer] = {}
    for name, part in found.groupby("reason"):
        best = part.iloc[int(part["p"].to_numpy().argmax())]  # the episode that shows it best
        shown = {"quote": best["quote"], "where": best["where"], "p": round(float(best["p"]), 2)}
        reasons[str(name)] = {**share_of(len(part), len(found)), "shown": shown | where(best)}
    answer = {
        "episodes": len(rows),
        "failed": len(found),
        "reasons": dict(sorted(reasons.items(), key=lambda item: -item[1]["count"])),
        "by_step": _by_step(rows, found),
    }
    lost = np.zeros(len(rows), bool)
    lost[found.index[found["reason"] == INFRASTRUCTURE]] = True
    return {**answer, "reward": _without(rows, lost)} if lost.any() else answer


def looked_at(run: Run, most: int = MOST) -> Frame:
    """The training episodes that are looked into: those that say something, or whose end is told, as many of each step, so many in all."""
    rows = training(run)
    if not len(rows):
        return rows
    mute = rows[~rows["response"].astype(bool)]
    rows = rows.drop(index=mute.index[~_ends_told(mute)]) if len(mute) else rows
    return spread(rows, most // _EACH, max(_EACH, most // max(1, rows["step"].nunique())))


def _by_step(rows: Frame, found: Frame) -> list[Answer]:
    """Of evenly spread steps the share of failed episodes, and of all episodes each reason's."""
    counts = rows.groupby("step").size()
    at = evenly(len(counts), _STEPS)
    answer = []
    for step, n in counts.iloc[at].items():
        here = found.loc[found["step"] == step, "reason"].value_counts()
        answer.append({"step": float(str(step)), "episodes": int(n), **{str(k): round(int(c) / int(n), 4) for k, c in here.items()}})
    return answer


def _without(rows: Frame, lost: np.ndarray) -> Answer:
    """The mean reward as logged and without the episodes that the infrastructure lost, and what became of those."""
    reward = rows["reward"].to_numpy(np.float64)
    known = np.isfinite(reward)
    answer: Answer = {"lost": int(lost.sum()), "scored": int((lost & known).sum()), "dropped": int((lost & ~known).sum())}
    low, high = wilson(int(lost.sum()), len(rows))
    answer |= {"share_lost": float(lost.mean()), "low": low, "high": high}
    if (lost & known).any() and (~lost & known).any():
        answer |= {"as_logged": float(reward[known].mean()), "without": float(reward[known & ~lost].mean())}
        answer["lost_mean"] = float(reward[known & lost].mean())
        answer["baseline_shift"] = _shift(rows.assign(lost=lost)[known])
    if "advantage" in rows:
        used = np.abs(rows["advantage"].to_numpy(np.float64)) > 1e-9
        answer["trained_upon"] = int((lost & used).sum())
    return answer


def _shift(rows: Frame) -> float | None:
    """By how much lost episodes lower the mean of their groups, over groups that have others; None where no group has both."""
    by = [rows["step"], rows["group"]]
    mixed = rows["lost"].groupby(by).mean().between(0, 1, inclusive="neither")
    shift = rows["reward"].groupby(by).mean() - rows["reward"].mask(rows["lost"]).groupby(by).mean()
    return float(shift[mixed].mean()) if mixed.any() else None


def episode_turns(row: Any) -> tuple[Turn, ...]:
    """The turns of a row: those the file tells apart, else those its text holds."""
    turns = row.get("turns")
    if not isinstance(turns, tuple) or not turns:
        return turns_in(str(row.get("response", "")))
    return with_calls([turn for turn in turns if turn.text.strip() or turn.calls or turn.failed])


def turns_of(rows: Frame) -> list[tuple[Turn, ...]]:
    """The turns of every row."""
    return [episode_turns(row) for row in rows[rows.columns.intersection(["turns", "response"])].to_dict("records")]


def judged(rows: Frame) -> Frame:
    """The failed ones of the rows, with ``reason``, ``p`` (how sure), ``quote``, ``where`` and ``turn`` (the first that went wrong)."""
    import pandas as pd

    failed, paid = failures(rows)
    good = rows.loc[paid & ~failed, "response"].tolist()[:200]
    often = Counter(mark for text in good for mark in marks(spoken(text)))
    wanted = frozenset(mark for mark, n in often.items() if n >= max(4, _NEARLY_ALL * len(good)))
    gold = right_answers(rows) or [""] * len(rows)
    taken: Sequence[str | None] = right_answers(rows, "taken") or [None] * len(rows)
    found, records = [], rows.to_dict("records")
    for at in np.flatnonzero(failed).tolist():
        row = records[at]
        told = told_in((str(k), v) for k, v in row.items())
        turns = episode_turns(row)
        unsaid = row.get("length", 0) > _SHORTEST and not any(t.text.strip() or t.calls for t in turns)
        cut = row.get("truncated") == 1 or unsaid  # all that was spent went into what nobody sees
        found.append(reason_of(Episode(turns, told, gold[at], cut, paid[at], wanted, str(row.get("prompt", "")), taken[at])))
    return rows[failed].assign(**pd.DataFrame(found, rows.index[failed], Reason._fields))


def failures(rows: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Which rows failed, and which were paid: by a column that says so, else by full marks, else by the upper half of the rewards."""
    reward = rows["reward"].to_numpy(np.float64)
    known = reward[np.isfinite(reward)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    marked, full = _full_marks(known)
    paid = reward >= full if marked else reward > (0.0 if low == high or high > 0 > low + high else (low + high) / 2)
    right = right_or_wrong(rows)
    right = _verdicts(rows) if right is None and not known.size else right
    if right is None:
        gold = right_answers(rows) or [""] * len(rows)
        unlike = np.array(
            [bool(g) and g.lower() not in end for g, end in zip(gold, rows["response"].str[-_STATE:].str.lower(), strict=True)]
        )
        unlike &= _FEWEST * len({*gold}) > len(rows) or not unlike.all()  # few right answers that nobody gives are classes
        return np.where(np.isfinite(reward), ~paid, _ends_told(rows) | unlike), paid
    told = np.isfinite(right)
    graded, best = _full_marks(right[told])
    graded &= not np.isin(right[told], (0.0, _NEITHER, 1.0)).all()
    told &= graded | (right != _NEITHER)
    return np.where(told, right < (best if graded else _NEITHER), ~paid & (np.isfinite(reward) | (right != _NEITHER))), paid


def _full_marks(known: np.ndarray) -> tuple[bool, float]:
    """Whether marks lie between 0 and 1 and full ones are given: 1, or what several of the best got, and of all at least a tenth."""
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    top = int((known == high).sum())
    marked = low >= 0 and high <= 1 and (low == high or (top >= known.size / 10 and (top > 1 or high == 1)))
    return marked, (high if low < high else 1.0) - 1e-6


def _verdicts(rows: Frame) -> np.ndarray | None:
    """1 where the last that the environment says is that the episode succeeded, 0 where it failed, NaN without a word; None without any."""
    last = [next((t.text for t in reversed(turns) if t.role != "assistant"), "")[:_STATE] for turns in turns_of(rows)]
    said = np.array([1.0 if is_word("won", text) else 0.0 if is_word("lost", text) else np.nan for text in last])
    return said if np.isfinite(said).any() else None


def _ends_told(rows: Frame) -> np.ndarray:
    """Of which rows the file says in words that they ended badly."""
    names = [str(c) for c in rows.columns]
    return np.array([is_bad(told_in(zip(names, cells, strict=True))) for cells in zip(*(rows[c] for c in names), strict=True)], bool)


def with_episode_curves(run: Run) -> Run:
    """The run with the mean behaviour of its episodes at each step, where it has episodes of several turns and does not log it itself."""
    run = _with_reward(run)
    if not len(run.rollouts) or "response" not in run.rollouts or "episode/pretended" in run.curves:
        return run
    rows = looked_at(run, ROWS)
    looked = rows["response"].iloc[:: max(1, len(rows) // _LOOK)] if len(rows) else ()
    if not len(rows) or ("turns" not in rows and not any(len(turns_in(text)) > 1 for text in looked)):
        return run
    turns = turns_of(rows)
    if not any((len(t) > 1 or (t and t[0].calls)) and not is_control(t) for t in turns):
        return run
    table, failed = _measures(rows, turns), judged(rows)
    table["errors"] = table.index.isin(failed.index[failed["reason"] == INFRASTRUCTURE]).astype(np.float64)
    found = {f"episode/{name}": _curve(name, table[["step", name]].dropna()) for name in table.columns if name != "step"}
    told = {name: c for name, c in found.items() if c.step.size and (name in _ALWAYS or c.value.any())}
    return replace(run, curves={**told, **run.curves})


def _with_reward(run: Run) -> Run:
    """The run with the mean reward of its samples as a curve, where nothing else that it logged says how well it does."""
    rows = run.rollouts
    if run.outcome_guess is not None or not len(rows) or "reward" not in rows or any(n.startswith(_OUTCOMES) for n in run.curves):
        return run
    train = rows[rows["split"] != "eval"] if "split" in rows else rows
    known = train[["step", "reward"]].replace([np.inf, -np.inf], np.nan).dropna()
    if known["step"].nunique() < _FEWEST:
        return run
    curve = replace(_curve("reward", known), name="reward/mean")
    return replace(run, curves={**run.curves, curve.name: curve})


def _measures(rows: Frame, turns: list[Any]) -> Frame:
    """One row an episode: its behaviour, its calls by tool, and whether another one of its group took the same way."""
    import pandas as pd

    by_tool = {f"calls/{name[:60]}": used for name, used in calls_by_tool(turns, _TOOLS).items()}
    table = pd.DataFrame([behaviour(t) for t in turns]).assign(**by_tool, step=rows["step"].to_numpy(np.float64))
    taken = rows[["step", "group"]].assign(way=[way(t) for t in turns])
    size, same = (taken.groupby(of)["way"].transform("size").to_numpy() for of in (["step", "group"], ["step", "group", "way"]))
    return table.assign(alike=np.where(size > 1, same > 1, np.nan))


def _curve(name: str, rows: Frame) -> Curve:
    means = rows.groupby("step")[name].mean()
    step, value = means.index.to_numpy(np.float64), means.to_numpy(np.float64)
    return Curve(f"episode/{name}", f"samples/{name}", "samples", step, value, mapped=True, note="measured in the samples")
