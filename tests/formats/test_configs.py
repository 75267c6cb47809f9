"""Configurations of every kind: what a run was told is read into our keys, whichever file says it."""

from pathlib import Path

import pytest
from rl_advisor.reading import read_run

VERL = "actor/ppo_kl", "actor/pg_clipfrac", "critic/score/mean", "response_length/mean"
SB3 = "rollout/ep_rew_mean", "rollout/ep_len_mean", "train/approx_kl", "train/clip_fraction"
TRL = "reward", "reward_std", "completions/mean_length", "frac_reward_zero_std"
RLLIB = "env_runners/episode_return_mean", "env_runners/episode_len_mean", "evaluation/env_runners/episode_return_mean"
CLEANRL = "charts/episodic_return", "charts/episodic_length", "charts/SPS", "losses/entropy"
PYMARL = "test_return_mean", "ep_length_mean", "q_taken_mean", "return_mean"
ML_AGENTS = "Environment/Cumulative Reward", "Environment/Episode Length", "Losses/Value Loss"
ZOO = "!!python/object/apply:collections.OrderedDict\n- - - n_timesteps\n    - 50000.0\n  - - learning_rate\n    - 0.0003\n"


@pytest.mark.parametrize(
    ("names", "file", "text", "wanted"),
    [
        (
            VERL,
            ".hydra/config.yaml",
            "trainer:\n  total_training_steps: 50\nactor_rollout_ref:\n  actor:\n    optim:\n      lr: 1e-6\n  rollout:\n    n: 8\n",
            {"planned_steps": 50, "learning_rate": 1e-6, "group_size": 8},
        ),
        (SB3, "args.yml", ZOO, {"planned_steps": 50_000, "learning_rate": 0.0003}),
        (SB3, "config.yml", ZOO, {"planned_steps": 50_000, "learning_rate": 0.0003}),
        (
            TRL,
            "training_args.json",
            '{"max_steps": 50, "learning_rate": 1e-06, "num_generations": 8, "beta": 0.04}',
            {"planned_steps": 50, "learning_rate": 1e-6, "group_size": 8, "kl_coef": 0.04},
        ),
        (
            RLLIB,
            "params.json",
            '{"lr": 5e-05, "gamma": 0.99, "clip_param": 0.2}',
            {"learning_rate": 5e-5, "gamma": 0.99, "clip_range": 0.2},
        ),
        (CLEANRL, "args.json", '{"total_timesteps": 50000, "clip_coef": 0.2}', {"planned_steps": 50_000, "clip_range": 0.2}),
        (PYMARL, "config.json", '{"t_max": 50000, "lr": 0.0005, "name": "qmix"}', {"planned_steps": 50_000, "learning_rate": 0.0005}),
        (
            ML_AGENTS,
            "configuration.yaml",
            "behaviors:\n  3DBall:\n    trainer_type: ppo\n    max_steps: 50000\n    hyperparameters:\n      learning_rate: 0.0003\n",
            {"planned_steps": 50_000, "learning_rate": 0.0003, "algorithm": "ppo"},
        ),
    ],
)
def test_what_a_run_was_told(tmp_path: Path, names: tuple[str, ...], file: str, text: str, wanted: dict[str, object]) -> None:
    """Each kind of file, beside metrics of the framework that writes it."""
    rows = [",".join(["step", *names]), *(",".join(str(0.5 * i + 1) for _ in range(len(names) + 1)) for i in range(5))]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    run = read_run(tmp_path)
    assert {key: run.settings.get(key) for key in wanted} == wanted
    assert run.planned_steps == wanted.get("planned_steps")
