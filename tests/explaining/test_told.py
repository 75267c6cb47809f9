"""Numbers that stand in sentences: what is taken for a metric, and above all what is not."""

import numpy as np
import pytest
from rl_advisor.answers.explain import explain_run
from rl_advisor.answers.explain.pasted import run_of
from rl_advisor.answers.explain.told import settings_said, told_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my critic loss goes to 1e9 and ent_coef goes to 3000", {"value/loss": [1e9], "entropy/coef": [3000.0]}),
        ("the reward dropped suddenly from 0.8 to 0.1.", {"reward/mean": [0.8, 0.1]}),
        ("|    critic_loss     | 2.31e+09 |\n|    ep_rew_mean     | 101      |", {"value/loss": [2.31e9], "reward/mean": [101.0]}),
        ("The KL divergence is around 12 for long completions", {"kl/ref": [12.0]}),
        ("the policy entropy drops to 0.02, lr = 3e-4", {"entropy/mean": [0.02], "policy/learning_rate": [3e-4]}),
        ("mean reward stuck at -200 for 2M steps", {"reward/mean": [-200.0]}),
        ("GSM8K test accuracy drops from 61% to 48%", {"eval/score/GSM8K test accuracy": [0.61, 0.48]}),
        ("the reward is 0.8 now; the reward then drops from 0.8 to 0.1", {"reward/mean": [0.8, 0.1]}),
        ("value loss is nan", {"value/loss": [np.nan]}),
        ("I use Qwen2.5-7B on 8 GPUs with 2 reward functions for 5 epochs", {}),
        ("after step 300 of 1000, with max length 1024 and seed 7", {}),
        ("see section 3.2 of the paper, issue 1234", {}),
        ("entropy, then some 40 words later the number 3", {}),
    ],
)
def test_what_a_sentence_gives(text: str, expected: dict[str, list[float]]) -> None:
    """Metrics with their numbers, two where it says from what to what; versions, counts and limits are none."""
    found = {name: curve.value.tolist() for name, curve in told_in(text).items()}
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], values, equal_nan=True) for name, values in expected.items())


def test_what_was_logged_goes_before_what_is_told() -> None:
    """A sentence adds what no row has; a tail of a logged name is that name."""
    text = "my clip_ratio is 0.9 and the kl loss is 3, why?\n" + "step:131 - " + " - ".join(
        f"{name}:{value}"
        for name, value in {
            "actor/pg_loss": 0.1, "actor/entropy_loss": 1.0, "critic/score/mean": 0.2, "response_length/clip_ratio": 0.9,
            "response_length/mean": 900.0, "actor/grad_norm": 1.0,
        }.items()
    )  # fmt: skip
    curves = run_of(text).curves
    assert "ratio/clip_fraction" not in curves
    assert curves["response/truncated"].value.tolist() == [0.9]


@pytest.mark.parametrize(
    ("text", "link", "says"),
    [
        (
            "GRPO: reward rises from 0.2 to 0.9 but test accuracy drops from 61% to 48%. Hacking?",
            "reward_signal",
            "no longer what is wanted",
        ),
        (
            "GRPO: reward rises from 0.2 to 0.9 and test accuracy goes from 48% to 61%",
            None,
            "Not judged, because the level depends on the task",
        ),
        ("PPO: my mean reward fell from 310 to 12", "policy_update", "keep the last checkpoint"),
        ("PPO: my mean reward fell from 310 to 290", None, "Not judged, because the level depends on the task"),
        ("SAC: critic loss goes to 1e9 and ent_coef goes to 3000", "reward_signal", "chases targets"),
    ],
)
def test_a_question_without_a_log_is_answered(text: str, link: str | None, says: str) -> None:
    """What somebody tells is weighed as told: a fall and a parting are named, a rise and a small step are not."""
    answer = explain_run(run_of(text), text)
    assert says in answer["summary"]
    assert [cause["link"] for cause in answer["causes"][:1]] == ([link] if link else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("GRPO on Qwen2.5-7B-Instruct, full fine-tuning", {"algorithm": "grpo", "model": "Qwen2.5-7B-Instruct", "weights": "full"}),
        ("PPO with LoRA on llama 8B", {"algorithm": "ppo", "model": "8B", "weights": "LoRA"}),
        ("PPO without LoRA, batches of 8B tokens at full speed", {"algorithm": "ppo"}),
    ],
)
def test_settings_that_stand_in_a_sentence(text: str, said: dict[str, str]) -> None:
    assert settings_said(text) == said


@pytest.mark.parametrize(
    ("text", "reward"),
    [("the reward fell at 500000 steps", None), ("episode 5 reward 12 steps 200", [12.0]), ("reward is 12 steps: 200", [12.0])],
)
def test_what_a_number_counts_is_no_value(text: str, reward: list[float] | None) -> None:
    told = told_in(text).get("reward/mean")
    assert (None if told is None else told.value.tolist()) == reward


def test_a_fault_is_said_before_a_procedure() -> None:
    """A setting that is wrong beside a question that has a procedure."""
    text = "My GRPO reward does not increase, why?\nnum_generations: 1\nper_device_train_batch_size: 4\nlearning_rate: 1e-6\nbeta: 0.04\n"
    answer = explain_run(run_of(text), text)
    assert answer["steps"]
    assert "num_generations" in answer["summary"]
