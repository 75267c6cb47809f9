"""Runs for the tests of samples: real ones from slimmed files, and ones made of sentences with a known fault."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from rl_advisor.reading.formats import rollouts_parquet
from rl_advisor.run import Curve, Run

DATA = Path(__file__).parent / "data" / "rollouts"
SUBJECTS = ["river", "engine", "garden", "letter", "window", "teacher", "market", "signal", "forest", "number", "bridge", "captain"]
VERBS = ["follows", "crosses", "repairs", "measures", "describes", "forgets", "paints", "carries"]
Write = Callable[[int, float, np.random.Generator], tuple[str, float]]
"""Prompt number, progress 0..1 and a generator -> the response and its reward."""


def real(name: str) -> Run:
    files = sorted((DATA / name / "completions").iterdir())
    return Run(rollouts=pd.concat([rollouts_parquet.read(f).rollouts for f in files], ignore_index=True))


def question(i: int) -> str:
    return f"how far is the {SUBJECTS[i % 12]} from the {SUBJECTS[(i * 5 + i // 12) % 12]} number {i} ?"


def sentence(i: int, rng: np.random.Generator) -> str:
    return f"the {SUBJECTS[i % 12]} {rng.choice(VERBS)} the {rng.choice(SUBJECTS)} near a {rng.choice(SUBJECTS)} ."


def made(write: Write, steps: int = 8, prompts: int = 12, group: int = 6, held_out: list[float] | None = None, **extra: object) -> Run:
    """A run of which ``write`` writes every response; ``held_out`` becomes a score curve over the same steps."""
    rng = np.random.default_rng(0)
    rows = []
    for step in range(steps):
        for p in range(prompts):
            for _ in range(group):
                text, reward = write(p + 3 * step, step / (steps - 1), rng)
                rows.append(
                    {"step": 10.0 * step, "prompt": question(p + 3 * step), "response": text, "reward": reward, "group": str(p)} | extra
                )
    table = pd.DataFrame(rows)
    table["source"], table["row"] = "made", table.index
    curves = {}
    if held_out is not None:
        at = np.linspace(0, 10.0 * (steps - 1), len(held_out))
        curves["eval/score/accuracy"] = Curve("eval/score/accuracy", "accuracy", "made", at, np.array(held_out), mapped=True)
    return Run(rollouts=table, curves=curves)


def solves(p: int, right: bool, thoughts: int, rng: np.random.Generator) -> str:
    body = " ".join(sentence(p, rng) for _ in range(thoughts))
    return f"{body} so it is {100 + 7 * p if right else rng.integers(100, 999)}"
