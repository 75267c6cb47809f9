"""Made runs as four frameworks leave them behind: file names, metric names, settings and sample columns are the frameworks' own."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from evals.seeds.drawing import Answers, Floats, Made, Talk, drawn, question

Row = dict[str, Any]
TRL = {
    "reward/mean": "reward", "reward/std": "reward_std", "reward/flat_groups": "frac_reward_zero_std", "kl/ref": "kl",
    "entropy/mean": "entropy", "response/length": "completions/mean_length", "response/truncated": "completions/clipped_ratio",
    "policy/learning_rate": "learning_rate", "policy/grad_norm": "grad_norm", "policy/loss": "loss",
    "ratio/clip_fraction": "clip_ratio/region_mean", "time/step": "step_time", "kl/old": "policy/approxkl_avg",
    "value/loss": "loss/value_avg", "response/length_max": "completions/max_length",
}  # fmt: skip
VERL = {
    "reward/mean": "critic/score/mean", "reward/max": "critic/score/max", "kl/ref": "actor/kl_loss", "entropy/mean": "actor/entropy",
    "response/length": "response_length/mean", "response/truncated": "response_length/clip_ratio", "policy/learning_rate": "actor/lr",
    "policy/grad_norm": "actor/grad_norm", "policy/loss": "actor/pg_loss", "ratio/clip_fraction": "actor/pg_clipfrac",
    "kl/old": "actor/ppo_kl", "time/step": "timing_s/step", "value/loss": "critic/vf_loss",
    "value/explained_variance": "critic/vf_explained_var", "value/mean": "critic/values/mean", "value/return_mean": "critic/returns/mean",
    "rollout/staleness": "training/off_policy/trajectory_staleness/mean", "episode/tool_calls": "tool_call_counts/mean",
}  # fmt: skip
_UP = "ppo_actor/update/"
AREAL = {
    "reward/mean": "ppo_actor/task_reward/avg", "reward/used": "ppo_actor/final_reward/avg", "entropy/mean": _UP + "entropy/avg",
    "response/length": "ppo_actor/seq_len/avg", "policy/learning_rate": _UP + "lr", "policy/grad_norm": _UP + "grad_norm",
    "policy/loss": _UP + "actor_loss/avg", "ratio/clip_fraction": _UP + "clip_ratio/avg", "kl/old": _UP + "approx_kl/avg",
    "ratio/mean": _UP + "importance_weight/avg", "rollout/behave_weight": _UP + "behave_imp_weight/avg",
    "rollout/staleness": _UP + "version_stats/sample_staleness_theta_avg", "time/step": "timeperf/train_step",
}  # fmt: skip
SB3 = {
    "reward/mean": "rollout/ep_rew_mean", "episode/length": "rollout/ep_len_mean", "kl/old": "train/approx_kl",
    "ratio/clip_fraction": "train/clip_fraction", "entropy/mean": "train/entropy_loss", "value/loss": "train/value_loss",
    "value/explained_variance": "train/explained_variance", "policy/learning_rate": "train/learning_rate",
    "policy/loss": "train/policy_gradient_loss", "time/step": "time/fps",
}  # fmt: skip
OPENRLHF = {
    "reward/mean": "reward", "kl/ref": "kl", "entropy/mean": "entropy_loss", "response/length": "response_length", "policy/loss": "policy_loss",
    "response/truncated": "truncated", "policy/learning_rate": "actor_lr", "policy/grad_norm": "actor_grad_norm", "kl/old": "ppo_kl",
    "ratio/clip_fraction": "ppo_clip_ratio", "value/loss": "critic_loss", "value/mean": "values", "time/step": "timing/step_total",
}  # fmt: skip
TINKER = {
    "reward/mean": "env/all/reward/total", "kl/ref": "kl_policy_base", "entropy/mean": "optim/entropy", "kl/old": "kl_pre_post_v2",
    "response/length": "env/all/ac_tokens_per_turn", "policy/learning_rate": "optim/lr", "time/step": "time/total",
    "rollout/staleness": "async/staleness_mean",
}  # fmt: skip
CLEANRL = {
    "reward/mean": "charts/episodic_return", "episode/length": "charts/episodic_length", "policy/learning_rate": "charts/learning_rate",
    "value/loss": "losses/value_loss", "policy/loss": "losses/policy_loss", "entropy/mean": "losses/entropy", "kl/old": "losses/approx_kl",
    "ratio/clip_fraction": "losses/clipfrac", "value/explained_variance": "losses/explained_variance",
}  # fmt: skip
RLLIB = {
    "reward/mean": "env_runners/episode_return_mean", "episode/length": "env_runners/episode_len_mean",
    "value/loss": "learners/default_policy/vf_loss", "policy/loss": "learners/default_policy/policy_loss",
    "entropy/mean": "learners/default_policy/entropy", "kl/old": "learners/default_policy/mean_kl_loss",
    "value/explained_variance": "learners/default_policy/vf_explained_var",
    "policy/grad_norm": "learners/default_policy/gradients_default_optimizer_global_norm",
}  # fmt: skip
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "trl": {
        "passes": "num_iterations", "learning_rate": "learning_rate", "beta": "beta", "group": "num_generations", "seed": "seed",
        "longest": "max_completion_length", "temperature": "temperature", "minibatches": "steps_per_generation",
    },
    "verl": {
        "passes": "actor_rollout_ref.actor.ppo_epochs", "learning_rate": "actor_rollout_ref.actor.optim.lr", "group": "actor_rollout_ref.rollout.n",
        "beta": "actor_rollout_ref.actor.kl_loss_coef", "longest": "data.max_response_length", "seed": "data.seed",
        "temperature": "actor_rollout_ref.rollout.temperature",
    },
    "areal": {
        "minibatches": "actor.ppo_n_minibatches", "learning_rate": "actor.optimizer.lr", "beta": "actor.kl_ctl", "group": "gconfig.n_samples",
        "longest": "gconfig.max_new_tokens", "seed": "seed", "staleness": "rollout.max_head_offpolicyness",
    },
    "tinker": {"learning_rate": "learning_rate", "beta": "kl_penalty_coef", "group": "group_size", "longest": "max_tokens", "seed": "seed"},
    "openrlhf": {"learning_rate": "actor_learning_rate", "beta": "init_kl_coef", "group": "n_samples_per_prompt", "seed": "seed"},
    "cleanrl": {"passes": "update_epochs", "learning_rate": "learning_rate", "target_kl": "target_kl", "seed": "seed"},
    "rllib": {"passes": "num_epochs", "learning_rate": "lr", "seed": "seed"},
    "sb3": {"passes": "n_epochs", "learning_rate": "learning_rate", "target_kl": "target_kl", "seed": "seed"},
}  # fmt: skip
FORMATTED = 17
"""Decimals after which rows are cut."""


def curves_of(made: Made, names: Mapping[str, str], n: int, rng: np.random.Generator) -> dict[str, Floats]:
    """The framework's names and their values; what it has no name for keeps ours where it is a component, else is left out."""
    told = {
        (names.get(k) or k.replace("reward/component/", "rewards/") + "/mean"): w
        for k, w in made.curves.items()
        if k in names or "component/" in k
    }
    return {name: drawn(w, n, rng) for name, w in (told | made.raw).items()}


def scores_of(made: Made, steps: Floats, rng: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """The steps of the evaluations and the scores at them."""
    at = np.unique(np.round(np.linspace(0, steps.size - 1, made.evaluations)).astype(int))
    return steps[at], {name: drawn(w, at.size, rng) for name, w in made.score.items()}


def responses(answers: Answers, last: int, rng: np.random.Generator) -> list[Row]:
    """The sampled responses with their step, prompt, reward and other columns."""
    rows = []
    for k in range(answers.steps):
        done = k / max(1, answers.steps - 1)
        for p in range(answers.prompts):
            for _ in range(answers.group):
                talk = Talk(p + 3 * k, done, rng)
                text, reward, more = answers.write(talk)
                rows.append(
                    {"step": 1 + round(done * (last - 1)), "prompt": question(talk.prompt), "response": text, "reward": reward, **more}
                )
    return rows


def lines_of(made: Made, steps: Floats) -> str:
    """A train.log with its lines, each after the step at which it was printed."""
    return "".join(f"step {steps[min(len(steps) - 1, int(at * len(steps)))]:.0f}: {line}\n" for at, line in made.log)


def settings_of(made: Made, framework: str) -> dict[str, Any]:
    """The settings under the framework's keys; those of no key as they are."""
    return {SETTINGS[framework].get(k, k): v for k, v in made.settings.items()}


def as_trl(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """A trainer's state with its log, the arguments, checkpoints every sixth of the run, and parquet files of completions."""
    steps = made.every * np.arange(1.0, n + 1)
    curves, (at, scores) = curves_of(made, TRL, n, rng), scores_of(made, steps, rng)
    log: list[Row] = [{"step": int(s)} | {k: round(float(v[i]), FORMATTED) for k, v in curves.items()} for i, s in enumerate(steps)]
    log += [{"step": int(s)} | {f"eval_{k}": float(v[i]) for k, v in scores.items()} for i, s in enumerate(at)]
    log.sort(key=lambda row: row["step"])
    last = n * made.every
    state = {"global_step": last, "max_steps": round(last * made.plan), "log_history": log}
    (folder / "trainer_state.json").write_text(json.dumps(state))
    (folder / "training_args.json").write_text(json.dumps(settings_of(made, "trl") | {"max_steps": round(last * made.plan)}))
    checkpoints(folder, last, "checkpoint-{}")
    if made.answers is not None:
        table = pd.DataFrame(responses(made.answers, last, rng)).rename(columns={"response": "completion", "reward": "task_reward"})
        table["advantage"] = table["task_reward"] - table.groupby(["step", "prompt"])["task_reward"].transform("mean")
        (folder / "completions").mkdir()
        for step, part in table.groupby("step"):
            part.reset_index(drop=True).to_parquet(folder / "completions" / f"completions_{int(str(step)):05d}.parquet")


def as_verl(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """The file logger's lines, the configuration, checkpoints, and a dump of responses a step."""
    steps = made.every * np.arange(1.0, n + 1)
    curves, (at, scores) = curves_of(made, VERL, n, rng), scores_of(made, steps, rng)
    held = {int(s): {f"val-core/test/{k}/mean@1": float(v[i]) for k, v in scores.items()} for i, s in enumerate(at)}
    rows = ({"step": int(s), "data": {k: float(v[i]) for k, v in curves.items()} | held.get(int(s), {})} for i, s in enumerate(steps))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "config.yaml").write_text(
        nested(settings_of(made, "verl") | {"trainer.total_training_steps": round(n * made.every * made.plan)})
    )
    checkpoints(folder, n * made.every, "global_step_{}")
    if made.answers is not None:
        (folder / "rollouts").mkdir()
        for step, part in pd.DataFrame(responses(made.answers, n * made.every, rng)).groupby("step"):
            dump = part.rename(columns={"prompt": "input", "response": "output", "reward": "score"}).to_dict("records")
            (folder / "rollouts" / f"{step}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dump))


def as_areal(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """Rows of its trackers and the configuration."""
    steps = np.arange(0.0, n)
    curves, (at, scores) = curves_of(made, AREAL, n, rng), scores_of(made, steps, rng)
    held = {
        int(s): {f"eval-rollout/{'reward' if k == 'accuracy' else k}": float(v[i]) for k, v in scores.items()} for i, s in enumerate(at)
    }
    rows = ({"step": int(s)} | {k: float(v[i]) for k, v in curves.items()} | held.get(int(s), {}) for i, s in enumerate(steps))
    (folder / "stats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "config.yaml").write_text(nested(settings_of(made, "areal") | {"total_train_steps": round(n * made.plan)}))


def as_sb3(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """progress.csv, the evaluations and the arguments of the zoo."""
    steps = 2048.0 * np.arange(1, n + 1)
    curves, (at, scores) = curves_of(made, SB3, n, rng), scores_of(made, steps, rng)
    if "train/entropy_loss" in curves:
        curves["train/entropy_loss"] = -curves["train/entropy_loss"]
    pd.DataFrame({**curves, "time/total_timesteps": steps}).to_csv(folder / "progress.csv", index=False, na_rep="nan")
    for values in scores.values():
        results = values[:, None] + rng.normal(size=(at.size, 5)) * 0.02 * max(1e-9, float(np.ptp(values)))
        np.savez(folder / "evaluations.npz", timesteps=at.astype(int), results=results, ep_lengths=np.full((at.size, 5), 200))
    (folder / "args.yml").write_text(nested(settings_of(made, "sb3") | {"algo": "ppo", "n_timesteps": int(2048 * n * made.plan)}))


def as_tinker(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """A row a batch and the configuration; shares of groups without spread are told as those with."""
    steps = made.every * np.arange(0.0, n)
    curves, (at, scores) = curves_of(made, TINKER, n, rng), scores_of(made, steps, rng)
    if (flat := made.curves.get("reward/flat_groups")) is not None:
        curves["env/all/by_group/frac_mixed"] = 1 - drawn(flat, n, rng)
    held = {int(s): {f"test/env/all/{k}": float(v[i]) for k, v in scores.items()} for i, s in enumerate(at)}
    rows = ({"step": int(s)} | {k: float(v[i]) for k, v in curves.items()} | held.get(int(s), {}) for i, s in enumerate(steps))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "config.json").write_text(json.dumps(settings_of(made, "tinker")))


def as_openrlhf(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """What its trainer prints."""
    steps = made.every * np.arange(1.0, n + 1)
    curves, (at, scores) = curves_of(made, OPENRLHF, n, rng), scores_of(made, steps, rng)
    if "response_length" in curves:
        curves["total_length"] = curves["response_length"] + 96.0
    held = {int(s): {f"eval_{k}_pass1": round(float(v[i]), 5) for k, v in scores.items()} for i, s in enumerate(at)}
    with (folder / "stdout.log").open("w") as out:
        for i, s in enumerate(steps):
            out.write(f"INFO ✨ Global step {s:.0f}: { {k: float(f'{v[i]:.6g}') for k, v in curves.items()} }\n")
            if held.get(int(s)):
                out.write(f"INFO ✨ Evaluation completed in 00:00:21, global_step {s:.0f}, eval_metrics: {held[int(s)]}\n")
    (folder / "config.yaml").write_text(nested(settings_of(made, "openrlhf")))


def as_cleanrl(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """The table that a tracker exports, and the arguments."""
    steps = 1024.0 * made.every * np.arange(1, n + 1)
    curves, (at, scores) = curves_of(made, CLEANRL, n, rng), scores_of(made, steps, rng)
    table = pd.DataFrame({"global_step": steps, **curves})
    for values in scores.values():
        table["eval/episodic_return"] = pd.Series(values, index=np.searchsorted(steps, at))
    table.to_csv(folder / "history.csv", index=False, na_rep="nan")
    told = {"exp_name": "ppo", "total_timesteps": int(1024 * made.every * n * made.plan)}
    (folder / "config.yaml").write_text(nested(settings_of(made, "cleanrl") | told))


def as_rllib(made: Made, n: int, rng: np.random.Generator, folder: Path) -> None:
    """progress.csv of the tuner and its parameters."""
    steps = made.every * np.arange(1.0, n + 1)
    curves, (at, scores) = curves_of(made, RLLIB, n, rng), scores_of(made, steps, rng)
    table = pd.DataFrame({"training_iteration": steps.astype(int), "timesteps_total": (4000 * steps).astype(int), **curves})
    for values in scores.values():
        table["evaluation/env_runners/episode_return_mean"] = pd.Series(values, index=np.searchsorted(steps, at))
    table.to_csv(folder / "progress.csv", index=False)
    (folder / "params.json").write_text(json.dumps(settings_of(made, "rllib")))


def checkpoints(folder: Path, n: int, name: str) -> None:
    """Six checkpoints, evenly spaced."""
    for k in range(1, 7):
        place = folder / name.format(round(n * k / 6))
        place.mkdir()
        (place / "model.safetensors").write_bytes(b"\0" * 16)


def nested(flat: Mapping[str, Any]) -> str:
    """Dotted keys as YAML."""
    import yaml

    out: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, last = key.split(".")
        inner = out
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return yaml.safe_dump(out)


FRAMES: Mapping[str, Callable[[Made, int, np.random.Generator, Path], None]] = {
    "trl": as_trl,
    "verl": as_verl,
    "areal": as_areal,
    "sb3": as_sb3,
    "tinker": as_tinker,
    "openrlhf": as_openrlhf,
    "cleanrl": as_cleanrl,
    "rllib": as_rllib,
}


def written(made: Made, framework: str, n: int, rng: np.random.Generator, folder: Path) -> Path:
    """The folder of a made run as a framework leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    FRAMES[framework](made, n, rng, folder)
    if made.log:
        (folder / "train.log").write_text(lines_of(made, made.every * np.arange(1.0, n + 1)))
    return folder
