"""Runs with a known fault, for tests and documentation: every curve is made from a shape and noise of a given colour."""

from collections.abc import Mapping

import numpy as np
from rl_advisor.run import Checkpoint, Curve, Floats, Run

STEPS = 200


def noise(n: int, sd: float = 1.0, phi: float = 0.0, seed: int = 0) -> Floats:
    """AR(1) noise of length ``n`` with marginal standard deviation ``sd`` and lag-one correlation ``phi``."""
    draws = np.random.default_rng(seed).normal(size=n)
    out = np.empty(n)
    out[0] = draws[0]
    for i in range(1, n):
        out[i] = phi * out[i - 1] + np.sqrt(1 - phi**2) * draws[i]
    return sd * out


def flat(level: float = 0.5, sd: float = 0.02, n: int = STEPS, seed: int = 0) -> Floats:
    """A level with white noise."""
    return level + noise(n, sd, seed=seed)


def rising(low: float = 0.2, high: float = 0.9, sd: float = 0.02, n: int = STEPS, seed: int = 0) -> Floats:
    """A steady rise from ``low`` to ``high``."""
    return np.linspace(low, high, n) + noise(n, sd, seed=seed)


def saturating(low: float = 0.2, high: float = 0.9, sd: float = 0.02, n: int = STEPS, seed: int = 0) -> Floats:
    """A fast rise that levels off at a third of the run."""
    return high - (high - low) * np.exp(-np.arange(n) / (n / 10)) + noise(n, sd, seed=seed)


def falling(high: float = 0.9, to: float = 0.2, sd: float = 0.02, n: int = STEPS, seed: int = 0) -> Floats:
    """A steady decline."""
    return rising(high, to, sd, n, seed)


def stepping(before: float, after: float, at: float = 0.5, sd: float = 0.02, n: int = STEPS) -> Floats:
    """A level that changes at once at the share ``at`` of the run."""
    return np.where(np.arange(n) < at * n, before, after) + noise(n, sd)


def curve(name: str, value: Floats, first: int = 1, every: int = 1) -> Curve:
    """A curve of our name over steps ``first, first + every, ...``."""
    step = first + every * np.arange(len(value), dtype=np.float64)
    return Curve(name=name, raw=name, source="synthetic", step=step, value=np.asarray(value, dtype=np.float64), mapped=True)


def make_run(curves: Mapping[str, Floats], planned: int | None = None, save_every: int = 50, evals_every: int = 10) -> Run:
    """A run with these curves by our names; held-out scores are spaced ``evals_every`` steps, checkpoints ``save_every``."""
    made = {name: curve(name, value, every=evals_every if name.startswith("eval/") else 1) for name, value in curves.items()}
    last = max((int(c.step[-1]) for c in made.values() if c.step.size), default=0)
    checkpoints = tuple(Checkpoint(step, f"checkpoint-{step}") for step in range(save_every, last + 1, save_every))
    return Run(name="synthetic", curves=made, checkpoints=checkpoints, planned_steps=planned or last or None, files=("synthetic",))
