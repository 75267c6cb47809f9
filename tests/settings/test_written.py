"""Settings are found in whatever people paste: files, command lines, scripts, prints; and nothing is found in prose or metrics."""

from pathlib import Path

import pytest
from rl_advisor.reading import part_of
from rl_advisor.reading.parsing.config import settings_in
from rl_advisor.settings.given import said_in

COMMAND = """#!/bin/bash
LR=2e-6
# python old.py --lr 1
python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo actor.optim.lr=$LR +data.seed=7 \\
    trainer.name='my run' data.shuffle=False
"""
SCRIPT = """
from stable_baselines3 import PPO
RATE = 3e-4
KWARGS = dict(gamma=0.98, n_steps=2 * 64)
env = DummyVecEnv([lambda: gym.make("CartPole-v1")])
model = PPO("MlpPolicy", env, learning_rate=RATE, ent_coef=-0.0, **KWARGS)
model.learn(40_000)
vec = VecNormalize(env, norm_obs=False)

def accuracy_reward(completions, answer):
    pattern = r"^<think>.*</think>"
    return [1.0 if answer in c and re.match(pattern, c) else 0.0 for c in completions]
"""
CASES = [
    ("beta: 0.04\nlearning_rate: 1e-6\n", {"beta": 0.04, "learning_rate": 1e-6}),
    ('{"optim": {"lr": 3e-5}, "seed": 1}', {"optim.lr": 3e-5, "seed": 1}),
    ("behaviors:\n  Walker:\n    trainer_type: ppo\n    max_steps: 4e6\n", {"trainer_type": "ppo", "max_steps": 4_000_000}),
    ("default:\n    trainer: ppo\n    max_steps: 4e6\n", {"trainer": "ppo", "max_steps": 4_000_000}),
    (COMMAND, {"algorithm.adv_estimator": "grpo", "actor.optim.lr": 2e-6, "data.seed": 7, "trainer.name": "my run", "data.shuffle": False}),
    ("swift rlhf --beta 0.0 --use_vllm true --offload --top-p=0.9", {"beta": 0.0, "use_vllm": True, "offload": True, "top_p": 0.9}),
    ("python train.py --entropy -0.5 --debug --lr=${RATE:-1e-5}", {"entropy": -0.5, "debug": True, "lr": 1e-5}),
    (
        SCRIPT,
        {"learning_rate": 3e-4, "KWARGS.gamma": 0.98, "KWARGS.n_steps": 128, "total_timesteps": 40_000, "VecNormalize.norm_obs": False},
    ),
    ("Namespace(lr=0.001, env='CartPole-v1', cuda=True)", {"lr": 0.001, "env": "CartPole-v1", "cuda": True}),
    ("12:00 config: {'actor': {'lr': 1e-06, 'kl': False},\n 'seed': 3}\nstep:1 - a:2", {"actor.lr": 1e-6, "actor.kl": False, "seed": 3}),
    (
        "OrderedDict([('batch_size', 256), ('policy', 'MlpPolicy'), ('normalize', False), ('algo', 'ppo')])",
        {"batch_size": 256, "algo": "ppo"},
    ),
    ("  lr ................ 1e-06\n  n_samples ......... 8\n  use_tis ........... True\n", {"lr": 1e-6, "n_samples": 8, "use_tis": True}),
    ("Hyperparameters for behavior name Agent:\n\tbatch_size:\t512\n\tbeta:\t0.005\n\tepsilon:\t0.2\n", {"batch_size": 512, "beta": 0.005}),
]


@pytest.mark.parametrize(("text", "wanted"), CASES, ids=range(len(CASES)))
def test_settings_are_found(text: str, wanted: dict[str, object]) -> None:
    found = settings_in(text)
    assert {key: found.get(key) for key in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello: why is my loss 0?",
        "{'loss': 0.0, 'grad_norm': 0.1, 'reward': 0.3, 'epoch': 0.1}",
        "step:1 - actor/loss:0.1 - critic/score/mean:0.2",
        "((((" * 200,
        "{" * 5_000,
        "key: [" * 3_000,
        "a = " * 20_000,
    ],
)
def test_nothing_is_made_up(text: str) -> None:
    assert not settings_in(text)


def test_a_script_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    found = settings_in(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\nmodel = PPO(learning_rate=__import__('os').getpid())")
    assert not mark.exists()
    assert "learning_rate" not in found or not isinstance(found["learning_rate"], int)


def test_what_a_reward_function_looks_at() -> None:
    found = settings_in(SCRIPT)
    assert found["script.rewards.patterns"] == ["accuracy_reward: ^<think>.*</think>"]
    assert found["script.rewards.contains"] == ["accuracy_reward"]
    assert "PPO" in found["script.calls"]


@pytest.mark.parametrize(("name", "text", "format_"), [("run.sh", COMMAND, "configuration"), ("train.py", SCRIPT, "configuration")])
def test_scripts_in_a_run_folder_are_read(tmp_path: Path, name: str, text: str, format_: str) -> None:
    (tmp_path / name).write_text(text)
    part = part_of(tmp_path / name)
    assert part is not None
    assert part.formats == (format_,)


@pytest.mark.parametrize(
    ("name", "text"), [("setup.sh", "pip install torch\nmkdir runs\n"), ("util.py", "def add(a, b):\n    return a + b\n")]
)
def test_other_scripts_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert part_of(tmp_path / name) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "actor.optim.lr=1e-6 data.train_batch_size=256 rollout.n=8 algorithm.adv_estimator=grpo use_kl_loss=True",
            {"actor.optim.lr": 1e-6, "data.train_batch_size": 256, "rollout.n": 8, "algorithm.adv_estimator": "grpo", "use_kl_loss": True},
        ),
        ("GRPO, num_generations=2, lr 5e-5 and the ppo_epochs set to 4", {"num_generations": 2, "lr": 5e-5}),
        ("with kl_coef of 0.1, beta: 0.04", {"kl_coef": 0.1, "beta": 0.04}),
        ("a temperature of 0.7, and judge: the reward stays at 0", {}),
        ("my_own_key=3 and keep 5 of them", {}),
    ],
)
def test_settings_said_between_words_are_those_that_are_known(text: str, said: dict) -> None:
    assert said_in(text) == said


def test_what_is_logged_is_no_setting() -> None:
    assert said_in("learning_rate=1e-6, num_generations=8", ["train/learning_rate"]) == {"num_generations": 8}
