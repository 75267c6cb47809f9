"""Numbers that rows of patterns may ask of the machine: shares of steps that wait, of GPUs that rest, of generation that is a tail.

None is what is not recorded; TooFewPoints what is not recorded well enough to tell.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phases import GENERATION
from rl_advisor.gpu.look import Seen, look
from rl_advisor.gpu.profile import profile
from rl_advisor.gpu.signals import Rows
from rl_advisor.gpu.steps import logged_seconds
from rl_advisor.run import Run

BUSY, RESTING, WORKING = 0.1, 0.05, 0.5
"""Utilisation from which a GPU is busy; the share of its rows below which it rests, and from which it works."""
FAR, LEAST, PARTS = 3.5, 0.1, 10
"""Robust deviations and the share of the level by which a GPU stands apart, and in how many parts of the run that is asked."""
HARMFUL = 0x8 | 0x20 | 0x40 | 0x80
"""Hardware slow-down, software thermal, hardware thermal, power brake; the software power cap (0x4) is no fault."""
LOW = 0.6
"""Share of generation's usual power below which its end is a tail."""


def _apart(run: Run) -> tuple[float, float, float, str]:
    """Of the GPU that differs most from those it moves with: in which share of the run it does, its level, theirs, and its name."""
    group = look(run).group
    name = next((n for n in ("power_w", "utilization") if all(n in r.value for r in group)), None)
    if len(group) < 4 or name is None:
        raise TooFewPoints(f"{len(group)} GPUs move together, 4 needed")
    level = np.array([[part.mean() for part in np.array_split(r.value[name], PARTS)] for r in group])
    middle = np.median(level, axis=0)
    off = np.abs(level - middle)
    share = ((off > FAR * np.maximum(1.4826 * np.median(off, axis=0), 1e-9)) & (off > LEAST * np.abs(middle))).mean(axis=1)
    worst = int(share.argmax())
    return float(share[worst]), float(level[worst].mean()), float(middle.mean()), group[worst].gpu


def _every(run: Run) -> list[Rows]:
    seen = look(run)
    return [r for group in (seen.group, *seen.others) for r in group]


def _busy(run: Run) -> Mapping[str, float]:
    """The share of its rows in which each GPU is busy."""
    share = {r.gpu: float(np.mean(r.value["utilization"] > BUSY)) for r in _every(run) if "utilization" in r.value}
    if len(share) < 2:
        raise TooFewPoints(f"{len(share)} GPUs with utilisation, two are needed")
    return share


def resting(run: Run) -> list[str]:
    """The GPUs that do next to nothing."""
    return [gpu for gpu, part in _busy(run).items() if part < RESTING]


def _stalls(run: Run, where: str) -> tuple[float, float] | None:
    """The share of the time in steps that GPUs stand still, inside a step or as it begins, and of the steps that have such a stretch."""
    if not len(run.telemetry):
        return None
    seen = look(run)
    if not len(seen.steps.spans) or any(c.startswith("idle time: utilisation") for c in seen.cannot_tell):
        raise TooFewPoints("needs step ends and utilisation to tell where in a step the GPUs idle")
    found = [i for i in seen.idle if str(i.get("where", "")).startswith(where)]
    total = float((seen.steps.spans[:, 1] - seen.steps.spans[:, 0]).sum())
    return sum(i["seconds"] for i in found) / total, len({i["step"] for i in found}) / len(seen.steps.spans)


def _waiting(run: Run) -> float | None:
    logged = logged_seconds(run)
    return logged.get("waiting", 0.0) / logged["step"] if logged else part(_stalls, 0)(run, "inside")


def _saving(run: Run) -> tuple[float, float] | None:
    """The share of the time in which saving holds up training, and of the steps after which it does (by timers none is told)."""
    logged = logged_seconds(run)
    return (logged["checkpoint"] / logged["step"], 0.0) if "checkpoint" in logged else _stalls(run, "after")


def part(of: Callable[..., tuple[Any, ...] | None], place: int) -> Callable[..., Any]:
    """One of several numbers that are found together."""
    return lambda *asked: None if (found := of(*asked)) is None else found[place]


def _beside(run: Run) -> float:
    written = {c.step + 1 for c in run.checkpoints}
    return float(sum(str(i.get("where", "")).startswith("after") and i["step"] in written for i in look(run).idle))


def _throttled(run: Run) -> float | None:
    """The largest share of a GPU's rows in which the driver says that heat or power lowers the clock."""
    masks = [r.value["throttle"].astype(np.int64) for r in _every(run) if "throttle" in r.value]
    return max((float(((mask & HARMFUL) != 0).mean()) for mask in masks), default=None)


def _cooling(run: Run) -> tuple[float, float] | None:
    """The fall of the busy clock between the first and the last third of busy rows, and the rise of temperature; None with reasons."""
    if _throttled(run) is not None:
        return None
    found = []
    for r in (r for r in _every(run) if {"sm_clock", "utilization", "temperature"} <= r.value.keys()):
        busy = np.flatnonzero(r.value["utilization"] > 0.3)
        third = busy.size // 3
        first, last = (
            [float(np.median(r.value[name][rows])) for name in ("sm_clock", "temperature")] if third >= 10 else [1.0, 0.0]
            for rows in (busy[:third], busy[-third:])
        )
        found += [(1 - last[0] / max(first[0], 1), last[1] - first[1])] if third >= 10 else []
    if not found:
        raise TooFewPoints("needs throttle reasons, or clock, utilisation and temperature over enough busy readings")
    return max(found)


def _tail(run: Run) -> float | None:
    """The share of generation, in the median step, that its last stretch of low power makes up."""
    if not len(run.telemetry):
        return None
    tails = _tails(look(run))
    if len(tails) < 3:
        raise TooFewPoints("generation and training could be told apart in fewer than three steps")
    return float(np.median(tails))


def _tails(seen: Seen) -> list[float]:
    split = seen.split
    if split is None or not split.named or split.confidence == "low" or not split.step.size:
        return []
    power, tails = seen.ticks.value["power_w"], []
    drawn = np.interp(split.at, seen.ticks.time, power) - np.quantile(power, 0.02)
    for step in np.unique(split.step[split.step >= 0]):
        own = drawn[(split.step == step) & (split.label == GENERATION)]
        if own.size >= 8:
            usual = np.quantile(own, 0.8)
            full = np.flatnonzero(own >= LOW * usual)
            tails.append(float(1 - (full[-1] + 1) / own.size if full.size and usual > 0 else 0.0))
    return tails


def _skew(run: Run) -> float | None:
    """The longest response over the mean one, in the middle of the logged steps."""
    longest, mean = run.curves.get("response/length_max"), run.curves.get("response/length")
    if longest is None or mean is None:
        return None
    _, i, j = np.intersect1d(longest.step, mean.step, return_indices=True)
    ratio = longest.value[i] / np.maximum(mean.value[j], 1e-9)
    ratio = ratio[np.isfinite(ratio)]
    return float(np.median(ratio)) if ratio.size >= 3 else None


def _fullest(run: Run) -> float | None:
    """The highest share of a GPU's memory in use."""
    if not {"memory_gib", "memory_total_gib"} <= set(map(str, run.telemetry.columns)):
        return None
    share = float((run.telemetry["memory_gib"] / run.telemetry["memory_total_gib"].clip(lower=1e-9)).max())
    return share if np.isfinite(share) else None


def _phase(name: str, key: str, unsure: float) -> Callable[[Run], float]:
    """The share of a step that a phase takes, or a bound of it, which is nothing or all where phases are told with low confidence."""

    def fact(run: Run) -> float:
        row = next((row for row in profile(run)["phases"] if row["name"] == name), None)
        if row is None:
            raise TooFewPoints(f"{name} cannot be told apart in what was recorded")
        return unsure if row["confidence"] == "low" and key != "share" else float(row[key])

    return fact


FACTS: Mapping[str, Callable[[Run], float | None]] = {
    "apart": part(_apart, 0),
    "apart_level": part(_apart, 1),
    "apart_others": part(_apart, 2),
    "resting": lambda run: len(resting(run)),
    "working": lambda run: sum(part > WORKING for part in _busy(run).values()),
    "least_busy": lambda run: min(_busy(run).values()),
    "waiting": _waiting,
    "saving": part(_saving, 0),
    "saving_steps": part(_saving, 1),
    "beside_a_checkpoint": lambda run: _beside(run) if len(run.telemetry) else 0.0,
    "throttled": _throttled,
    "clock_fall": part(_cooling, 0),
    "warmer": part(_cooling, 1),
    "tail": _tail,
    "skew": _skew,
    "fullest": _fullest,
    "skew_alone": lambda run: None if len(run.telemetry) else _skew(run),
    **{
        f"{name}{end}": _phase(name, f"share{end}", low)
        for name in ("generation", "training")
        for end, low in (("", 0), ("_low", 0), ("_high", 1))
    },
}
"""What may be asked of telemetry and of the trainer's timers."""
NAMES: Mapping[str, Callable[[Run], str]] = {"apart": part(_apart, 3), "resting": lambda run: ", ".join(resting(run)[:8])}
"""Which GPUs a number speaks of."""
