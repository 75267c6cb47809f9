"""GPU telemetry for tests: the five recordings, and simulated loops with known phases."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from rl_advisor.reading.formats import telemetry
from rl_advisor.run import Curve, Floats, Run

ROOT = Path(__file__).parent / "data" / "gpu"
RECORDINGS = tuple(sorted(p.name for p in ROOT.iterdir() if p.is_dir()))
CLASSES = {"generate": 0, "train": 1, "logprob": 1, "other": 1, "reward": 2, "checkpoint": 2, "idle": 2}


def clock(ends: Floats) -> dict[str, Curve]:
    """The curve that step ends are read from."""
    number = np.arange(1.0, ends.size + 1)
    return {"clock": Curve("clock", "step", "steps.jsonl", number, number, time=ends)}


@cache
def recorded(name: str, *, ends: bool = True, every: int = 1, start: int = 0) -> Run:
    """A recording as a run, of every n-th row, with or without its step ends."""
    run = telemetry.read(ROOT / name / "run" / "gpu.csv")
    rows = run.telemetry.iloc[start::every].reset_index(drop=True)
    return replace(run, telemetry=rows, curves=clock(step_ends(name)) if ends else {})


def step_ends(name: str) -> Floats:
    """When each step of a recording ended."""
    return np.array([json.loads(line)["time"] for line in (ROOT / name / "run" / "steps.jsonl").read_text().splitlines()])


def truth(name: str) -> tuple[Floats, pd.DataFrame]:
    """True shares of generation, training and waiting between the first step end and the last, and the spans."""
    ends = step_ends(name)
    spans = pd.read_json(ROOT / name / "truth" / "phases.jsonl", lines=True)
    inside = (np.minimum(spans["end"], ends[-1]) - np.maximum(spans["start"], ends[0])).clip(lower=0)
    sums = inside.groupby(spans["phase"].map(CLASSES)).sum()
    return np.array([sums.get(k, 0.0) for k in range(3)]) / inside.sum(), spans


def shares(answer: dict) -> Floats | None:
    """Shares of generation, training and waiting as the profile names them; None where it does not."""
    named = {row["name"]: row["share"] for row in answer["phases"]}
    return np.array([named[n] for n in ("generation", "training", "waiting")]) if "training" in named else None


@cache
def simulated(
    levels: tuple[float, float],
    *,
    activity: tuple[float, float] = (0.3, 0.3),
    row: float = 0.1,
    share: tuple[float, ...] = (0.55, 0.2, 0.25),
) -> Run:
    """Thirty steps of five seconds: generation, a wait, training, at the given watts; power as a late one-second average."""
    rng = np.random.default_rng(7)
    cell = 0.02
    ends, parts = [8.0], [(8.0, 200.0, 0.1, 0.5)]
    for _ in range(30):
        lasts = np.array(share) * 5 * np.array([1 + 0.1 * rng.normal(), 1, 1])
        parts += [(lasts[0], levels[0], activity[0], 0.95), (lasts[1], 100.0, 0.0, 0.0), (lasts[2], levels[1], activity[1], 0.95)]
        ends.append(ends[-1] + sum(round(x / cell) * cell for x in lasts))
    parts.append((3.0, 100.0, 0.0, 0.0))
    signal = np.concatenate([np.tile([[w, a, u]], (round(s / cell), 1)) for s, w, a, u in parts])
    summed = np.vstack([np.zeros(3), np.cumsum(signal, axis=0) * cell])
    moments = np.arange(len(summed)) * cell
    at = np.arange(0.5, moments[-1], row)

    def average(column: int, window: float) -> Floats:
        late = at - 0.05
        return (np.interp(late, moments, summed[:, column]) - np.interp(late - window, moments, summed[:, column])) / window

    telemetry = pd.DataFrame({"time": 1.7e9 + at, "gpu": "0", "power_w": average(0, 1.0) + rng.normal(0, 2, at.size)})
    telemetry["memory_activity"] = average(1, 0.2).round(2)
    telemetry["utilization"] = average(2, 0.2).round(2)
    telemetry["memory_gib"], telemetry["memory_total_gib"] = 60.0, 140.0
    return Run(telemetry=telemetry, curves=clock(1.7e9 + np.array(ends)))
