"""Trains small agents with known faults and writes them as labeled runs: ``python evals/generate/sb3_runs.py OUT [FAMILY ...]``.

OUT ends in the name of a set of recipes: ``classic`` (``faults.py``), ``unseen`` or ``second`` (files of those names). Needs
stable-baselines3, sb3-contrib, gymnasium and torch (CPU). Each evaluation plays 20 episodes or more in the true environment: the odd
ones are what the run logs, the even ones are kept as the hidden truth, so that no label is made of the numbers an advisor sees.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from amend import amended
from faults import BASE, RECIPES, SMOKE, Recipe
from labels import label
from second import RECIPES as SECOND
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv
from unseen import RECIPES as UNSEEN

EVALUATIONS = 30
SETS = {"classic": (RECIPES, "dev"), "unseen": (UNSEEN, "test"), "second": (SECOND, "test")}
"""Recipes by folder, and the split they belong to unless their family is a quick one."""


class Changed(gymnasium.Wrapper):
    """An environment whose rewards and actions can be made wrong while training runs."""

    def __init__(self, env: gymnasium.Env, seed: int) -> None:
        """``env`` as it is, until told otherwise."""
        super().__init__(env)
        self.scale, self.noise, self.shift_actions = 1.0, 0.0, 0.0
        self.random = np.random.default_rng(seed)

    def change(self, name: str, value: float) -> None:
        """From now on: reward times ``scale``, reward replaced by ``noise`` of that size, discrete actions moved by ``shift_actions``."""
        setattr(self, name, value)

    def step(self, action: object) -> tuple:
        """A step of the environment as it is now."""
        if self.shift_actions:
            action = int((action + self.shift_actions) % self.env.action_space.n)
        observation, reward, terminated, truncated, info = self.env.step(action)
        reward = self.noise * self.random.normal() if self.noise else float(reward) * self.scale
        return observation, reward, terminated, truncated, info


class EarlyEnd(gymnasium.Wrapper):
    """Ends every episode after some steps and reports it as a true end."""

    def __init__(self, env: gymnasium.Env, limit: int) -> None:
        """``env`` with episodes of at most ``limit`` steps."""
        super().__init__(env)
        self.limit, self.count = limit, 0

    def reset(self, **options: object) -> tuple:
        """Starts to count anew."""
        self.count = 0
        return self.env.reset(**options)

    def step(self, action: object) -> tuple:
        """A step that says terminated where truncated would be right."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        return observation, reward, terminated or self.count >= self.limit, truncated, info


class Examine(BaseCallback):
    """Plays evaluation episodes at fixed steps; half of them are logged, half are hidden."""

    def __init__(self, recipe: Recipe, seed: int, folder: Path) -> None:
        """Examinations of one run, whose files go to ``folder``."""
        super().__init__()
        self.recipe, self.folder = recipe, folder
        self.steps: list[int] = []
        self.results: list[list[float]] = []
        self.lengths: list[list[int]] = []
        self.env = DummyVecEnv([lambda: Monitor(gymnasium.make(recipe.env))] * 10)
        self.env.seed(seed)
        self.next = 0
        self.later = dict(recipe.later)

    def _on_training_start(self) -> None:
        self._examine()

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self._examine()
        freeze = self.recipe.wrap.get("freeze_at")
        if freeze and self.num_timesteps >= freeze:
            self.model.replay_buffer.add = lambda *_: None
        if self.later and self.num_timesteps >= self.recipe.injected_at:
            self._change()
        return True

    def _change(self) -> None:
        """Puts the late fault in, once."""
        for name, value in self.later.items():
            if name == "learning_rate":
                self.model.lr_schedule = lambda _, value=value: value
            else:
                self.training_env.env_method("change", name, value)
        self.later = {}

    def _examine(self) -> None:
        results, lengths = evaluate_policy(self.model, self.env, self.recipe.episodes, return_episode_rewards=True)
        self.steps.append(self.num_timesteps)
        self.results.append(results)
        self.lengths.append(lengths)
        self.next = self.num_timesteps + self.recipe.steps // EVALUATIONS
        self.logger.record("eval/mean_reward", float(np.mean(results[1::2])))
        self.logger.record("eval/mean_ep_length", float(np.mean(lengths[1::2])))
        if len(self.steps) % 4 == 1 and self.num_timesteps:
            (self.folder / f"rl_model_{self.num_timesteps}_steps.zip").touch()

    def _on_training_end(self) -> None:
        seen = [r[1::2] for r in self.results], [n[1::2] for n in self.lengths]
        np.savez_compressed(self.folder / "evaluations.npz", timesteps=self.steps, results=seen[0], ep_lengths=seen[1])


def environment(recipe: Recipe, monitor: Path | None, seed: int) -> gymnasium.Env:
    """The training environment with its faults; Monitor outside of them, so that it logs the reward that training uses."""
    env = gymnasium.make(recipe.env)
    if "time_limit" in recipe.wrap:
        env = EarlyEnd(env, int(recipe.wrap["time_limit"]))
    env = Changed(env, seed)
    env.change("scale", recipe.wrap.get("scale", 1.0))
    return Monitor(env, str(monitor) if monitor else None)


def model_of(recipe: Recipe, seed: int, folder: Path) -> BaseAlgorithm:
    """The agent, before training."""
    options = {**BASE[recipe.algo], **recipe.changes}
    count = options.pop("n_envs", 1)
    if recipe.algo in ("TD3", "DDPG"):
        options["action_noise"] = NormalActionNoise(np.zeros(1), np.full(1, 0.1))
    envs = DummyVecEnv([lambda i=i: environment(recipe, folder / "monitor.csv" if i == 0 else None, seed + i) for i in range(count)])
    library = stable_baselines3 if hasattr(stable_baselines3, recipe.algo) else sb3_contrib
    return getattr(library, recipe.algo)("MlpPolicy", envs, seed=seed, device="cpu", **options)


def train(recipe: Recipe, seed: int, folder: Path) -> dict:
    """Trains one run into ``folder`` and returns its label."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    torch.set_num_threads(1)
    model = model_of(recipe, seed, folder)
    model.set_logger(configure(str(folder), ["csv"]))
    examine = Examine(recipe, seed, folder)
    model.learn(recipe.steps, callback=examine)
    (folder / "config.yml").write_text(f"algo: {recipe.algo.lower()}\nenv: {recipe.env}\nn_timesteps: {recipe.steps}\n", encoding="utf-8")
    results = np.array(examine.results)
    seen, hidden = results[:, 1::2], results[:, 0::2]
    return label(recipe, seed, np.array(examine.steps, float), seen.mean(1), hidden.mean(1), late_error(seen))


def late_error(episodes: np.ndarray) -> float:
    """Standard error of an evaluation in the later half of a run, from its episodes (one row an evaluation)."""
    late = episodes[len(episodes) // 2 :]
    return float(np.median(late.std(axis=1, ddof=1)) / late.shape[1] ** 0.5)


def add_label(path: Path, run: str, made: dict) -> None:
    """Puts a run's label into ``labels.json``, one line a run, so that a change shows where it is."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    lines = (f'"{name}":{json.dumps(entry, separators=(",", ":"))}' for name, entry in sorted({**known, run: amended(made)}.items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Writes the runs of the named families (all of them by default) and adds their labels to ``labels.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("families", nargs="*")
    options = parser.parse_args()
    recipes, split = SETS[options.out.name]
    jobs = [(r, seed) for r in recipes for seed in r.seeds]
    for number, (recipe, seed) in enumerate(jobs, 1):
        if options.families and recipe.family not in options.families:
            continue
        run = f"{options.out.name}-{number:02d}"
        made = train(recipe, seed, options.out / "runs" / run)
        add_label(options.out / "labels.json", run, made | {"split": "smoke" if recipe.family in SMOKE else split})
        print(run, recipe.family, made["verdicts"], file=sys.stderr)


if __name__ == "__main__":
    main()
