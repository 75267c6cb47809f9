"""Simulated training loops with known phases: what a GPU draws in each part of a step, read through sensors as they are.

Power is a late box average, utilisation and memory activity look back 0.2 s, temperature follows power, rows jitter and steps
have a clock of their own. The shapes follow what was recorded and what is known of serving engines; the levels are made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rl_advisor.run import Curve, Floats, Run

CELL = 0.01
IDLE_W = 118.0
START = 1.7953e9
KINDS = {"generate": 0, "logprob": 1, "train": 1, "reward": 2, "idle": 2, "checkpoint": 2}
Truth = list[tuple[str, float, float]]


@dataclass(frozen=True)
class Part:
    """One part of a step: how long, at what power, memory activity and utilisation; ``after`` places it behind the step's end."""

    kind: str
    seconds: float
    watts: float = IDLE_W
    activity: float = 0.0
    use: float = 0.0
    jitter: float = 0.03
    """Standard deviation of the logarithm of its seconds."""
    drain: float = 0.0
    """Share of it over which power and activity fall to a third, as the last long answers finish."""
    pulses: int = 0
    """Number of short dips that split it: micro-batches."""
    every: int = 1
    after: bool = False


@dataclass(frozen=True)
class Sensor:
    """How the telemetry is taken."""

    row: float = 0.1
    window: float = 1.0
    lag: float = 0.05
    row_jitter: float = 0.004
    noise_w: float = 2.0
    skew: float = 0.0
    """Seconds that the telemetry's clock is ahead of the trainer's."""


GEN = Part("generate", 1.4, 245, 0.07, 0.62)
LOG = Part("logprob", 0.12, 380, 0.25, 0.9)
REWARD = Part("reward", 0.05)
TRAIN = Part("train", 1.0, 400, 0.27, 0.95)
OPT = Part("train", 0.08, 260, 0.3, 0.9)


def _with(part: Part, **new: float) -> Part:
    return Part(**{**part.__dict__, **new})  # type: ignore[arg-type]


LOOPS: Mapping[str, tuple[Part, ...]] = {
    "as recorded": (GEN, LOG, REWARD, TRAIN, OPT),
    "training-bound": (_with(GEN, seconds=0.5), _with(LOG, seconds=0.3), REWARD, _with(TRAIN, seconds=3.2), OPT),
    "micro-batches with dips": (GEN, LOG, REWARD, _with(TRAIN, seconds=1.8, pulses=8), OPT),
    "quick steps": (_with(GEN, seconds=0.8), REWARD, _with(TRAIN, seconds=0.6), OPT),
    "slow steps": (_with(GEN, seconds=14, jitter=0.1), _with(LOG, seconds=2), _with(REWARD, seconds=3), _with(TRAIN, seconds=9), OPT),
    "long tail": (_with(GEN, seconds=3.0, jitter=0.3, drain=0.6, watts=330), LOG, REWARD, TRAIN, OPT),
    "serving engine": (_with(GEN, seconds=4, watts=520, activity=0.7, use=0.97, drain=0.35), LOG, REWARD,
                       _with(TRAIN, seconds=2, watts=640, activity=0.4), OPT),
    "reward of any length": (GEN, LOG, _with(REWARD, seconds=1.2, jitter=0.8), TRAIN, OPT),
    "waiting for data": (Part("idle", 0.8), GEN, LOG, _with(REWARD, seconds=0.5), TRAIN, OPT),
    "checkpoints": (GEN, LOG, REWARD, TRAIN, OPT, Part("checkpoint", 3.0, every=3, after=True)),
    "checkpoints and rewards": (GEN, LOG, _with(REWARD, seconds=1.0), TRAIN, OPT, Part("checkpoint", 2.0, every=2, after=True)),
    "evaluation now and then": (GEN, LOG, REWARD, TRAIN, OPT, _with(GEN, seconds=4, every=5, after=True)),
    "log-probabilities weigh": (_with(GEN, seconds=2), _with(LOG, seconds=0.9), _with(REWARD, seconds=0.6), TRAIN, OPT),
    "critic and actor": (_with(GEN, seconds=2), LOG, REWARD, _with(TRAIN, seconds=0.7, watts=340), TRAIN, OPT),
    "several rollouts a step": (GEN, _with(REWARD, seconds=0.4), GEN, _with(REWARD, seconds=0.4), LOG, TRAIN, OPT),
    "training draws less": (_with(GEN, watts=420, activity=0.4), LOG, REWARD, _with(TRAIN, watts=260, activity=0.12, use=0.6), OPT),
    "waits at spinning collectives": (GEN, LOG, Part("reward", 1.0, 135, 0.0, 1.0), TRAIN, OPT),
}  # fmt: skip
"""What a loop does in one step, by name."""
CANNOT: Mapping[str, tuple[Part, ...]] = {
    "equal levels": (_with(GEN, watts=300, activity=0.25), REWARD, _with(TRAIN, watts=300, activity=0.25)),
    "equal power and nearly equal activity": (_with(GEN, watts=300, activity=0.25), REWARD, _with(TRAIN, watts=303, activity=0.255)),
    "equal levels with waits": (_with(GEN, watts=300, activity=0.25), _with(REWARD, seconds=1), _with(TRAIN, watts=300, activity=0.25)),
}
"""Loops in which nothing tells generation from training."""


@dataclass(frozen=True)
class Loop:
    """A simulated run, its true phases and the times at which steps ended."""

    run: Run
    truth: Truth
    ends: Floats

    def shares(self) -> Floats:
        """True shares of generation, training and waiting between the first step end and the last."""
        out = np.zeros(3)
        for kind, begin, end in self.truth:
            out[KINDS[kind]] += max(min(end, self.ends[-1]) - max(begin, self.ends[0]), 0.0)
        return out / out.sum()

    def waits(self, least: float = 0.5) -> list[tuple[float, float]]:
        """True waits of at least so many seconds between the first and the last step end."""
        return [(b, e) for kind, b, e in self.truth if KINDS[kind] == 2 and e - b >= least and b >= self.ends[0] and e <= self.ends[-1]]


def simulate(parts: tuple[Part, ...], *, seconds: float = 60.0, sensor: Sensor = Sensor(), seed: int = 0, gpus: int = 1) -> Loop:
    """A run of such steps, its start-up left in, for at least ``seconds`` and at least eight steps."""
    rng = np.random.default_rng(seed)
    done, ends, now, step = [("idle", _cells(Part("idle", 6.0), 6.0))], [], 6.0, 0
    while now < 6 + seconds or step < 8:
        step += 1
        for part in sorted(parts, key=lambda p: p.after):
            if part.after and len(ends) < step:
                ends.append(now)
            if step % part.every:
                continue
            first = 6.0 if step == 1 and part is parts[0] else 0.0
            done.append((part.kind, _cells(part, part.seconds * float(np.exp(part.jitter * rng.normal())) + first)))
            now += len(done[-1][1]) * CELL
        if len(ends) < step:
            ends.append(now)
    return settled_loop(done, ends, sensor, rng, gpus=gpus)


def settled_loop(parts: list[tuple[str, Floats]], ends: list[float], sensor: Sensor, rng: np.random.Generator, gpus: int = 1) -> Loop:
    """The run of parts (kind, and power, memory activity and utilisation every hundredth of a second) with those step ends."""
    truth, now = [], START
    for kind, cells in parts:
        truth.append((kind, now, now + len(cells) * CELL))
        now += len(cells) * CELL
    signal = np.concatenate([*(cells for _, cells in parts), _cells(Part("idle", 2.0), 2.0)])
    tables = [_read(signal, sensor, rng, str(g), settled=START + ends[0] - 0.5) for g in range(gpus)]
    number, moments = np.arange(1.0, len(ends) + 1), START + np.array(ends)
    clock = {"clock": Curve("clock", "step", "steps.jsonl", number, number, time=moments)}
    return Loop(Run(telemetry=pd.concat(tables, ignore_index=True), curves=clock), truth, moments)


def _cells(part: Part, seconds: float) -> Floats:
    """Power, memory activity and utilisation every hundredth of a second."""
    n = max(round(seconds / CELL), 1)
    place = (np.arange(n) + 0.5) / n
    fade = np.clip((place - (1 - part.drain)) / max(part.drain, 1e-9), 0, 1) if part.drain else np.zeros(n)
    scale = 1 - 2 * fade / 3
    if part.pulses:
        scale = np.where((place * part.pulses) % 1 > 0.85, 0.3, scale)
    watts = IDLE_W + (part.watts - IDLE_W) * scale
    return np.stack([watts, part.activity * scale, np.full(n, part.use)], axis=1)


def _read(signal: Floats, sensor: Sensor, rng: np.random.Generator, gpu: str, settled: float) -> pd.DataFrame:
    """What the sensors print of the signal; the allocator's memory is taken at the moment ``settled``."""
    moments = np.arange(len(signal) + 1) * CELL
    summed = np.vstack([np.zeros(3), np.cumsum(signal, axis=0) * CELL])
    at = np.arange(2.0, moments[-1], sensor.row)
    at = at + rng.uniform(-sensor.row_jitter, sensor.row_jitter, at.size)

    def average(column: int, window: float, late: float) -> Floats:
        last, first = at - late, at - late - window
        return (np.interp(last, moments, summed[:, column]) - np.interp(first, moments, summed[:, column])) / window

    power = average(0, sensor.window, sensor.lag) + rng.normal(0, sensor.noise_w, at.size)
    return pd.DataFrame(
        {
            "time": START + at + sensor.skew,
            "gpu": gpu,
            "power_w": power.round(2),
            "utilization": average(2, 0.2, 0.05).round(2),
            "memory_activity": average(1, 0.2, 0.05).round(2),
            "temperature": (32 + 0.05 * average(0, 0.5, 0.1)).round(),
            "memory_gib": np.where(START + at < settled, 3.0, 30.0),
            "memory_total_gib": 140.0,
        }
    )
