"""What a run costs: GPUs, hours, GPU hours burnt after the break and up to the planned end, as far as times and GPUs are logged."""

from typing import Any

from rl_advisor.gpu.steps import seconds_a_step
from rl_advisor.run import Run
from rl_advisor.settings.given import settings_of

MOST_GPUS = 1_000_000


def cost(run: Run, broke_at: float | None) -> dict[str, Any]:
    """``gpus``, ``hours`` so far, ``hours_after_break``, ``hours_left`` to the planned end, all in GPU hours too; None where not logged."""
    count, pace, last = gpus(run), seconds_a_step(run), run.last_step
    steps = {
        "hours": last - run.first_step,
        "hours_after_break": None if broke_at is None else last - broke_at,
        "hours_left": run.planned_steps - last if run.planned_steps else None,
    }
    hours = {name: None if n is None or pace is None else pace * max(0.0, n) / 3600 for name, n in steps.items()}
    return {"gpus": count, **hours, **{f"gpu_{name}": None if h is None or not count else h * count for name, h in hours.items()}}


def gpus(run: Run) -> int | None:
    """How many GPUs the run has: those in the telemetry, or what the settings say; None where neither tells."""
    if len(run.telemetry):
        return int(run.telemetry["gpu"].nunique())
    settings = settings_of(run)
    known = (settings.number(key) or 0.0 for key in ("num_gpus", "world_size", "n_gpus", "num_processes"))
    each, nodes = settings.number("n_gpus_per_node") or 0.0, settings.number("nnodes") or 1.0
    count = next((n for n in known if n > 0), each * nodes)
    return int(count) if 0 < count < MOST_GPUS else None
