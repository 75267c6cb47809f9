"""Logs of a shape that was misjudged once, with other numbers: what is said of each now, from the file to the next experiment."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.judgement.case import open_case
from rl_advisor.reading import read_run
from rl_advisor.tools import explain_log
from rl_advisor.tools.advisors.builtin import of_case

Row = Mapping[str, float]
RNG = np.random.default_rng(4)


def near(middle: float, share: float = 0.04) -> float:
    return float(middle * (1 + share * RNG.standard_normal()))


def grpo(t: float) -> dict[str, float]:
    """A row of a GRPO run that learns."""
    return {
        "loss": near(0.001), "grad_norm": near(0.3), "learning_rate": 1e-6, "reward": near(0.3 + 0.4 * t), "reward_std": near(0.3),
        "kl": near(0.02 + 0.05 * t), "entropy": near(0.6), "completions/mean_length": near(300), "completions/clipped_ratio": near(0.02),
    }  # fmt: skip


def ppo(_: float) -> dict[str, float]:
    """A row of a control run that never learns."""
    return {
        "rollout/ep_rew_mean": near(-200), "rollout/ep_len_mean": 200.0, "train/value_loss": near(50), "train/approx_kl": near(0.8),
        "train/explained_variance": near(0.01), "train/clip_fraction": near(0.6), "train/entropy_loss": -0.01, "train/learning_rate": 0.3,
    }  # fmt: skip


def dpo(t: float) -> dict[str, float]:
    """A row of a DPO run in order."""
    return {
        "loss": near(0.69 - 0.4 * t, 0.01), "grad_norm": near(3), "learning_rate": 5e-7, "rewards/chosen": 0.5 * t,
        "rewards/rejected": -0.8 * t,
        "rewards/margins": near(1.3 * t), "rewards/accuracies": near(0.5 + 0.35 * min(1, 2 * t)), "logps/chosen": near(-200 + 5 * t, 0.005),
        "logps/rejected": near(-220 - 8 * t, 0.005), "epoch": t,
    }  # fmt: skip


def warmed(t: float) -> Row:
    return grpo(t) | {"learning_rate": 1e-6 * min(1, t / 0.1) * (1 - 0.95 * max(0, t - 0.1))}


def unearned(t: float) -> Row:
    return grpo(t) | {"rewards/answer_reward/mean": abs(near(0.008)), "rewards/format_reward/mean": near(0.4 + 0.5 * t)}


def growing(t: float) -> Row:
    size = 10 ** (3 * t)
    healthy = {
        "train/explained_variance": near(0.8),
        "train/approx_kl": near(0.01),
        "train/clip_fraction": near(0.1),
        "train/entropy_loss": -1.0,
    }
    return healthy | {"rollout/ep_rew_mean": near(10 * size), "train/value_loss": near(5 * size**2), "rollout/ep_len_mean": 200 + 800 * t}


def unpenalised(t: float) -> Row:
    fallen = near(0.3 + 0.3 * t - 0.5 * max(0, t - 0.6))
    kl = {"actor/kl_coef": 0.2 * 10 ** (-18 * t), "actor/kl_loss": near(0.01 * 10 ** (2.5 * t)), "actor/entropy": near(0.6 + 0.4 * t)}
    return kl | {"critic/score/mean": fallen, "actor/grad_norm": near(0.3), "response_length/mean": near(300)}


def remeasured(t: float) -> Row:
    return grpo(t) | ({"eval/accuracy": near(0.64 if t < 0.55 else 0.33, 0.02)} if round(120 * t) % 5 == 0 else {})


def stale(t: float) -> Row:
    return {"reward": near(100 + 900 * t), "policy_loss": near(0.01), "value_loss": near(5), "staleness": near(6), "entropy": 1.5 - 0.5 * t}


def displaced(t: float) -> Row:
    return dpo(t) | {"rewards/chosen": near(-1.3 * t), "rewards/rejected": near(-2.7 * t), "rewards/margins": near(1.4 * t)}


def untaught(t: float) -> Row:
    still = {name: float(0.002 * RNG.standard_normal()) for name in ("rewards/chosen", "rewards/rejected", "rewards/margins")}
    return dpo(t) | still | {"loss": near(0.693, 0.001), "rewards/accuracies": near(0.5)}


def memorised(t: float) -> Row:
    known = min(1, 8 * t)
    return dpo(t) | {"loss": 0.001 + 0.69 * np.exp(-30 * t), "rewards/margins": near(11 * known), "rewards/accuracies": min(1, 0.5 + 5 * t)}


def forgotten(t: float) -> Row:
    return dpo(t) | {"rewards/chosen": -2 * t, "rewards/margins": near(24 * t), "logps/chosen": near(-200 - 90 * t, 0.005)}


def homemade(t: float) -> Row:
    parts = {"rewards/r1_accuracy/mean": near(0.5 + 0.4 * t), "rewards/r2_format/mean": 0.0}
    return parts | {"reward": near(0.5 + 0.4 * t), "reward_std": near(0.3), "kl": 0.02 * t, "loss": near(0.001)}


def advantageless(_: float) -> Row:
    none = {"critic/advantages/max": 0.0, "critic/advantages/min": 0.0, "critic/advantages/mean": 0.0, "actor/grad_norm": 0.0}
    return none | {"critic/score/mean": near(0.9, 0.004), "actor/entropy": near(0.6), "actor/lr": 1e-6, "response_length/mean": near(300)}


def unbound(t: float) -> Row:
    kl = {"kl_coef": 0.1 * 10 ** (-18 * t), "kl": 0.01 * 10 ** (2.3 * t), "response_length": near(300)}
    return kl | {"reward": near(0.3 + 0.4 * min(t, 0.6) / 0.6 - 1.2 * max(0, t - 0.6), 0.02), "policy_loss": near(0.01)}


def toolless(t: float) -> Row:
    return grpo(t) | {"tools/call_frequency": max(0.0, 1.6 - 2.6 * t)}


def unclipped(t: float) -> Row:
    return grpo(t) | {"reward": near(0.3 + t - 2.6 * max(0, t - 0.5)), "grad_norm": near(0.05), "max_grad_norm": 1.0}


def one_pass(t: float) -> Row:
    return grpo(t) | {"epoch": 1.1 * t, "eval/accuracy": near(0.5 + 0.1 * t, 0.01)}


LOGS: tuple[tuple[Callable[[float], Row], str, str, str], ...] = (
    (warmed, "", "learning_rate_jump", ""),
    (unearned, "dead_reward_part", "", "by this part alone"),
    (growing, "", "value_divergence", ""),
    (ppo, "setting_out_of_range", "", "= 3e-4 (now 0.3)"),
    (unpenalised, "kl_penalty_gone", "", ""),
    (remeasured, "eval_protocol_change", "", "protocol"),
    (stale, "", "stale_data", ""),
    (dpo, "", "likelihood_displacement", ""),
    (dpo, "", "reference_forgotten", ""),
    (displaced, "likelihood_displacement", "", "rpo_alpha"),
    (untaught, "pairs_not_told_apart", "", "fifty pairs"),
    (memorised, "pairs_memorised", "", "held-out pairs"),
    (forgotten, "reference_forgotten", "", "beta"),
    (homemade, "dead_reward_part", "", "r2_format"),
    (advantageless, "zero_variance_groups", "", "same reward"),
    (unbound, "kl_penalty_gone", "", "weight of the penalty"),
    (toolless, "", "tools_given_up", ""),
    (unclipped, "decline", "gradient_spikes", "learning rate"),
    (one_pass, "", "memorised_data", ""),
)
"""A log, what is present in it, what is not, and words of the next experiment."""


@pytest.mark.parametrize(("row", "there", "gone", "do"), LOGS, ids=[f"{i}-{log[0].__name__}" for i, log in enumerate(LOGS)])
def test_what_was_misjudged_once(tmp_path: Path, row: Callable[[float], Row], there: str, gone: str, do: str) -> None:
    """The pattern that was missed is there, the one that was invented is not, and the next step says what to set or to look at."""
    lines = [json.dumps({"step": i, **row(i / 120)}) for i in range(120)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    case = open_case(read_run(tmp_path))
    said = of_case(case)
    assert not there or case.present(there)
    assert not gone or not case.present(gone)
    assert do in said.next_experiment.do
    if row in (warmed, growing, stale):
        assert (said.verdict, said.first_broken_link) == ("improving", "none")
    if row in (displaced, untaught, forgotten):
        assert said.verdict != "improving"
    assert any("tool_calls went from" in odd for odd in said.at_odds) is (row is toolless)
    assert "max_grad_norm" not in said.next_experiment.do


@pytest.mark.parametrize(("name", "verdict"), [("avg_reward_all", "collapsed"), ("avg_reward", "degrading")])
def test_a_mean_over_all_episodes_so_far_hides_no_fall(tmp_path: Path, name: str, verdict: str) -> None:
    """What each episode adds to it is judged, where the name says that it is such a mean; a mean of the last few stays as it is."""
    single = [200 * min(1, i / 50) * (1 if i < 60 else max(0.1, 1 - (i - 60) / 40)) for i in range(1, 120)]
    mean = np.cumsum(single) / np.arange(1, 120)
    (tmp_path / "train.log").write_text("\n".join(f"Episode {i} {name} {m:.2f} epsilon {1 / i:.2f}" for i, m in enumerate(mean, 1)))
    assert of_case(open_case(read_run(tmp_path))).verdict == verdict


def test_an_error_that_the_log_outlives_did_not_stop_it() -> None:
    """A traceback with rows behind it is no end; one that is the last word is."""
    row = "{{'loss': 0.0{0}, 'reward': 0.3{0}, 'kl': 0.01, 'step': {0}}}"
    died = [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "torch.distributed.DistBackendError: NCCL error",
    ]
    first, last = [row.format(i) for i in range(1, 6)], [row.format(i) for i in range(6, 10)]
    assert "crash" in explain_log("\n".join([*first, *died]), "")
    assert "crash" not in explain_log("\n".join([*first, *died, *last]), "")
