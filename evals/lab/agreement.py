"""How far two sets of answers agree beyond chance, and where they do not: every disagreement is a label to look at."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer, read_answers, read_key

ASKED = ("verdict", "link", "call")
Answers = Mapping[tuple[str, float], Answer]


def agreement(one: Path, other: Path, key: Path | None = None, resamples: int = 500) -> dict[str, Any]:
    """What ``agree`` says of two files of answers; ``key`` is that of exported packs, where lines name tasks.

    Raises:
        ValueError: the files have no run and cut in common.

    """
    tasks = read_key(key) if key else None
    found = agree(read_answers(one, tasks), read_answers(other, tasks), resamples)
    if not found["n"]:
        raise ValueError(f"{one.name} and {other.name} answer no run at the same cut")
    return found


def agree(one: Answers, other: Answers, resamples: int = 500) -> dict[str, Any]:
    """``{n, kappa: {verdict, link, call}, intervals, agreed, disagreements}`` over what both answer; kappa None where undefined.

    Intervals are 95 percent, bootstrapped over runs.
    """
    both = sorted(one.keys() & other.keys())
    said = {what: [(getattr(one[k], what), getattr(other[k], what)) for k in both] for what in ASKED}
    samples = scoring.resamples([run for run, _ in both], resamples) if both else []
    return {
        "n": len(both),
        "kappa": {what: _known(_kappa(pairs, np.arange(len(both)))) for what, pairs in said.items()},
        "intervals": {what: [_known(v) for v in scoring.interval(partial(_kappa, pairs), samples)] for what, pairs in said.items()},
        "agreed": {what: sum(x == y for x, y in pairs) / len(both) if both else None for what, pairs in said.items()},
        "disagreements": [_pair(k, one[k], other[k]) for k in both if any(getattr(one[k], w) != getattr(other[k], w) for w in ASKED)],
    }


def kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Cohen's kappa: agreement of two readers beyond what their frequencies alone would give; NaN of none, or where both say one word.

    Source: Cohen (1960), A coefficient of agreement for nominal scales.
    """
    if not one:
        return float("nan")
    a, b = np.array(one), np.array(other)
    seen = float(np.mean(a == b))
    chance = float(sum(np.mean(a == word) * np.mean(b == word) for word in set(one) | set(other)))
    return (seen - chance) / (1 - chance) if chance < 1 else float("nan")


def _kappa(pairs: Sequence[tuple[str, str]], rows: scoring.Ints) -> float:
    return kappa([pairs[i][0] for i in rows], [pairs[i][1] for i in rows])


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _pair(about: tuple[str, float], one: Answer, other: Answer) -> Mapping[str, Any]:
    differing = {w: [getattr(one, w), getattr(other, w)] for w in ASKED if getattr(one, w) != getattr(other, w)}
    return {"run": about[0], "cut": about[1], **differing}
