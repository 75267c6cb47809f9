"""What the episodes of each step did, as metrics of the run like any other: turns, calls by tool, failures, and what was lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features.text.behaviour import behaviour, calls_by_tool, is_control, way
from rl_advisor.run import Curve, Run

if TYPE_CHECKING:
    import pandas as pd

ROWS = 4_000
"""Episodes that are looked at in all, as many of each step."""
_LOOK, _FEWEST, _TOOLS = 64, 4, 5
"""Episodes by which a run is known to be one of several turns, fewest steps of a curve, and tools that get a curve of their own."""


_OUTCOMES = ("reward/", "eval/score/", "rollouts/reward")
_ALWAYS = ("episode/turns", "episode/tool_calls", "episode/tool_failures", "episode/errors", "episode/pretended")
"""Those that tell something where they are 0 throughout."""


def with_episode_curves(run: Run) -> Run:
    """The run with the mean behaviour of its episodes at each step, where it has episodes of several turns and does not log it itself."""
    run = _with_reward(run)
    if not len(run.rollouts) or "response" not in run.rollouts or "episode/pretended" in run.curves:
        return run
    from rl_advisor.samples.episodes import INFRASTRUCTURE, judged, looked_at, turns_of

    rows = looked_at(run, ROWS)
    if not len(rows) or ("turns" not in rows and not any(map(_has_turns, rows["response"].iloc[:: max(1, len(rows) // _LOOK)]))):
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


def _has_turns(text: object) -> bool:
    return isinstance(text, str) and (
        "<tool_" in text or "Observation" in text or "<information>" in text or text.startswith("[assistant]")
    )


def _measures(rows: pd.DataFrame, turns: list[Any]) -> pd.DataFrame:
    """One row an episode: its behaviour, its calls by tool, and whether another one of its group took the same way."""
    import pandas as pd

    by_tool = {f"calls/{name[:60]}": used for name, used in calls_by_tool(turns, _TOOLS).items()}
    table = pd.DataFrame([behaviour(t) for t in turns]).assign(**by_tool, step=rows["step"].to_numpy(np.float64))
    taken = rows[["step", "group"]].assign(way=[way(t) for t in turns])
    size, same = (taken.groupby(of)["way"].transform("size").to_numpy() for of in (["step", "group"], ["step", "group", "way"]))
    return table.assign(alike=np.where(size > 1, same > 1, np.nan))


def _curve(name: str, rows: pd.DataFrame) -> Curve:
    means = rows.groupby("step")[name].mean()
    step, value = means.index.to_numpy(np.float64), means.to_numpy(np.float64)
    return Curve(f"episode/{name}", f"samples/{name}", "samples", step, value, mapped=True, note="measured in the samples")
