"""Environments of our own, right and wrong, put before the skill's script in the library's place."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from evals.seeds.doors import Drawing
from evals.seeds.drawing import Floats

SCRIPTS = Path(__file__).parents[2] / "skills" / "rl-practitioner" / "scripts"


class Space:
    """Two actions, or a number between -1 and 1; observations of any kind."""

    def __init__(self, form: str) -> None:
        """By the name of its kind."""
        self.form, self.rng = form, np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        """Start anew."""
        self.rng = np.random.default_rng(seed)

    def sample(self) -> float:
        """An action."""
        return float(self.rng.integers(2)) if self.form == "discrete" else float(self.rng.uniform(-1, 1))

    def contains(self, observation: Floats) -> bool:
        """Whether it may be seen."""
        return bool(np.isfinite(observation).all())


class Walk:
    """A walk that ends when it has gone far enough; with a fault it goes its way whatever is done, or never ends."""

    def __init__(self, form: str, far: float, fault: str) -> None:
        """Nothing has happened yet."""
        self.action_space, self.observation_space, self.far, self.fault = Space(form), Space("box"), far, fault
        self.at, self.steps = np.zeros(2), 0

    def reset(self, seed: int) -> tuple[Floats, dict[str, Any]]:
        """A start that the seed draws."""
        self.at, self.steps = np.random.default_rng(seed).normal(size=2), 0
        return self.at.copy(), {}

    def step(self, action: float) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """One step to where the action says."""
        self.steps += 1
        self.at = self.at + np.array([action * (self.fault != "deaf"), 0.1])
        ends = self.fault != "endless" and self.steps >= self.far
        return self.at.copy(), -abs(float(self.at[0])), ends, False, {}


def wired(fault: str) -> Callable[[Drawing], str]:
    """What the skill's script says of an environment with a fault, in the library's place; of the near-miss without one."""

    def ask(d: Drawing) -> str:
        library = ModuleType("gymnasium")
        library.Env, library.make = Walk, lambda _: Walk(d.form, 20 + 80 * d.rng.random(), "" if d.near else fault)  # type: ignore[attr-defined]
        with (
            patch.dict(sys.modules, gymnasium=library),
            patch.object(sys, "argv", ["sanity_check_env.py", "Walk-v0"]),
            patch("builtins.print"),
        ):
            try:
                runpy.run_path(str(SCRIPTS / "sanity_check_env.py"), run_name="__main__")
            except AssertionError as complaint:
                return str(complaint)
        return ""

    return ask
