"""Where the GPUs' time goes: phases of the average step with their shares, power and energy, idle time, interference, free memory.

The trainer's own timers are the answer where they are logged; telemetry then only says what each phase drew. Otherwise the
phases are read from power and the other counters, and whatever these cannot tell is listed as such.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.gpu.look import Seen, longest_first, look
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.output import Answer
from rl_advisor.run import Floats, Run

ORDER = ("generation", "training", "sync", "checkpoint", "waiting", "other")
ALWAYS_UNTOLD = (
    "what a wait was for (reward, data, checkpoint): only where in the step it lies is seen",
    "waits under 0.3 s, waits that spin on a collective, and log-probability passes on their own",
)


def profile(run: Run) -> Answer:
    """Shares are of the time in steps and sum to 1; power and energy are of one GPU."""
    logged = logged_seconds(run)
    answer: Answer = {
        "gpus": 0,
        "hours": 0.0,
        "step_period_s": logged.get("step"),
        "phases": [_bare(n, logged) for n in ORDER if n in logged],
        "idle": [],
        "interference": [],
        "headroom_gib": None,
        "cannot_tell": [],
        "gaps": [],
    }
    if not len(run.telemetry):
        untold = ["power, idle time, memory: no GPU telemetry was found", *([] if logged else ["phases: the trainer timed none"])]
        return answer | {"cannot_tell": untold}
    try:
        seen = look(run)
    except TooFewPoints as short:
        return answer | {"cannot_tell": [f"anything of the GPUs: {short}"]}
    split = seen.split
    period = (split or seen.steps).period
    # What no row shows as used on the fullest GPU is a lower bound, since allocators keep what they freed.
    told = (r.value for r in seen.group if {"memory_gib", "memory_total_gib"} <= r.value.keys())
    return {
        "gpus": int(run.telemetry["gpu"].nunique()),
        "hours": float(np.ptp(run.telemetry["time"].to_numpy())) / 3600,
        "step_period_s": logged.get("step") or (period if np.isfinite(period) else None),
        "phases": _from_timers(seen, logged) if logged else _from_split(seen),
        "idle": longest_first(list(seen.idle)),
        "interference": list(seen.foreign),
        "headroom_gib": min((float((v["memory_total_gib"] - v["memory_gib"]).min()) for v in told), default=None),
        "cannot_tell": [*seen.cannot_tell, *(split.cannot_tell if split else ()), *(ALWAYS_UNTOLD if not logged else ())],
        "gaps": [asdict(gap) for gap in seen.gaps],
    }


def _from_split(seen: Seen) -> list[Answer]:
    """Phase rows of the split; generation and training as one ``other`` where they cannot be told apart."""
    split = seen.split
    if split is None or not split.at.size:
        return []
    names = split.kinds[split.label]
    rows = []
    for name in (n for n in ORDER if n in split.kinds):
        inside = names == name
        share, sure = float(inside.mean()), split.confidence
        low, high = band(share, split.spread, seen.group[0].spacing, split.period) if split.named or name == "waiting" else (share, share)
        confidence = "low" if name == "other" else "medium" if name == "waiting" and sure == "low" else sure
        known = {"share": share, "share_low": low, "share_high": high, "confidence": confidence, **_means(seen, split.at[inside])}
        rows.append(_row(name, known, split.period))
    return rows


def band(share: float, spread: float, row_seconds: float, period: float) -> tuple[float, float]:
    """Low and high end of a share: twice the spread between variants and the resolution of the rows, at least 5 points."""
    half = max(0.05, 2 * float(np.hypot(spread, 0.75 * row_seconds / period)))
    return max(0.0, share - half), min(1.0, share + half)


def _means(seen: Seen, at: Floats) -> dict[str, float]:
    """Mean power and utilisation and highest memory of the group at some moments, of what was read."""
    if not at.size:
        return {}
    value, time = seen.ticks.value, seen.ticks.time
    place = np.clip(np.searchsorted(time, at - seen.ticks.spacing / 2), 0, time.size - 1)
    found = {"power_w": np.interp(at, time, value["power_w"]).mean()} if "power_w" in value else {}
    found |= {"utilization": value["utilization"][place].mean()} if "utilization" in value else {}
    found |= {"memory_gib": float(np.quantile(value["memory_gib"][place], 0.95))} if "memory_gib" in value else {}
    return {name: float(mean) for name, mean in found.items()}


def _from_timers(seen: Seen, logged: Mapping[str, float]) -> list[Answer]:
    """Phase rows of the trainer's timers; power and memory by laying the timed phases into each step in their usual order."""
    place = ("generation", "waiting", "other", "training", "sync", "checkpoint")
    edge, bounds = 0.0, {}
    for name in place:
        bounds[name] = (edge, edge + logged.get(name, 0.0) / logged["step"])
        edge = bounds[name][1]
    return [_bare(name, logged, _means(seen, _moments(seen, *bounds[name]))) for name in ORDER if name in logged]


def _moments(seen: Seen, first: float, last: float) -> Floats:
    """Moments inside one part of every step, ``first`` and ``last`` as shares of the step."""
    begin, size = seen.steps.spans[:, :1], np.diff(seen.steps.spans, axis=1)
    return (begin + size * (first + (last - first) * (np.arange(40) + 0.5) / 40)).ravel() if last > first else np.empty(0)


def _bare(name: str, logged: Mapping[str, float], means: Mapping[str, float] = {}) -> Answer:
    """A row of the trainer's timers, with what telemetry adds."""
    share = logged[name] / logged["step"] if logged["step"] else 0.0
    return _row(name, {"share": share, "share_low": share, "share_high": share, "confidence": "high", **means}, logged["step"])


def _row(name: str, known: Mapping[str, Any], period: float) -> Answer:
    """One phase in the contract's words."""
    seconds, power = known["share"] * period if np.isfinite(period) else None, known.get("power_w")
    empty = dict.fromkeys(("power_w", "utilization", "memory_gib"))
    energy = power * seconds if power is not None and seconds is not None else None
    return {"name": name, **empty, **known, "seconds_per_step": seconds, "energy_j_per_step": energy}
