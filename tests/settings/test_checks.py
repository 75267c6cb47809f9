"""Every check fires on the settings it is about, keeps quiet on its near-miss, and names no fault in sound runs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run
from rl_advisor.settings import checks
from rl_advisor.settings.given import NAMES, Settings

CORPORA = Path(__file__).parents[2] / "evals" / "corpus"
NAN = float("nan")


def started_with(config: dict[str, object], **levels: float) -> Run:
    """A run of twelve rows whose metrics stand at a level; ``a__b`` is ``a/b``."""
    curves = {}
    for raw, level in levels.items():
        name = raw.replace("__", "/")
        curves[name] = Curve(name, raw, "", np.arange(12.0), np.full(12, level), mapped=True)
    return Run(config=config, curves=curves)


def by(framework: str, config: dict[str, object], **levels: float) -> Run:
    """The same of a framework by its name."""
    return replace(started_with(config, **levels), frameworks=(framework,))


def few(run: Run) -> Run:
    """A run of which three rows are left."""
    return replace(run, curves={n: replace(c, step=c.step[:3], value=c.value[:3]) for n, c in run.curves.items()})


GRPO = {"num_generations": 8, "model_name_or_path": "Qwen/Qwen2.5-1.5B", "use_peft": False}
VERL = {
    "data.train_batch_size": 256,
    "actor.ppo_mini_batch_size": 256,
    "actor.ppo_epochs": 1,
    "algorithm.adv_estimator": "grpo",
    "rollout.n": 5,
}
CASES = [
    ("sampling", "fault", started_with({**GRPO, "top_k": 40}, kl__ref=-0.3, response__length=9.0)),
    ("sampling", "fault", started_with({**GRPO, "generation_kwargs.min_length": 20}, response__length=30.0)),
    ("sampling", "note", started_with({**GRPO, "rollout_temperature": 0.7, "eval_temperature": 1.0}, response__length=9.0)),
    ("sampling", "note", started_with({**GRPO, "top_k": 40}, kl__ref=0.02, response__length=9.0)),
    ("sampling", "fine", started_with({**GRPO, "top_k": 0, "top_p": 1.0}, response__length=9.0)),
    ("sampling", "fine", started_with({**GRPO, "temperature": 1.0, "eval_temperature": 0.0}, response__length=9.0)),
    ("sampling", "not_given", started_with(GRPO, response__length=9.0)),
    ("learning_rate", "fault", started_with({**GRPO, "learning_rate": 0.2}, response__length=9.0)),
    ("learning_rate", "note", started_with({**GRPO, "learning_rate": "2e-4"}, response__length=9.0)),
    ("learning_rate", "note", started_with({**GRPO, "learning_rate": 1e-9}, response__length=9.0)),
    ("learning_rate", "fine", started_with({**GRPO, "learning_rate": 1e-6}, response__length=9.0)),
    ("learning_rate", "fine", started_with({**GRPO, "use_peft": True, "learning_rate": 2e-4}, response__length=9.0)),
    ("learning_rate", "note", started_with({"learning_rate": 0.2})),
    ("kl_off", "note", started_with({**GRPO, "beta": 0.0})),
    ("kl_off", "note", started_with({"actor.use_kl_loss": False, "kl_loss_coef": 0.001})),
    ("kl_off", "fine", started_with({**GRPO, "beta": 0.04})),
    ("kl_off", "fine", started_with({"actor.use_kl_loss": False, "use_kl_in_reward": True})),
    ("kl_estimator", "fault", started_with({"kl_loss_type": "low_var_kl", "use_kl_loss": True}, kl__ref=4e5)),
    ("kl_estimator", "note", started_with({"kl_loss_type": "low_var_kl", "use_kl_loss": True}, kl__ref=0.1)),
    ("kl_estimator", "fine", started_with({"kl_loss_type": "low_var_kl", "use_kl_loss": False}, kl__ref=4e5)),
    ("kl_without_effect", "fault", started_with({"kl_coef": 0.02, "advantage_estimator": "grpo"})),
    ("kl_without_effect", "fine", started_with({"kl_coef": 0.02, "advantage_estimator": "ppo"})),
    ("kl_without_effect", "fine", started_with({"kl_coef": 0.02, "advantage_estimator": "grpo", "use_kl_loss": True})),
    ("kl_without_effect", "note", started_with({"actor.kl_loss_coef": 0.02, "actor.use_kl_loss": False})),
    ("length_limit", "note", started_with({"max_completion_length": 256}, response__truncated=0.6)),
    ("length_limit", "note", started_with({"max_completion_length": 256}, response__length=250.0)),
    ("length_limit", "fine", started_with({"max_completion_length": 256}, response__truncated=0.02, response__length=90.0)),
    ("length_limit", "note", started_with({"model_name_or_path": "Qwen/Qwen3-4B", "max_completion_length": 2048})),
    ("length_limit", "fine", started_with({"model_name_or_path": "Qwen/Qwen3-4B", "max_completion_length": 16384})),
    ("length_limit", "fine", started_with({"model_name_or_path": "Qwen/Qwen3-4B-Instruct-2507", "max_completion_length": 2048})),
    ("length_limit", "fine", started_with({"model": "Qwen3-4B", "enable_thinking": False, "max_completion_length": 2048})),
    ("group_size", "fault", started_with({"rollout.n": 1, "algorithm.adv_estimator": "grpo"})),
    ("group_size", "note", started_with({"num_generations": 2})),
    ("sampling", "fault", started_with({"num_generations": 8, "repetition_penalty": 1.1})),
    ("sampling", "fine", started_with({"num_generations": 8, "repetition_penalty": 1.0})),
    ("group_size", "fine", started_with({"rollout.n": 1, "algorithm.adv_estimator": "gae"})),
    ("on_policy", "fault", started_with(VERL, ratio__clip_fraction=0.006, response__length=9.0)),
    ("on_policy", "note", started_with(VERL, ratio__clip_fraction=0.0, response__length=9.0)),
    ("on_policy", "fine", started_with({**VERL, "actor.ppo_mini_batch_size": 64}, ratio__clip_fraction=0.006, response__length=9.0)),
    ("exploration", "fault", started_with({"ent_coef": 0.5, "algo": "ppo"})),
    ("exploration", "note", started_with({"ent_coef": 0.1, "algo": "ppo"})),
    ("exploration", "note", started_with({"clip_ratio_high": 0.28, "use_kl_loss": False, "entropy_coeff": 0})),
    ("exploration", "fine", started_with({"clip_ratio_high": 0.28, "use_kl_loss": True, "entropy_coeff": 0})),
    ("exploration", "fine", started_with({"ent_coef": 0.01, "algo": "ppo"})),
    ("scales", "fault", started_with({"vf_coef": 2e-4, "algo": "ppo"})),
    ("scales", "fault", started_with({"reward_scaling": 1.0, "algo": "sac"}, value__loss=3e5)),
    ("scales", "fine", started_with({"reward_scaling": 1e-4, "algo": "sac"}, value__loss=3e5)),
    ("scales", "note", started_with({"normalize": False, "algo": "ppo"})),
    ("scales", "note", by("rllib", {"vf_clip_param": 10.0}, reward__mean=-800.0)),
    ("scales", "fault", few(by("rllib", {"vf_clip_param": 10.0}, reward__mean=-800.0))),
    ("scales", "fine", by("rllib", {"vf_clip_param": 1e5}, reward__mean=-800.0)),
    ("scales", "fine", by("rllib", {"vf_clip_param": 10.0}, reward__mean=20.0)),
    ("updates_in_all", "note", by("mlagents", {"max_steps": 1e5, "buffer_size": 10240}, reward__mean=1.0)),
    ("updates_in_all", "fault", few(by("mlagents", {"max_steps": 1e5, "buffer_size": 10240}, reward__mean=1.0))),
    ("updates_in_all", "fine", by("mlagents", {"max_steps": 5e6, "buffer_size": 10240})),
    ("updates_in_all", "not_given", by("sb3", {"max_steps": 1e5, "buffer_size": 10240})),
    (
        "reward_functions",
        "fault",
        started_with({"script.rewards.patterns": ["f: ^<think>.*</think>"], "system_prompt": "Answer the question."}),
    ),
    ("reward_functions", "fine", started_with({"script.rewards.patterns": ["f: ^<think>.*"], "system_prompt": "Think in <think> tags."})),
    ("reward_functions", "note", started_with({"script.rewards.contains": ["accuracy_reward"]})),
    ("monitor", "fault", started_with({"script.calls": ["PPO2"]}, value__loss=1.0, policy__loss=0.0, entropy__mean=0.5)),
    ("monitor", "fine", started_with({"script.calls": ["PPO2"]}, value__loss=1.0, policy__loss=0.0, reward__mean=0.5)),
    ("monitor", "fine", started_with({"script.calls": ["PPO2", "Monitor"]}, value__loss=1.0, policy__loss=0.0, entropy__mean=0.5)),
    ("engine", "note", started_with({"use_vllm": False})),
    ("engine", "note", started_with({"vllm_gpu_memory_utilization": 0.9})),
    ("engine", "fine", started_with({"use_vllm": True, "vllm_gpu_memory_utilization": 0.4})),
    ("simulator_bounds", "fault", started_with({"algorithm.clip_actions": None}, value__loss=3e8)),
    ("simulator_bounds", "note", started_with({"clip_actions": "null"}, value__loss=0.3)),
    ("simulator_bounds", "fine", started_with({"clip_actions": 100.0}, value__loss=3e8)),
    ("known_faults", "fault", started_with({"trl_version": "0.14.0"})),
    ("known_faults", "fine", started_with({"trl_version": "1.16.0"})),
    ("known_faults", "note", started_with({"use_kl_loss": True, "kl_loss_type": "low_var_kl"})),
    ("stop_rule", "note", started_with({"eval_strategy": "no"})),
    ("stop_rule", "fine", started_with({"eval_steps": 20})),
    ("staleness", "note", started_with({"max_head_offpolicyness": 16})),
    ("staleness", "fine", started_with({"max_head_offpolicyness": 0})),
    ("trainable", "fault", started_with({"trainable_params": 0})),
    ("trainable", "fault", started_with({"use_peft": True, "offload_optimizer": True}, policy__grad_norm=0.0, reward__std=0.3)),
    ("trainable", "note", started_with({"use_peft": True, "offload_optimizer": True}, policy__grad_norm=0.2, reward__std=0.3)),
    ("accumulation", "fault", started_with({"gradient_accumulation_steps": 16, "sampling_steps": 16, "num_generations": 8})),
    ("accumulation", "fine", started_with({"gradient_accumulation_steps": 128, "sampling_steps": 16, "num_generations": 8})),
    (
        "accumulation",
        "fault",
        started_with({"gradient_accumulation_steps": 1, "per_device_train_batch_size": 6, "num_processes": 2, "num_generations": 8}),
    ),
]


@pytest.mark.parametrize(("name", "outcome", "run"), CASES, ids=[f"{i}-{n}-{o}" for i, (n, o, _) in enumerate(CASES)])
def test_checks(name: str, outcome: str, run: Run) -> None:
    found = {o.pattern: o for o in checks.run(run)}[name]
    assert checks.told(found)["outcome"] == outcome, found.statement
    assert found.statement.endswith((".", ")"))
    assert outcome != "fault" or found.causes[0].tell_apart


def test_every_check_has_its_cases_and_its_page() -> None:
    assert set(checks.registered()) == {name for name, _, _ in CASES}
    for name in checks.registered():
        assert set(checks.page(name)) == {"Title", *checks.HEADINGS}


def test_nothing_given_is_no_answer() -> None:
    assert {checks.told(o)["outcome"] for o in checks.run(Run())} == {"not_given"}


def sound() -> list[Path]:
    """The runs of the repository in which nothing was changed."""
    found = []
    for corpus in sorted(CORPORA.iterdir()):
        labels = json.loads((corpus / "labels.json").read_text())
        found += [corpus / "runs" / name for name, label in labels.items() if not label["links"]]
    return found


@pytest.mark.parametrize("folder", sound(), ids=lambda p: p.name)
def test_no_fault_in_the_settings_of_sound_runs(folder: Path) -> None:
    faults = [o.statement for o in checks.proven(read_run(folder))]
    assert not faults


def test_a_key_counts_by_its_last_parts() -> None:
    told = Settings(Run(config={"actor_rollout_ref.actor.optim.lr": "1e-6", "critic.optim.lr": 1e-5, "max-grad-norm": 1}))
    given = told.given("learning_rate")
    assert given is not None
    assert (given.key, given.number) == ("actor_rollout_ref.actor.optim.lr", 1e-6)
    assert told.number("max_grad_norm") == 1
    assert all(NAMES.values())
