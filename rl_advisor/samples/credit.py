"""Who gets the credit inside episodes: where failure became certain, what single turns are paid and trained for, by which policy.

Everything is told from what stands beside the turns; what does not stand there is named with what to log.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import zip_longest

import numpy as np

from rl_advisor.features.text.behaviour import is_error
from rl_advisor.features.text.turns import TURN_NUMBERS, Turn
from rl_advisor.output import Answer
from rl_advisor.run import Run
from rl_advisor.samples.episodes import failures, looked_at, turns_of
from rl_advisor.samples.rows import Frame, Series, columns, numbers
from rl_advisor.samples.text_change import share_of

_TO_LOG = {
    "trained": "a loss mask per turn or token",
    "version": "the policy version that wrote each turn",
    "reward": "a reward per turn",
    "logprob": "the sampling log-probabilities",
}
_SURE, _MOST = 8, 200
"""Calls of a kind that are compared, and turns that are looked at."""


def credit(run: Run) -> Answer:
    """``certain`` (the turn from which failure was certain), ``paid_errors``, ``masks``, ``versions``, ``logprobs`` and ``cannot_tell``.

    Empty where no episode has several turns.
    """
    rows = looked_at(run)
    if not len(rows):
        return {}
    turns = [some[:_MOST] for some in turns_of(rows)]
    if not any(len(some) > 2 for some in turns):
        return {}
    failed, _ = failures(rows)
    table = _table(turns)
    mixed = (rows.assign(failed=failed).groupby(["step", "group"])["failed"].nunique() > 1).any()
    parts = {
        "certain": _certain(rows, turns, failed),
        "paid_errors": _paid_errors(table),
        "masks": _masks(table),
        "versions": _versions(table),
        "logprobs": _logprobs(table["logprob"].dropna()),
        "upside_down": _upside_down(rows),
        "ages": _ages(rows),
        "cannot_tell": [
            *([] if mixed else ["where failure became certain: log several attempts at each prompt, good ones and bad ones"]),
            *(f"{name} of turns: log {what}" for name, what in _TO_LOG.items() if not table[name].notna().any()),
        ],
    }
    return {name: part for name, part in parts.items() if part}


def _table(turns: Sequence[Sequence[Turn]]) -> Frame:
    """One row a turn: its episode, whether the model spoke, whether its call failed (NaN without an answered call), and its numbers."""
    import pandas as pd

    rows = [
        {"episode": i, "own": turn.role == "assistant", **turn.numbers}
        | ({"call_failed": is_error(after)} if turn.calls and after is not None and after.role == "tool" else {})
        for i, some in enumerate(turns)
        for turn, after in zip_longest(some, some[1:])
    ]
    return pd.DataFrame(rows, columns=["episode", "own", "call_failed", *TURN_NUMBERS])


def _ages(rows: Frame) -> dict[str, float]:
    """How many versions behind the newest of its step the oldest episode was written, first and lately, where a column tells versions."""
    for name in columns(rows, "policy_version")[:1]:
        span = rows.assign(version=numbers(rows, name)).groupby("step")["version"].agg(np.ptp).dropna()
        if len(span) > 2 and span.any():
            third = max(1, len(span) // 3)
            return {"first": float(span.head(third).mean()), "latest": float(span.tail(third).mean()), "widest": float(span.max())}
    return {}


def first_certain(
    moves: Sequence[Sequence[Hashable]], failed: Sequence[bool], group: Sequence[Hashable], chance: float = 0.05
) -> list[int | None]:
    """Of each failed attempt the turn (from 1) from which failure was certain: a move, or a way to it, after which no attempt succeeded.

    None for a good attempt, where every attempt at the prompt failed (then no turn made the difference), and where so many failures of
    those who went that way are likelier than ``chance``, given how often their prompts were solved.
    """
    ways = [[{move, (g, tuple(some[: k + 1]))} for k, move in enumerate(some)] for some, g in zip(moves, group, strict=True)]
    tries, losses = Counter(group), Counter(g for g, bad in zip(group, failed, strict=True) if bad)
    luck: dict[Hashable, float] = defaultdict(float)
    for some, g, bad in zip(ways, group, failed, strict=True):
        for way in set().union(*some):
            luck[way] += np.log(losses[g] / tries[g]) if bad else np.inf
    dead = {way for way, much in luck.items() if much <= np.log(chance)}
    return [next((k for k, way in enumerate(some, 1) if way & dead), None) if bad else None for some, bad in zip(ways, failed, strict=True)]


def _certain(rows: Frame, turns: Sequence[Sequence[Turn]], failed: np.ndarray) -> Answer:
    """Over the failed episodes with a good attempt at the same prompt: the usual turn of certainty, and the earliest common one."""
    # What the model did turn by turn: its calls, else its words.
    moves = [[turn.calls or " ".join(turn.text.lower().split()) for turn in some if turn.role == "assistant"] for some in turns]
    group = list(zip(rows["step"], rows["group"], strict=True))
    at = {i: k for i, k in enumerate(first_certain(moves, failed.tolist(), group)) if k is not None}
    if not at:
        return {}
    left = [1 - k / len(moves[i]) for i, k in at.items()]
    return {"episodes": len(at), "turn": float(np.median([*at.values()])), "left": float(np.mean(left))}


def _paid_errors(table: Frame) -> dict[str, float]:
    """Calls that failed and calls that did not: what each was paid or given as advantage, where turns have either."""
    for name in ("advantage", "reward"):
        bad, fine = (table.loc[table["call_failed"].eq(failed), name].dropna() for failed in (True, False))
        if min(len(bad), len(fine)) >= _SURE:
            told = share_of(int((bad > 0).sum()), len(bad))
            shares = {"failed_calls": len(bad), "share_positive": told["share"], "low": told["low"], "high": told["high"]}
            return {**shares, f"mean_{name}_failed": float(bad.mean()), f"mean_{name}_fine": float(fine.mean())}
    return {}


def _masks(table: Frame) -> dict[str, float]:
    """Turns of tools and users whose tokens stand in the loss, and turns of the model that do not."""
    own, others = (table.loc[table["own"] == mine, "trained"].dropna() > 0 for mine in (True, False))
    found = {"others_trained_upon": float(others.mean()), "of_others": len(others)} if len(others) else {}
    return found | ({"own_left_out": 1 - float(own.mean()), "of_own": len(own)} if len(own) else {})


def _versions(table: Frame) -> dict[str, float]:
    """How many episodes were written by more than one policy version, and how far apart those are at most."""
    span = table.dropna(subset=["version"]).groupby("episode")["version"].agg(np.ptp)
    return {"episodes": len(span), "share_mixed": float((span > 0).mean()), "widest": float(span.max())} if len(span) else {}


def _logprobs(value: Series) -> dict[str, float]:
    """Log-probabilities that cannot be: above 0, or exactly 0 over a whole turn of several tokens."""
    return (
        {"turns": len(value), "above_zero": float((value > 1e-6).mean()), "exactly_zero": float((value == 0).mean())} if len(value) else {}
    )


def _upside_down(rows: Frame) -> dict[str, float]:
    """Episodes whose advantage and whose reward stand on different sides of their group's mean."""
    if "advantage" not in rows:
        return {}
    known = rows[np.isfinite(rows["advantage"]) & np.isfinite(rows["reward"])]
    above = known["reward"] - known.groupby(["step", "group"])["reward"].transform("mean")
    off = (np.sign(above) * np.sign(known["advantage"]))[above.abs() > 1e-9]
    share = float((off < 0).mean()) if len(off) >= _SURE else 0.0
    return {"episodes": len(off), "share": share} if share else {}
