"""Rows as experiment trackers keep them: one training step spread over many rows, each with the trainer's own step among its values."""

from collections.abc import Mapping, Sequence
from typing import Any

from rl_advisor.reading.parsing.columns import Row

AXES = ("train/global_step", "trainer/global_step", "training/global_step", "global_step", "training_step", "train/step", "step")
"""Names under which trainers log their own step, best first; the tracker's own count only numbers its rows."""
SETTINGS = ("config", "params", "hyperparameters", "settings", "args", "hparams", "metadata")
"""Names of objects that hold no measurements."""


def on_trainer_steps(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, given with the tracker's count, on the trainer's own steps where any row has one.

    A row without one (a profile, a table) belongs to the step that was logged last, before the first to step 0.
    """
    own = [next((values[axis] for axis in AXES if isinstance(values.get(axis), int | float)), None) for _, _, values in rows]
    if all(step is None for step in own):
        return list(rows)
    found: list[Row] = []
    last = 0.0
    for step, (_, time, values) in zip(own, rows, strict=True):
        last = last if step is None else float(step)
        found.append((last, time, values))
    return found


def flat(values: Mapping[str, Any], prefix: str = "", depth: int = 8) -> dict[str, Any]:
    """Return nested dicts as names with ``/``; lists, settings, tables, images and other typed objects are left out."""
    out: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            if "_type" not in value and depth and key not in SETTINGS:
                out |= flat(value, f"{prefix}{key}/", depth - 1)
        elif not isinstance(value, list):
            out[f"{prefix}{key}"] = value
    return out
