"""What everybody knows of a task by name, a pace in a bar of progress, and the parts that cost most."""

import pytest
from rl_advisor import tools
from rl_advisor.answers.explain.told import settings_said


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("my LunarLander-v2 agent", "lunar-lander"),
        ("I run it on the Lunar Lander", "lunar-lander"),
        ("PongNoFrameskip-v4", "pong"),
        ("CartPole-v0", "cart-pole-v0"),
        ("CartPole-v1", "cart-pole-v1"),
        ("Ant-v4", "ant-v"),
        ("I want an important variant", None),
        ("the response spongy", None),
    ],
)
def test_a_task_is_known_by_its_name(text: str, task: str | None) -> None:
    assert settings_said(text).get("named_task") == task


@pytest.mark.parametrize(
    ("returns", "said"),
    [
        ((-190, -240, -170), "so far nothing is learned"),
        ((-100, 10, 60), "of the way"),
        ((150, 220, 240), "this is solved"),
    ],
)
def test_a_return_is_placed_in_its_task(returns, said: str) -> None:
    rows = "".join(f"episode {i} reward {r}\n" for i, r in enumerate(returns, 1))
    assert said in tools.explain_log(rows, "does my LunarLander agent converge?")["summary"]
    assert said not in tools.explain_log(rows, "does my agent converge?")["summary"]


def test_more_than_a_task_can_pay_is_counted_otherwise() -> None:
    assert "counted otherwise" in tools.explain_log("ep_rew_mean: 320\nep_len_mean: 200\n", "CartPole-v0: does it learn?")["summary"]
    assert "counted otherwise" not in tools.explain_log("ep_rew_mean: 200\nep_len_mean: 200\n", "CartPole-v0: does it learn?")["summary"]


def test_a_step_that_pays_one() -> None:
    rows = "Epoch #{}: env_step={}, len={}, rew={}\n"
    alike = "".join(rows.format(i, 100 * i, 9.5 + i, 9.5 + i) for i in (1, 2))
    apart = "".join(rows.format(i, 100 * i, 9.5 + i, 30.5 + i) for i in (1, 2))
    assert "every step pays 1" in str(tools.explain_log(alike))
    assert "every step pays 1" not in str(tools.explain_log(apart))


@pytest.mark.parametrize(
    ("line", "seconds"),
    [("3/900 [10:00<49:30:00, 199.3s/it]", "199"), ("it takes 45 seconds per step", "45"), ("3/900 [00:10<01:00, 3.1it/s]", None)],
)
def test_a_pace_is_a_time(line: str, seconds: str | None) -> None:
    said = tools.explain_log(f"GRPO: {line}", "why is it so slow?")["summary"]
    assert (f"A step takes {seconds}" in said) == (seconds is not None)


PAIRS = "{{'loss': {}, 'grad_norm': {}, 'rewards/chosen': {}, 'rewards/rejected': {}, 'rewards/margins': {}, 'epoch': 0.0{}}}\n"


@pytest.mark.parametrize(("norm", "said"), [("31.2", True), ("nan", False)])
def test_nan_of_pairs_beside_a_finite_gradient_is_a_mean_over_nothing(norm: str, said: bool) -> None:
    rows = PAIRS.format(1.0, 30.1, 0.0, 0.0, 0.0, 1) + PAIRS.format("nan", norm, 0.1, "nan", "nan", 2)
    assert ("mean over nothing" in tools.explain_log(rows, "why nan?")["summary"]) is said


@pytest.mark.parametrize(("chosen", "said"), [(7.5, True), (0.02, False)])
def test_pairs_start_at_the_reference(chosen: float, said: bool) -> None:
    rows = PAIRS.format(0.5, 3.0, chosen, 0.1, 0.1, 0) + PAIRS.format(0.6, 3.1, chosen, 0.2, 0.1, 1)
    assert ("in the first row, where policy and reference" in tools.explain_log(rows)["summary"]) is said


def test_alpha_is_a_temperature_where_a_text_speaks_of_one() -> None:
    assert "entropy_coef" not in str(tools.explain_log("python main.py --agent.alpha=10, is that expected?"))
    assert [m["metric"] for m in tools.explain_log("SAC: alpha is 10, is that expected?")["metrics"]] == ["entropy/coef"]


def test_a_key_of_the_line_before_is_no_part_of_a_name() -> None:
    told = tools.explain_log("GRPO\nuse_reentrant: false\nlearning_rate: 3.0e-05\nmodel: Qwen2.5-1.5B", "why does the reward not rise?")
    assert told["metrics"][0]["name"] == "learning_rate"
    assert "`learning_rate` = 1e-6" in told["summary"]


def test_a_result_in_yaml_is_no_configuration() -> None:
    text = (
        "episode_reward_mean: -80.5\nepisode_len_mean: 51.0\ninfo:\n  default:\n    kl: 0.01\n    vf_loss: 30.2\n    policy_loss: -0.01\n"
    )
    assert {"reward/mean", "value/loss"} <= {m["metric"] for m in tools.explain_log(text)["metrics"]}


@pytest.mark.parametrize(("explained", "said"), [("6.1e-08", True), ("0.2", False)])
def test_a_critic_that_predicts_one_value_is_blind(explained: str, said: bool) -> None:
    text = f"PPO with stable-baselines3: the explained_variance is {explained} throughout. Has it converged?"
    assert ("predicts the same for every state" in tools.explain_log(text)["summary"]) is said


@pytest.mark.parametrize(("entropy", "said"), [((2.5, 0.4), True), ((0.4, 2.5), False)])
def test_a_reward_with_a_bonus_in_it_falls_with_the_entropy(entropy, said: bool) -> None:
    rows = "avg_rewards: {}\nentropy: {}\nexplained_variance: {}\nalpha_loss: -9.0\nepoch: {}\n\n"
    text = rows.format(90.5, entropy[0], -0.001, 0) + rows.format(-4.5, entropy[1], 0.8, 900)
    assert ("holds the entropy bonus" in str(tools.explain_log(text, "why does the reward get smaller?"))) is said


@pytest.mark.parametrize(
    ("rewards", "said"), [((-70.1, -70.9, -69.8, -70.3), True), ((4.1, 17.0, 16.2, 15.1, 4.4), False), ((0.1, 0.2, 0.4), False)]
)
def test_rows_that_differ_by_chance_show_no_direction(rewards, said: bool) -> None:
    rows = "".join(f"iteration {i} mean_reward {r}\n" for i, r in enumerate(rewards, 1))
    assert ("no direction shows" in tools.explain_log(rows, "is my agent learning?")["summary"]) is said


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("Early stopping at step 4 due to reaching max kl: 0.03", True),
        ("are there hyperparameters to avoid this, e.g. stronger KL regularization, early stopping, or a smaller budget?", False),
    ],
)
def test_a_warning_is_what_a_trainer_prints(text: str, warned: bool) -> None:
    assert ("the KL of the update passed its bound" in str(tools.explain_log(text))) is warned


def test_a_count_of_steps_is_no_kl() -> None:
    told = tools.explain_log(
        "init_kl_coef: 0.2\nlearning_rate: 1e-5\n", "after step 17 the model lowers the kl, how do I raise the reward?"
    )
    assert "kl 17" not in told["summary"]
