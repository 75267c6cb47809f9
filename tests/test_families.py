"""Logs of every kind of training in its trainers' own names: what broke is named, nothing that is no outcome is taken for one."""

import json
import re
from collections.abc import Mapping

import numpy as np
import pytest
from rl_advisor.answers.story.telling import tell
from rl_advisor.curves import outcomes
from rl_advisor.curves.task import task
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.usual_steps import usual_step
from rl_advisor.judgement.verdict import judge
from rl_advisor.reading import read_run
from rl_advisor.tools import explain_log
from rl_advisor.tools.advisors.builtin import of_case

N = 60
LINE = np.linspace(0, 1, N)
UP, NOISE = (1 - np.exp(-3 * LINE)) / (1 - np.exp(-3)), np.random.default_rng(8).normal(0, 0.01, N)
LATE = np.maximum(LINE - 0.5, 0) * 2
NO_OUTCOME = re.compile(r"(?i)margin|advantage|(?<!-)\bloss|kl|chosen|reject")
RATE = {"lr": 1e-5 * (1 - LINE) + 1e-9}
ACCURACY = {"acc": 0.5 + 0.3 * UP + NOISE}
PAIRS = {
    "rewards/chosen": -1.3 * UP + NOISE,
    "rewards/rejected": -2.4 * UP,
    "logps/chosen": -200 - 9 * UP,
    "logps/rejected": -220 - 20 * UP,
}
ODDS = {
    "rewards/accuracies": 0.5 + 0.3 * UP + NOISE,
    "log_odds_ratio": -0.7 + 0.3 * UP,
    "logps/chosen": -1 - UP,
    "logps/rejected": -1 - 3 * UP,
}

ROWS = [
    # Curves, configuration, kind, what broke (None: nothing that it names), the outcome by its raw name.
    (
        {"loss": 0.7 - 0.3 * UP, **ACCURACY, "chosen_reward": -3 * UP, "reject_reward": -5 * UP},
        {}, "preference", "likelihood_displacement", "acc",
    ),
    ({"loss": 0.7 - 0.3 * UP, **ACCURACY, "chosen_reward": 2 - 3 * UP, "reject_reward": -5 * UP}, {}, "preference", None, "acc"),
    (
        {"train_loss": 0.7 - 0.2 * UP, **PAIRS, "rewards/margin": 1.1 * UP, "rewards/accuracy": 0.5 + 0.25 * UP, "rewards/average": -UP},
        {}, "preference", "likelihood_displacement", "rewards/accuracy",
    ),
    (
        {"loss": 2 - 0.4 * UP, "nll_loss": 1.5 + 3 * UP, **ODDS},
        {"loss_type": "orpo"}, "preference", "preferred_answers_unlearned", "rewards/accuracies",
    ),
    ({"loss": 2 - 0.4 * UP, "nll_loss": 1.5 - 0.4 * UP, **ODDS}, {"loss_type": "orpo"}, "preference", None, "rewards/accuracies"),
    (
        {"loss": 0.7 - 0.6 * UP, "rewards/accuracies": 0.5 + 0.4 * UP + NOISE, "eval_loss": 0.65 + 0.3 * UP, **PAIRS},
        {"beta": 0.1}, "preference", "held_loss_rises", "rewards/accuracies",
    ),
    (
        {"loss": 0.7 - 0.2 * UP, **PAIRS, "rewards/margins": 1.1 * UP, "kl": UP},
        {"trainer": "KTOTrainer"}, "preference", "likelihood_displacement", None,
    ),
    ({"loss": 1.6 - 0.4 * UP + 9 * LATE, **RATE}, {}, "supervised", "training_loss_climbs", None),
    ({"loss": 1.6 - 0.4 * UP + NOISE, **RATE}, {}, "supervised", None, None),
    ({"actor/distillation/reverse_kl": 0.6 - 0.5 * UP, "actor/entropy": 0.6 - 0.1 * UP}, {}, "distillation", None, None),
    ({"gpt_loss": 1.5 - 0.4 * UP, "distil_loss": 1.1 - 0.7 * UP, **RATE}, {}, "distillation", None, None),
    (
        {"reward_mean": 5 + UP + NOISE, "approx_kl": 1e-4 + 0 * UP},
        {"pretrained.model": "org/stable-diffusion-v1-5"}, "diffusion", None, "reward_mean",
    ),
    (
        {"reward_avg": 0.5 + 0.4 * UP, "eval_reward_ocr": 0.5 + 0.4 * UP + NOISE, "eval_reward_aesthetic": 5.4 - 1.2 * UP + NOISE},
        {"algorithm": "flow_grpo"}, "diffusion", "quality_given_up", "eval_reward_ocr",
    ),
    ({"mean_fitness": 40 * UP + NOISE, "best_fitness": 50 * UP, "std_fitness": 5 + NOISE}, {}, "evolution", None, "mean_fitness"),
    ({"cumulative_regret": 900 * LINE, "avg_reward": 0.4 + NOISE}, {"algorithm": "ucb1"}, "bandit", None, "avg_reward"),
    (
        {"d4rl_normalized_score": 40 * UP * (1 - LATE) + NOISE, "average_qf1": np.exp(3 + 7 * LATE), "qf1_loss": np.exp(2 + 9 * LATE)},
        {}, "offline", "value_divergence", "d4rl_normalized_score",
    ),
    (
        {"evaluation/target_3600_return_mean": 300 + 2000 * UP, "training/action_error": 0.2 - 0.1 * UP},
        {}, "offline", None, "evaluation/target_3600_return_mean",
    ),
    (
        {"episode/score": 12 + 100 * NOISE, "train/loss/image": 900 - 800 * UP + np.exp(12 * LATE) - 1, "train/loss/dyn": 20 - 15 * UP},
        {}, "world_model", "world_model_breaks", "episode/score",
    ),
    (
        {"episode/score": 12 + 700 * UP, "train/loss/image": 900 - 800 * UP, "train/loss/dyn": 20 - 15 * UP},
        {}, "world_model", None, "episode/score",
    ),
    (
        {"incre_win_rate": np.clip(UP + NOISE, 0, 1), "dist_entropy": 2 - UP, "value_loss": 0.4 - 0.3 * UP},
        {"algorithm_name": "rmappo"}, "several_agents", None, "incre_win_rate",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("curves", "config", "kind", "broke", "outcome"), ROWS)
def test_each_kind_is_judged_as_what_it_is(tmp_path, curves: Mapping[str, np.ndarray], config, kind: str, broke, outcome) -> None:
    """The kind, what broke first, and the outcome; a margin, an advantage, a loss or a KL is none."""
    rows = [",".join(["step", *curves]), *(",".join(f"{v:.6g}" for v in row) for row in zip(range(N), *curves.values(), strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    (tmp_path / "config.json").write_text(json.dumps(config))
    case = open_case(read_run(tmp_path))
    judged, found = judge(case), outcomes.outcome(case.run)
    assert (task(case.run).kind, found.raw if found else None) == (kind, outcome)
    assert found is None or not NO_OUTCOME.search(found.raw)
    assert (judged.cause.pattern if judged.cause and broke else None) == broke
    assert broke or not case.present(*BREAKS)
    said = of_case(case)
    assert tell(case.run, said)["facts"]


BREAKS = tuple({row[3] for row in ROWS if row[3]})


def test_what_has_no_outcome_is_told_by_what_moved(tmp_path) -> None:
    """Of distillation without a score the divergence from its teacher is told, and by what to judge it instead."""
    curves = {"actor/distillation/reverse_kl": 0.6 - 0.5 * UP, "actor/entropy": 0.6 - 0.1 * UP}
    rows = [",".join(["step", *curves]), *(",".join(f"{v:.6g}" for v in row) for row in zip(range(N), *curves.values(), strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    said = usual_step(open_case(read_run(tmp_path)), "undecidable", "undecided").do
    assert "reverse_kl went from about 0.6 to 0.1" in said
    assert "not by how near it comes to the teacher" in said


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ({"mean_fitness": 200 * UP - 190 * LATE + NOISE, "best_fitness": 240 * UP}, "half the mutation"),
        ({"optimal_arm_rate": UP - 0.9 * LATE + NOISE, "cumulative_regret": 90 * LINE}, "more exploration"),
    ],
)
def test_what_has_no_learning_rate_is_told_of_none(tmp_path, curves, said: str) -> None:
    """After a fall a population is told of its mutation and a bandit of its exploration."""
    rows = [",".join(["step", *curves]), *(",".join(f"{v:.6g}" for v in row) for row in zip(range(N), *curves.values(), strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    step = usual_step(open_case(read_run(tmp_path)), "collapsed", "stop").do
    assert said in step
    assert "learning rate" not in step


PAIRS_ROW = "{{'loss': 0.48, 'learning_rate': {}, 'rewards/chosen': 0.3, 'rewards/rejected': -0.8, 'rewards/accuracies': 0.75}}"
FACTORY = '{{"current_steps": {0}0, "total_steps": 90, "loss": 0.5{0}, "accuracy": 0.7{0}, "lr": 1e-06, "percentage": 9{0}.0}}'


@pytest.mark.parametrize(
    ("rows", "said", "unsaid"),
    [
        # The last rows of a schedule are small and no fault; a rate that stands there is one.
        ([PAIRS_ROW.format(rate) for rate in ("7e-10", "3e-10", "0.0")], "goes one way", "is not usual"),
        ([PAIRS_ROW.format("1e-10")] * 3, "is not usual", "goes one way"),
        # A loss beside the share of pairs told apart is that of pairs, not of a policy whose advantages add up to nothing.
        ([FACTORY.format(i) for i in (7, 8, 9)], "preference training", "GRPO"),
    ],
)
def test_pasted_rows_are_asked_what_they_are(rows, said: str, unsaid: str) -> None:
    """What is trained decides what a number means in three pasted rows as well."""
    told = json.dumps(explain_log("\n".join(rows), "is this normal?"))
    assert said in told
    assert unsaid not in told
