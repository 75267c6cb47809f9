"""What is trained: blocks of runs with the same task and batch, in groups that share everything but seed and fault.

A group has sound runs and as many broken ones; the sound ones say what the broken ones would have come to. In ``KIN``, the set for judging a
run against its own sound runs, a group has six sound ones and four that are broken a little, and all of a group log alike.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from evals.proving_ground import control, faults, sac, tokens
from evals.proving_ground.faults import Broken, Fault, Knob

SHAPES = ((1, 4), (1, 4), (1, 8), (1, 8), (2, 2), (2, 4), (2, 8), (4, 4), (4, 8), (8, 4), (8, 8))
"""Prompts and responses to each, a step; the small ones are what people run at home."""
TWINS = 2
"""Sound runs beside which harm is measured."""
SHARE_OF_TOKENS = 0.55
ALGORITHMS = ("ppo", "ppo", "a2c", "dqn", "soft")
LATER = 250
"""The block from which on those learners are trained that came later: a value model over tokens, and continuous actions."""
OF_TOKENS = frozenset({"grpo", "ppo_tokens"})
"""Learners of sequences; the others control."""
HELD_TASKS = frozenset({"thought", "tools_long", "catch", "valley"})
HELD_FAULTS = frozenset(
    {"praise paid", "stale policies", "prompts scrambled", "evaluation hot", "no clip", "senses noisy", "target too fast"}
)
"""What no fit sees: all runs of these tasks, and all runs with one of these faults."""


@dataclass(frozen=True)
class Layout:
    """How the forty runs of a block are laid out."""

    groups: int = 10
    sound: int = TWINS
    broken: int = TWINS
    most: float = 1.0
    """The strongest dose."""
    alike: bool = False
    """Whether all runs of a group log the same things in the same way."""


PAIRS, KIN = Layout(), Layout(4, 6, 4, 0.25, alike=True)


@dataclass(frozen=True)
class Spec:
    """One run before it is made."""

    name: str
    group: str
    task: str
    learner: str
    steps: int
    habit: str
    base: dict[str, Knob]
    broken: list[Broken]
    alike: bool = False

    @property
    def held(self) -> bool:
        """Whether no fit may see it."""
        return self.task in HELD_TASKS or any(b.fault in HELD_FAULTS for b in self.broken)

    def told(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self) | {"held": self.held}


@dataclass(frozen=True)
class Block:
    """Runs that train side by side."""

    number: int
    seed: int
    task: str
    learner: str
    steps: int
    shape: tuple[int, int]
    skill: float
    hidden: float
    """Share of the prompts that nobody could solve, which is what keeps real scores below one."""
    runs: list[Spec]


def block(seed: int, number: int, layout: Layout = PAIRS) -> Block:
    """The block of that number; the same for the same seed and layout."""
    rng = np.random.default_rng([seed, number])
    of_tokens = rng.random() < SHARE_OF_TOKENS
    steps = int(np.exp(rng.uniform(np.log(60), np.log(600))))
    later = number >= LATER
    if of_tokens:
        task, learner = str(rng.choice(sorted(tokens.TASKS))), "ppo_tokens" if later else "grpo"
        shape = SHAPES[rng.integers(len(SHAPES))]
        shape = (4 * shape[0] * shape[1], 1) if later else shape
    elif later:
        task, learner, shape = str(rng.choice(sac.GAMES)), "sac", (4, 16)
    else:
        task, learner = str(rng.choice(sorted(control.GAMES))), str(rng.choice(ALGORITHMS))
        shape = (int(rng.choice([4, 8])), int(rng.choice([16, 32]))) if learner in {"ppo", "a2c"} else (4, 16)
    skill, hidden = float(rng.beta(1.5, 1.2) * 0.75 + 0.2), float(rng.choice([0, rng.uniform(0.05, 0.7)]))
    runs: list[Spec] = []
    for g in range(layout.groups):
        habit, base = (sequence_base if of_tokens else game_base)(rng, steps, task, learner)
        choice = [f for f in faults.BOTH + kinds(learner) if fits(f, task, learner)]
        group = f"{number:04d}-{g}"
        ill = [[] if i < layout.sound else breaks(rng, choice, layout.most) for i in range(layout.sound + layout.broken)]
        runs += [Spec(f"{group}-{i}", group, task, learner, steps, habit, base, broken, layout.alike) for i, broken in enumerate(ill)]
    return Block(number, int(rng.integers(1 << 31)), task, learner, steps, shape, skill, hidden, runs)


def fits(fault: Fault, task: str, learner: str) -> bool:
    """Whether the learner has what the fault breaks."""
    has = {"": True, "tool": task.startswith("tools"), "policy": learner not in {"dqn", "soft", "sac"}}
    has |= {
        "critic": learner in {"ppo", "a2c", "ppo_tokens"},
        "replay": learner in {"dqn", "soft", "sac"},
        "soft": learner in {"soft", "sac"},
    }
    return has[fault.needs]


def kinds(learner: str) -> tuple[Fault, ...]:
    """The faults that only sequences or only control can have; those of a value model go with it."""
    return faults.GAMES if learner not in OF_TOKENS else faults.TOKENS if learner == "grpo" else faults.TOKENS + faults.OF_CRITICS


def breaks(rng: np.random.Generator, choice: list[Fault], most: float) -> list[Broken]:
    """One fault, at times two or three, of any dose up to ``most``, from the start or later."""
    made = []
    for _ in range(rng.choice([1, 2, 3], p=[0.78, 0.18, 0.04])):
        fault = choice[rng.integers(len(choice))]
        onset = 0.0 if rng.random() < 0.3 else float(rng.uniform(0.08, 0.85))
        until = 1.0 if fault.lasts == 1.0 and rng.random() < 0.9 else onset + (1 - onset) * min(fault.lasts, float(rng.uniform(0.1, 0.7)))
        made.append(Broken(fault.name, float(rng.uniform(0.02, most)), onset, until))
    return sorted(made, key=lambda b: b.onset)


def sequence_base(rng: np.random.Generator, steps: int, task: str, learner: str) -> tuple[str, dict[str, Knob]]:
    """A habit and healthy settings of a language model's training, with rates that suit the number of steps."""
    cap = float(tokens.TASKS[task].longest)
    rate = float(np.clip(np.exp(rng.uniform(np.log(0.2), np.log(4))) / steps, 3e-4, 0.02))
    values = faults.OF_VALUES if learner == "ppo_tokens" else {}
    base: dict[str, Knob] = faults.OF_TOKENS | values | {"lr": rate, "cap": cap, "true_cap": cap, "eval_cap": cap}
    usual = {
        "kl": (0, 0, 0.001, 0.01, 0.04), "passes": (1, 1, 1, 2, 4), "exact": (1, 1, 0.5), "format": (0, 0.1, 0.2, 0.5), "clip_high": (0.2, 0.28),
        "standard": (1, 1, 1, 0), "pool": (4096, 4096, 1024, 256), "grad_limit": (0.2, 1, 100), "mismatch": (0, 0.003, 0.02),
        "scale": (1, 1, 1, 2, 10, 100),
    }  # fmt: skip
    base |= {name: float(rng.choice(values)) for name, values in usual.items()}
    return habit(rng, base, rate, steps, SEQUENCE_HABITS)


def game_base(rng: np.random.Generator, steps: int, _: str, learner: str) -> tuple[str, dict[str, Knob]]:
    """A habit and healthy settings of a control learner."""
    low, high = {"ppo": (4e-4, 6e-3), "a2c": (1e-3, 8e-3), "dqn": (8e-4, 6e-3), "soft": (8e-4, 6e-3), "sac": (1.5e-3, 6e-3)}[learner]
    rate = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    base: dict[str, Knob] = faults.OF_GAMES | {"lr": rate, "grad_limit": 0.5, "entropy": float(rng.choice([0, 0.005, 0.02]))}
    base |= {"passes": float(rng.choice([2, 4, 6])) if learner == "ppo" else 1.0, "lam": float(rng.choice([0.9, 0.95, 0.99]))}
    base |= {"gamma": float(rng.choice([0.95, 0.98, 0.99])), "eval_greedy": float(rng.choice([1, 1, 0]))}
    base |= {"soft": 0.1 if learner in {"soft", "sac"} else 0.0, "true_greedy": float(learner in {"dqn", "soft", "sac"})}
    if learner in {"dqn", "soft", "sac"}:
        base["explore"] = [[0, 1.0], [float(rng.uniform(0.05, 0.5)), 0.05], [1, 0.05]] if learner == "dqn" else 0.0
        base |= {"target_rate": float(rng.choice([0.01, 0.03])), "double": float(rng.choice([0, 1]))}
    return habit(rng, base, rate, steps, BOTH_HABITS)


EARLY_END = "rate falls to zero early"
BOTH_HABITS = ("", "", EARLY_END, "rate falls to zero", "slow", "restart", "noisy reward", "long warm-up")
SEQUENCE_HABITS = (*BOTH_HABITS[:5], "curriculum", "restart", "noisy reward", "hard for a while", "long warm-up")


def habit(rng: np.random.Generator, base: dict[str, Knob], rate: float, steps: int, choice: tuple[str, ...]) -> tuple[str, dict[str, Knob]]:
    """One of the habits laid over healthy settings: sound, and easily taken for broken."""
    name = str(rng.choice(choice))
    at = float(rng.uniform(0.25, 0.7))
    if name == EARLY_END:
        base["lr"] = [[0, rate], [at, 0.0], [1, 0.0]]
    elif name == "rate falls to zero":
        base["lr"] = [[0, rate], [1, 0.0]]
    elif name == "slow":
        base["lr"] = rate / 5
    elif name == "long warm-up":
        base["lr"] = [[0, 0.0], [at, rate], [1, rate]]
    elif name == "curriculum":
        base |= {"high": [[0, 0.3], [at, 0.4], [1, 1.0]], "low": [[0, 0.0], [1, 0.2]]}
    elif name == "restart":
        base["forget"] = [[0, 0.0], [at, 0.0], [at + 1e-6, 1.0], [at + 1.2 / steps, 1.0], [at + 1.3 / steps, 0.0], [1, 0.0]]
    elif name == "noisy reward":
        base["noise"] = float(rng.uniform(0.05, 0.3))
    elif name == "hard for a while":
        base["low"] = [[0, 0.0], [at, 0.0], [at + 0.01, 0.7], [at + 0.12, 0.7], [at + 0.13, 0.0], [1, 0.0]]
    return name, base
