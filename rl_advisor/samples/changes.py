"""What changed in the text since a run's first samples: every measure with its interval, its onset, and whether it is paid for."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import onset, pays, shift_or_none

_HELD = tomllib.loads(Path(__file__).with_name("measures.toml").read_text(encoding="utf-8"))
MEASURED = tuple(_HELD["measured"])
"""Columns of the measured table that are told of every step and compared."""
MEANINGS: dict[str, str] = {**_HELD["measured"], **_HELD["counted"]}
"""What is told of every step -> what it means."""


def changes(run: Run) -> dict[str, Any]:
    """``first`` and ``latest`` stretch of steps, and ``measures`` that changed by more than chance, the largest change first.

    Each with its 95 % interval (groups are the independent units), the step it set in, and how the reward follows it among responses to
    one prompt. Changes are ranked by their size over the measure's spread; empty for samples of a single step.
    """
    try:
        s = stretches(run)
    except TooFewPoints as few:
        return {"cannot_tell": str(few)}
    found = [change for name in ("reward", *MEASURED, "distinct", "new_words") if (change := _of(s, name)) is not None]
    found.sort(key=lambda c: -c.pop("weight"))
    first, latest = s.first["step"], s.latest["step"]
    return {
        "first": {"from": float(first.min()), "to": float(first.max()), "responses": len(s.first)},
        "latest": {"from": float(latest.min()), "to": float(latest.max()), "responses": len(s.latest)},
        "steps": [float(s.table["step"].min()), float(s.table["step"].max())],
        "measures": found,
    }


def _of(s: Stretches, name: str) -> dict[str, Any] | None:
    """One measure's change; None where it did not change by more than chance or cannot be compared."""
    change = shift_or_none(s, name)
    if change is None or not (change.up or change.down):
        return None
    values = np.concatenate([s.first[name].to_numpy(np.float64), s.latest[name].to_numpy(np.float64)])
    spread = float(np.nanstd(values))
    found: dict[str, Any] = {
        "measure": name,
        "first": change.first,
        "latest": change.latest,
        "change": change.delta,
        "interval": [change.low, change.high],
        "weight": abs(change.delta) / spread if spread > 0 else 0.0,
    }
    when = onset(s, name)
    if when is not None:
        found["onset"] = {"step": when.step, "low": when.low, "high": when.high}
    pay = pays(s, name) if name != "reward" else None
    if pay is not None:
        found["reward_follows"] = {"rank_correlation": pay.rho, "low": pay.low, "high": pay.high, "groups": pay.groups}
    return found
