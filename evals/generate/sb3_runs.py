"""Trains small agents with known faults and writes them as labeled runs: ``python evals/generate/sb3_runs.py OUT [FAMILY ...]``.

Needs stable-baselines3, gymnasium and torch (CPU). Each evaluation plays 20 episodes in the true environment: the odd ones are what
the run logs, the even ones are kept as the hidden truth, so that no label is made of the numbers an advisor sees.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import gymnasium
import numpy as np
import stable_baselines3
import torch
from faults import BASE, RECIPES, Recipe
from labels import label
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

EPISODES = 20
EVALUATIONS = 30


class ScaledReward(gymnasium.RewardWrapper):
    """Training reward times a factor."""

    def __init__(self, env: gymnasium.Env, scale: float) -> None:
        """``env`` with rewards times ``scale``."""
        super().__init__(env)
        self.scale = scale

    def reward(self, reward: float) -> float:
        """The reward the update sees."""
        return float(reward) * self.scale


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

    def _on_training_start(self) -> None:
        self._examine()

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self._examine()
        freeze = self.recipe.wrap.get("freeze_at")
        if freeze and self.num_timesteps >= freeze:
            self.model.replay_buffer.add = lambda *_: None
        return True

    def _examine(self) -> None:
        results, lengths = evaluate_policy(self.model, self.env, EPISODES, return_episode_rewards=True)
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


def environment(recipe: Recipe, monitor: Path | None) -> gymnasium.Env:
    """The training environment with its faults; Monitor outside of them, so that it logs the reward that training uses."""
    env = gymnasium.make(recipe.env)
    if "time_limit" in recipe.wrap:
        env = EarlyEnd(env, int(recipe.wrap["time_limit"]))
    if "scale" in recipe.wrap:
        env = ScaledReward(env, recipe.wrap["scale"])
    return Monitor(env, str(monitor) if monitor else None)


def model_of(recipe: Recipe, seed: int, folder: Path) -> BaseAlgorithm:
    """The agent, before training."""
    options = {**BASE[recipe.algo], **recipe.changes}
    count = options.pop("n_envs", 1)
    envs = DummyVecEnv([lambda i=i: environment(recipe, folder / "monitor.csv" if i == 0 else None) for i in range(count)])
    return getattr(stable_baselines3, recipe.algo)("MlpPolicy", envs, seed=seed, device="cpu", **options)


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
    return label(recipe, seed, np.array(examine.steps, float), results[:, 1::2].mean(1), results[:, 0::2].mean(1))


def main() -> None:
    """Writes the runs of the named families (all of them by default) and adds their labels to ``labels.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("families", nargs="*")
    options = parser.parse_args()
    jobs = [(r, seed) for r in RECIPES for seed in r.seeds]
    path = options.out / "labels.json"
    for number, (recipe, seed) in enumerate(jobs, 1):
        if options.families and recipe.family not in options.families:
            continue
        run = f"classic-{number:02d}"
        made = train(recipe, seed, options.out / "runs" / run)
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        lines = (f'"{name}":{json.dumps(entry, separators=(",", ":"))}' for name, entry in sorted({**known, run: made}.items()))
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")  # one line a run, so that a change shows where it is
        print(run, recipe.family, made["verdicts"], file=sys.stderr)


if __name__ == "__main__":
    main()
