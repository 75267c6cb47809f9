"""What a profile of the GPUs comes to, in a sentence or two: whether they stand idle, what for, and what to do; the figures come after."""

from collections.abc import Mapping
from typing import Any

from rl_advisor.output.wording import percent

IDLE, MUCH = 0.15, 0.6
"""Share of a step that is worth a sentence, and share of one phase from which it is the bottleneck."""
NOTHING = "Nothing to read: there are no GPU readings and no timers of phases. Record them: `rl-advisor record --out RUN/gpu.csv`."


def says(found: Mapping[str, Any]) -> str:
    """The point of a profile first; what of it cannot be told stands in ``cannot_tell``."""
    rows = {row["name"]: row for row in found["phases"]}
    if not rows and not found["gpus"]:
        return NOTHING
    said = [_idle(found, rows), _phases(rows), *(_interference(event) for event in found["interference"][:2])]
    return " ".join(part for part in said if part) or "The readings are there, but phases cannot be told apart in them."


def _idle(found: Mapping[str, Any], rows: Mapping[str, Any]) -> str:
    """How much of a step the GPUs stand still, and what for."""
    share = rows["waiting"]["share"] if "waiting" in rows else 0.0
    if share < IDLE:
        return ""
    seconds = (
        f" ({seconds_of(rows['waiting']['seconds_per_step'])} of {seconds_of(found['step_period_s'])})" if found["step_period_s"] else ""
    )
    places = [stretch.get("where", "") for stretch in found["idle"]]
    within, after = places.count("inside the step"), places.count("after the step before ended")
    what = "waiting for the reward or data" if not places else "most likely waiting for the reward"
    advice = "grade in parallel, or while the next answers are generated"
    if after > within:
        what, advice = "right after steps end: saving a checkpoint, or loading data", "save less often or in the background"
    return f"GPU idle {percent(share)} of each step{seconds}, {what}: {advice}."


def _phases(rows: Mapping[str, Any]) -> str:
    """Where the rest of a step goes, and whether that is usual."""
    busy = {name: rows[name]["share"] for name in ("generation", "training") if name in rows}
    if not busy:
        return ""
    told = " and ".join(f"{name} {percent(share)}" for name, share in busy.items())
    longest = max(busy, key=lambda name: busy[name])
    if busy[longest] <= MUCH:
        return f"{told.capitalize()} of a step" + (
            ": neither is a bottleneck." if rows.get("waiting", {"share": 0})["share"] < IDLE else "."
        )
    how = "shorten answers, batch more of them, or a faster engine" if longest == "generation" else "fewer passes, or larger micro-batches"
    return f"{told.capitalize()} of a step: {longest} is the bottleneck, {how}."


def _interference(event: Mapping[str, Any]) -> str:
    """What another process, or the allocator, did to the steps."""
    before, during = event["step_s"]["before"], event["step_s"]["during"]
    slower = f", and steps took {seconds_of(during)} meanwhile, {seconds_of(before)} before" if before and during else ""
    span = seconds_of(event["end"] - event["start"])
    return f"For {span} {event['excess_gib']:.1f} GiB more were in use than before (another process, or the run's own allocator){slower}."


def seconds_of(seconds: float | None) -> str:
    """A time in the unit that people read it in."""
    if seconds is None:
        return "unknown"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{1000 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.3g} s"
