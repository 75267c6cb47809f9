"""Runs or seeds side by side: how each went, what they say together, and which settings differ.

Aggregates are the interquartile mean with a bootstrap over runs, after Agarwal et al. 2021 (arXiv 2108.13264); with three runs
or fewer the answer says that they are too few.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.verdict import judge
from rl_advisor.run import Floats, Run

FEWEST = 4
"""Runs below which no aggregate is worth its interval."""


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """How each run went, their interquartile mean at the end and at the best, pairs that differ, settings that differ.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} run given, a comparison needs at least two")
    cases = [open_case(run) for run in runs]
    curves = {case.outcome.name for case in cases if case.outcome is not None}
    notes = [] if len(curves) <= 1 else [f"the runs are judged by different curves ({', '.join(sorted(curves))}): levels do not compare"]
    if len(runs) < FEWEST:
        notes.append(f"{len(runs)} runs are too few to tell luck from effect: at least {FEWEST}, better ten, seeds of each are needed")
    return {
        "runs": [_row(case) for case in cases],
        "together": {"last": _aggregate(cases, "last"), "best": _aggregate(cases, "best")} if len(curves) == 1 else None,
        "pairs": _pairs(cases) if len(curves) == 1 else [],
        "settings_that_differ": differing(runs),
        "notes": notes,
    }


def _row(case: Case) -> dict[str, Any]:
    judged, s = judge(case), case.outcome
    row: dict[str, Any] = {"run": case.run.name, "steps": case.step, "verdict": judged.verdict, "outcome": s.name if s else None}
    link = judged.cause.link.value if judged.cause else (judged.link.value if judged.link else "none")
    shape = {"start": s.start, "best": s.best, "best_step": s.best_step, "last": s.last, "noise": s.noise} if s else {}
    return row | {"first_broken_link": link} | shape


def _aggregate(cases: Sequence[Case], field: str) -> dict[str, float] | None:
    """Interquartile mean of a field over the runs with a 95 % bootstrap interval."""
    values = np.array([getattr(case.outcome, field) for case in cases if case.outcome is not None])
    if values.size < 2:
        return None
    draws = np.random.default_rng(0).choice(values, (2000, values.size))
    low, high = np.quantile(interquartile_mean(draws), [0.025, 0.975])
    return {"iqm": float(interquartile_mean(values[None])[0]), "low": float(low), "high": float(high), "runs": float(values.size)}


def interquartile_mean(values: Floats) -> Floats:
    """Mean of the middle half of each row; ``values`` is draws x runs. A quarter of the runs is cut off at each end, rounded down."""
    cut = values.shape[1] // 4
    middle = np.sort(values, axis=1)[:, cut : values.shape[1] - cut]
    return np.asarray(middle.mean(axis=1), dtype=np.float64)


def _pairs(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """For each pair the difference of the last levels against the noise inside the two runs."""
    out = []
    for i, a in enumerate(cases):
        for b in cases[i + 1 :]:
            if a.outcome is None or b.outcome is None:
                continue
            gap = b.outcome.last - a.outcome.last
            noise = float(np.hypot(a.outcome.noise, b.outcome.noise)) / np.sqrt(3)
            out.append(
                {"a": a.run.name, "b": b.run.name, "b_minus_a": gap, "within_run_noise": noise, "beyond_noise": bool(abs(gap) > 2 * noise)}
            )
    return out


def differing(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Settings in our words, and configuration keys that not all runs share with one value; a list a key, in the order of the runs."""
    found = {}
    for source in ("settings", "config"):
        tables = [getattr(run, source) for run in runs]
        for key in sorted(set().union(*tables)):
            values = [table.get(key) for table in tables]
            if len({repr(v) for v in values}) > 1 and key not in found:
                found[key] = values
    return found
