"""Names of an unknown framework: what is guessed, and above all what is not."""

import numpy as np
import pytest
from rl_advisor.reading.guessing import guess
from rl_advisor.run import Curve
from rl_advisor.vocabulary import words


def guessed(**values: float | list[float]) -> dict[str, str]:
    """Raw name -> guessed role of curves with these values."""
    curves = {name: Curve(name, name, "file", np.arange(4.0), np.resize(np.asarray(value, float), 4)) for name, value in values.items()}
    return {curve.raw: name for name, curve in guess(curves).items() if curve.guessed}


@pytest.mark.parametrize(
    "name",
    [
        "loss/reward_model", "reward_model_loss", "rm/reward_accuracy", "reward_margin", "chosen_reward", "rewards/rejected",
        "reward_scale", "reward_weight", "reward_lr", "learning_reward_rate", "reward_grad_norm", "reward_time", "num_rewards",
        "reward_count", "return_threshold", "return_code", "target_return", "initial_return", "best_reward", "predicted_reward",
        "eval/bleu", "bleu_score", "bert_score", "f1_score", "kl_coef", "kl_loss", "kl_target", "entropy_weight", "entropy_coef",
        "entropy_loss", "target_entropy", "neg_entropy", "policy_entropy_target", "value_loss_weight", "value_loss_coef",
        "grad_norm_clip", "critic_grad_norm", "lr_scheduler/step", "reward_model_lr", "cost_return", "Loss/Loss_cost_critic",
        "eval/episode_cost", "eval/reward_std", "eval_discounted_return", "eval_turns_on_win", "clip_ratio_low", "grad_clip_fraction",
        "completions/clip_ratio", "ppo_clipped_ratio", "success_threshold", "output_tokens_per_second", "total_tokens", "loss",
        "train_loss", "world_model_grad_norm",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_role_keeps_its_name(name: str) -> None:
    """Weights, targets, counts, models of rewards and losses are not what their words also say."""
    assert guessed(**{name: [0.5, 0.6, 0.55, 0.7]}) == {}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("episode_reward", "reward/mean"), ("Average Return", "reward/mean"), ("score", "reward/mean"), ("EpRewMean", "reward/mean"),
        ("val/success_rate", "eval/score/success_rate"), ("eval_f1", "eval/score/f1"),
        ("test/exact_match", "eval/score/exact_match"), ("test_reward", "eval/score/reward"), ("ep_len", "episode/length"),
        ("actor_loss", "policy/loss"), ("loss_critic", "value/loss"), ("policy_entropy", "entropy/mean"), ("gradNorm", "policy/grad_norm"),
        ("lr", "policy/learning_rate"), ("approx_kl", "kl/old"), ("kl_to_reference", "kl/ref"), ("clipfrac", "ratio/clip_fraction"),
        ("clipped_ratio", "response/truncated"), ("clip_ratio", "ratio/clip_fraction"),
        ("response_length/clip_ratio", "response/truncated"),
        ("completion_length", "response/length"), ("explained_variance", "value/explained_variance"),
    ],
)  # fmt: skip
def test_plain_words_are_guessed(name: str, role: str) -> None:
    """The usual words, in any spelling, are recognised."""
    assert guessed(**{name: [0.5, 0.6, 0.55, 0.7]}) == {name: role}


@pytest.mark.parametrize(
    ("name", "values"), [("success_rate", 17.0), ("clipfrac", 1.5), ("explained_variance", 3.0), ("ep_len", -4.0), ("lr", 50.0)]
)
def test_numbers_out_of_range_speak_against_a_name(name: str, values: float) -> None:
    """A share above 1 is none, whatever it is called."""
    assert guessed(**{name: values}) == {}


def test_of_two_equal_names_none_is_taken() -> None:
    """Two agents: nobody can say whose reward is meant. The total loss is named only beside a reward."""
    assert guessed(agent_0_reward=1.0, agent_1_reward=2.0, loss=0.1) == {}
    assert guessed(reward=1.0, loss=0.1) == {"reward": "reward/mean", "loss": "policy/total_loss"}


@pytest.mark.parametrize(("beside", "read"), [({}, True), ({"episode_length": 9.0}, False), ({"joint_velocity": 0.4}, False)])
def test_a_distance_beside_an_accuracy_is_the_margin_of_a_reward_model(beside: dict[str, float], read: bool) -> None:
    """Its trainers write acc and dist; a robot has accelerations and distances."""
    found = guessed(loss=0.6, acc=0.7, dist=0.4, **beside)
    assert (found.get("acc"), found.get("dist")) == (("pairs/accuracy", "pairs/margin") if read else (None, None))


@pytest.mark.parametrize(
    ("unit", "other", "found"), [("steps", "label", {}), ("epochs", "loss", {}), ("episodes", "label", {"score": "reward/mean"})]
)
def test_a_bare_score_is_anybodys(unit: str, other: str, found: dict[str, str]) -> None:
    """Rows of samples and classifiers have scores, too: only beside episodes, or words of reinforcement learning, it is an outcome."""
    curves = {name: Curve(name, name, "file", np.arange(3.0), np.array([0.1, 0.4, 0.2])) for name in ("score", other)}
    assert {c.raw: name for name, c in guess(curves, (), unit).items() if c.guessed} == found
    curves["policy_entropy"] = Curve("policy_entropy", "policy_entropy", "file", np.arange(3.0), np.ones(3))
    assert "reward/mean" in guess(curves, (), unit)


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (("kl", "reward", "response_tokens"), "kl/ref"),
        (("kl_avg", "format_reward"), "kl/ref"),
        (("mean_kl", "episode_return", "value_loss"), "kl/old"),
        (("kl", "reward"), None),
        (("kl", "episode_return", "response_tokens"), None),
    ],
)
def test_a_kl_that_does_not_say_to_what(names, role) -> None:
    """What else is logged tells what kind of trainer wrote it; where nothing does, it stays without a role."""
    curves = {n: Curve(n, n, "x", np.arange(9.0), np.linspace(0, 0.2, 9)) for n in names}
    found = [name for name, c in guess(curves).items() if c.raw == names[0]]
    assert found == [role or names[0]]


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("gold", "proxy"), {"gold": "eval/score/gold", "proxy": "reward/mean"}),
        (("true_return", "proxy_return"), {"true_return": "eval/score/true_return", "proxy_return": "reward/mean"}),
        (("reward", "gold_reward"), {"reward": "reward/mean", "gold_reward": "eval/score/gold_reward"}),
        (("rm_score", "oracle_score"), {"rm_score": "reward/mean", "oracle_score": "eval/score/oracle_score"}),
        (("true_positive", "reward"), {"reward": "reward/mean"}),
        (("gold", "wood", "reward_scale"), {}),
        (("gold", "pred", "reward"), {"reward": "reward/mean"}),
    ],
)
def test_a_true_score_beside_what_is_paid_judges_it(names: tuple[str, ...], roles: dict[str, str]) -> None:
    """Of a truth and its proxy the first is the score and the second the reward; one without the other is neither."""
    assert guessed(**{name: [0.5, 0.6, 0.55, 0.7] for name in names}) == roles


def test_names_in_other_languages_mean_what_the_english_ones_mean():
    """Whole words of languages with blanks, words inside of others without; no English name is turned."""
    said = {
        "Mittlere Belohnung": "mean reward",
        "récompense moyenne": "reward mean",
        "平均奖励": "mean reward",
        "测试成功率": "test success rate",
        "策略损失": "policy loss",
        "награда": "reward",
        "エピソード報酬": "episode reward",
        "에피소드 보상": "episode reward",
        "lauffen/moyers": "lauffen moyers",
        "rewardMean": "reward mean",
    }
    assert {name: words(name) for name in said} == said
