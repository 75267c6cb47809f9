"""Trains a block: every step of all its runs, the true score beside, and once more from half way by other chances."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground import critics, faults, plans, sequences
from evals.proving_ground.control import GAMES
from evals.proving_ground.critics import ActorCritic, Control
from evals.proving_ground.qlearning import QLearning
from evals.proving_ground.sac import SoftActorCritic
from evals.proving_ground.sequence_critic import WithCritic
from evals.proving_ground.sequences import Sequences
from evals.proving_ground.tokens import TASKS

MOMENTS = 41
"""Times at which the true score is measured, over the run."""
SHOWN = 10
"""Times at which the responses to one prompt are kept."""
TWICE = 3
"""Every so many blocks train on once more from half way, by other chances: what is decided by then, and what is luck."""
CONTROL: dict[str, type[Control]] = {
    "ppo": ActorCritic, "a2c": ActorCritic, "dqn": QLearning, "soft": QLearning, "sac": SoftActorCritic,
}  # fmt: skip
Knobs = dict[str, npt.NDArray[np.float32]]


def learner(block: plans.Block, rng: np.random.Generator) -> Any:
    """What trains all runs of the block."""
    if block.learner in plans.OF_TOKENS:
        kind = Sequences if block.learner == "grpo" else WithCritic
        return kind(TASKS[block.task], rng, len(block.runs), *block.shape, block.skill, block.hidden)
    return CONTROL[block.learner](GAMES[block.task], rng, len(block.runs), *block.shape)


def counts(block: plans.Block) -> tuple[int, int]:
    """Responses or episodes behind the true score and behind the one that may be logged."""
    if block.learner in plans.OF_TOKENS:
        return sequences.HIDDEN, sequences.SEEN
    short = max(1, 60 // GAMES[block.task].horizon)
    return critics.HIDDEN * short, critics.SEEN * short


def train(block: plans.Block) -> dict[str, Any]:
    """Everything that a block leaves: metrics (runs, steps, names), scores (runs, moments), responses, and the other second half."""
    rng = np.random.default_rng([block.seed, 0])
    trained = learner(block, rng)
    tables = [faults.table(s.base, s.broken, s.steps) for s in block.runs]
    knobs = {name: np.stack([t[name] for t in tables]) for name in tables[0]}
    moments = np.unique(np.linspace(0, block.steps, MOMENTS).round().astype(int))
    half = int(moments[len(moments) // 2])
    told: dict[str, list[Any]] = {name: [] for name in ("metrics", "truth", "seen", "length", "shown")}
    state = going(trained, trained.begin(), knobs, moments, range(half), rng, counts(block), told)
    again: dict[str, list[Any]] = {"truth": []}
    other = copy.deepcopy(state) if block.number % TWICE == 0 else None
    going(trained, state, knobs, moments, range(half, block.steps), rng, counts(block), told)
    if other is not None:
        going(trained, other, knobs, moments, range(half, block.steps), np.random.default_rng([block.seed, 1]), counts(block), again)
    names = sorted({name for row in told["metrics"] for name in row})
    nothing = np.full(len(block.runs), np.nan)
    return {
        "names": np.array(names),
        "metrics": np.stack([np.stack([row.get(n, nothing) for n in names], -1) for row in told["metrics"]], 1).astype(np.float32),
        "moments": moments,
        **{name: np.stack(told[name], 1).astype(np.float32) for name in ("truth", "seen", "length")},
        "again": np.stack(again["truth"], 1).astype(np.float32) if again["truth"] else np.zeros((len(block.runs), 0), np.float32),
        **{f"shown_{name}": np.stack([row[name] for _, row in told["shown"]]) for name in (told["shown"][0][1] if told["shown"] else ())},
        "shown_at": np.array([at for at, _ in told["shown"]]),
    }


def going(
    trained: Any, state: Any, knobs: Knobs, moments: npt.NDArray[Any], steps: range, rng: np.random.Generator, count: tuple[int, int],
    told: dict[str, list[Any]],
) -> Any:  # fmt: skip
    """The state after these steps; what was measured on the way is appended to ``told``."""
    wanted, last = set(moments.tolist()), knobs["lr"].shape[1]
    kept = set(np.linspace(0, last - 1, SHOWN).astype(int).tolist())
    for t in [*steps, *([last] if steps.stop == last else [])]:
        k = {name: value[:, min(t, last - 1)] for name, value in knobs.items()}
        with np.errstate(all="ignore"):
            if t in wanted:
                told["truth"].append(trained.score(rng, state, k, count=count[0], true=True)[0])
                if "seen" in told:
                    score, length = trained.score(rng, state, k, count=count[1], true=False)
                    told["seen"].append(score)
                    told["length"].append(length)
            if t < last:
                row, shown = trained.step(rng, state, k)
                if "metrics" in told:
                    told["metrics"].append(row)
                    told["shown"] += [(t, shown)] if shown and t in kept else []
    return state


def path_of(folder: Path, block: plans.Block) -> Path:
    """Where a block is kept."""
    return folder / f"block-{block.number:04d}.npz"


def trained_to(folder: Path, block: plans.Block) -> Path:
    """The file of a block, trained unless it lies there already; it appears whole or not at all."""
    path = path_of(folder, block)
    if not path.exists():
        made = train(block)
        text = json.dumps([s.told() | {"seed": block.seed, "shape": block.shape} for s in block.runs])
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez_compressed(file, specs=np.array(text), **made)
        part.rename(path)
    return path
