"""What is trained is told by what speaks for it, and a margin, an advantage or a loss is never taken for what is to grow."""

import json
import re

import numpy as np
import pytest
from rl_advisor.answers.story.telling import tell
from rl_advisor.curves import outcomes
from rl_advisor.curves.task import task
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.usual_steps import usual_step
from rl_advisor.judgement.verdict import judge
from rl_advisor.reading import read_run
from rl_advisor.settings import checks
from rl_advisor.tools.advisors.builtin import of_case

N = 60
SCORES = {"accuracy": np.linspace(0.5, 0.8, N), "margin": np.linspace(0, 1, N), "chosen_score": np.ones(N), "rejected_score": -np.ones(N)}
UP, DOWN = np.linspace(0, 1, N), np.linspace(1, 0, N)
NOISE = np.random.default_rng(3).normal(0, 0.01, N)
PAIRS = {
    "loss": 0.69 - 0.3 * UP, "rewards/chosen": -1.2 * UP + NOISE, "rewards/rejected": -2.5 * UP, "rewards/margins": 1.3 * UP,
    "rewards/accuracies": 0.5 + 0.3 * UP + NOISE, "logps/chosen": -130 - 12 * UP, "logps/rejected": -140 - 25 * UP, "grad_norm": 1 + NOISE,
}  # fmt: skip
SFT = {"loss": 2 - UP, "eval_loss": 2.1 - UP, "mean_token_accuracy": 0.5 + 0.2 * UP, "entropy": 1.5 - UP, "learning_rate": 1e-5 * DOWN}
KINDS = [
    (PAIRS, {}, "preference", "rewards/accuracies"),
    ({k: v for k, v in PAIRS.items() if k != "rewards/accuracies"}, {}, "preference", None),
    ({f"history/{k}": v for k, v in PAIRS.items()}, {}, "preference", "history/rewards/accuracies"),
    (SFT, {}, "supervised", "-eval_loss"),
    ({k: v for k, v in SFT.items() if k != "eval_loss"}, {}, "supervised", None),
    ({"total_losses": DOWN, "value_losses": DOWN / 2}, {"games_played": 400}, "control", None),
    ({"loss": 0.7 - UP / 3, "positive_score": UP, "negative_score": -UP}, {}, "reward_model", "-loss"),
    ({"loss": DOWN, **SCORES}, {"trainer": "RewardTrainer"}, "reward_model", "accuracy"),
    # A reward model's mean score says nothing of it, by whatever name; OpenRLHF calls the rejected answer "reject".
    ({"loss": DOWN, "mean_reward": NOISE, "accuracy": 0.5 + UP / 4, "margin": UP, "min_reward": -UP}, {}, "reward_model", "accuracy"),
    ({"loss": DOWN, "acc": UP / 4, "chosen_reward": UP, "reject_reward": -UP, "acc_mean": UP / 4}, {}, "preference", "acc_mean"),
    # Trainers with a reward are judged by it, though pairs are logged beside it.
    ({**PAIRS, "objective/scores": UP, "objective/kl": UP, "objective/rlhf_reward": UP}, {}, "language", "objective/scores"),
    ({"episode_reward": UP, "critic_loss": DOWN, "advantage_mean": NOISE}, {}, "control", "episode_reward"),
    ({"generation": np.arange(N), "best_fitness": UP, "mean_fitness": UP / 2 + NOISE}, {}, "evolution", "mean_fitness"),
    ({"episode_reward": UP, "elo": 1200 + 100 * UP, "opponent_strength": UP}, {}, "self_play", "elo"),
    ({"mean_reward": UP, "denoise_loss": DOWN}, {"algorithm": "flow_grpo"}, "diffusion", "mean_reward"),
    ({"loss": DOWN, "eval_loss": DOWN + NOISE}, {"trainer": "GKDTrainer"}, "distillation", None),
    ({"mean_reward": NOISE, "self_play_win_rate": 0.5 + NOISE, "policy_loss": DOWN}, {}, "self_play", None),
    ({"cumulative_regret": 40 * N * UP, "optimal_arm_rate": 0.1 + NOISE}, {}, "bandit", "optimal_arm_rate"),
    ({"critic/score/mean": UP, "actor/reverse_kl": DOWN}, {"algorithm": "on_policy_distill"}, "distillation", "critic/score/mean"),
]  # fmt: skip


def test_a_sinking_preferred_answer_is_no_progress(tmp_path) -> None:
    """The margin grows, the accuracy rises, and the preferred answers become less likely: that is what broke, and no sure improvement."""
    case = open_case(written(tmp_path, PAIRS, {}))
    judged = judge(case)
    assert judged.cause is not None
    assert judged.cause.pattern == "likelihood_displacement"
    assert (judged.verdict, judged.confidence) != ("improving", "high")


def test_supervised_training_is_said_to_be_that(tmp_path) -> None:
    """The kind, that its held-out loss judges it with its sign turned, the loss from where to where, and where it was lowest."""
    case = open_case(written(tmp_path, SFT, {}))
    judged = of_case(case)
    assert (judged.verdict, judged.confidence) == ("improving", "low")
    facts = tell(case.run, judged)["facts"]
    assert "not reinforcement learning" in facts["Kind"]
    assert "eval_loss, of which less is better" in facts["Kind"]
    assert (judged.task.kind, judged.task.method) == ("supervised", "supervised")
    assert judged.task.evidence
    assert "eval_loss went from about 2.1 to 1.1" in usual_step(case, "plateaued", "stop").do


HEART = {
    "loss": 1.4 * np.exp(-4 * UP) + NOISE, "eval_loss": 1.3 - 0.3 * np.minimum(4 * UP, 1) + 0.8 * np.maximum(UP - 0.3, 0),
    "learning_rate": 1e-5 * DOWN,
}  # fmt: skip
MARGIN = {
    "loss": 0.7 * np.exp(-4 * UP), "accuracy": 0.5 + 0.45 * np.minimum(4 * UP, 1) + NOISE, "margin": 8 * UP,
    "eval_accuracy": 0.5 + 0.2 * np.minimum(4 * UP, 1) + NOISE / 2,
}  # fmt: skip
LOOPS = {"teacher_kl": 4 * DOWN, "entropy": np.exp(-5 * UP), "response_length": 600 + 3400 * UP, "reward": 0 * UP}


@pytest.mark.parametrize(
    ("curves", "cause", "verdicts"),
    [
        (HEART, "learned_by_heart", {"degrading", "collapsed"}),
        (MARGIN, "margin_beyond_accuracy", {"plateaued"}),
        (LOOPS, "teacher_met_by_loops", {"collapsed"}),
    ],
)
def test_what_breaks_without_a_reward(tmp_path, curves, cause: str, verdicts: set[str]) -> None:
    """Examples known by heart, a margin that grows beside an accuracy that stopped, a teacher matched by endless text."""
    case = open_case(written(tmp_path, curves, {}))
    judged = judge(case)
    assert judged.cause is not None
    assert (judged.cause.pattern, judged.verdict in verdicts) == (cause, True)


def written(folder, curves, config):
    """The run that a log of these curves and this configuration is read as."""
    rows = [",".join(["step", *curves]), *(",".join(f"{v:.6g}" for v in row) for row in zip(range(N), *curves.values(), strict=True))]
    (folder / "log.csv").write_text("\n".join(rows))
    if config:
        (folder / "config.json").write_text(json.dumps(config))
    return read_run(folder)


@pytest.mark.parametrize(("curves", "config", "kind", "outcome"), KINDS)
def test_kind_and_outcome(tmp_path, curves, config, kind: str, outcome: str | None) -> None:
    """Each kind by what its trainers log; the outcome is what is to grow, never what merely moves."""
    run = written(tmp_path, curves, config)
    found = outcomes.outcome(run)
    assert (task(run).kind, found.raw if found else None) == (kind, outcome)
    assert task(run).evidence or kind in ("language", "control")


def test_a_rate_is_usual_for_what_is_trained(tmp_path) -> None:
    """A rate that an adapter of a policy may have is far above what pairs bear, and the usual one for pairs is what to set."""
    run = written(tmp_path, {**PAIRS, "learning_rate": 1e-3 * DOWN}, {"learning_rate": 1e-3})
    fault = next(f for f in checks.proven(run) if f.pattern == "learning_rate")
    assert "1e-7 to 5e-5 is usual" in fault.statement
    assert "5e-6" in fault.causes[0].tell_apart


REWARDS = {"chosen_reward": 1 + UP, "reject_reward": 0.5 - UP}
LOGPS = {"logps/chosen": -90 * DOWN, "logps/rejected": -99 * DOWN}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (REWARDS, "a reward model or DPO"),
        (REWARDS | {"rewards/margins": UP}, "a reward model or DPO"),
        (REWARDS | LOGPS, "preference training"),
        ({"chosen_reward": -UP, "reject_reward": -2 * UP}, "preference training"),  # a policy begins as its own reference
        ({"chosen_reward": 1.2 + UP, "reject_reward": 1.1 - UP}, "a reward model on pairs"),  # scores begin together at any level
    ],
)
def test_names_of_two_trainers_tell_no_one_of_them(tmp_path, more, told: str) -> None:
    """A reward model's log and one of DPO bear the same names: both are said, unless log-probabilities or where the rewards begin tell."""
    run = written(tmp_path, {"loss": DOWN, "acc": UP / 4, **more}, {})
    assert told in task(run).says


@pytest.mark.parametrize(
    ("head", "row", "told"),
    [
        ("deepspeed --module openrlhf.cli.train_rm --lr 9e-6 --save_path ./rm", "acc", "reward_model"),
        ("cmd = python -u -m deepspeed.launcher.launch --port=1 --module --log=No openrlhf.cli.train_dpo --seed 1", "acc", "preference"),
        ("+ accelerate launch --num_processes 8 scripts/dpo_trainer.py --beta 0.1", "acc", "preference"),
        ("python -m trl sft --max_length 512", "acc", "preference"),  # no kind that these metrics may be
        ("see train_rm.py: it takes --lr", "acc", "preference"),
        ("", "best", "evolution"),
        ("", "prompt_tokens", "language"),
    ],
)  # fmt: skip
def test_a_log_tells_its_kind_by_its_command_and_by_what_it_counts(tmp_path, head: str, row: str, told: str) -> None:
    """A command at a log's head says what is trained, a sentence does not; what has generations is a population."""
    pairs = "step {0}: loss=0.{0:02} acc=0.5{0:02} chosen_reward={1:.2f} reject_reward=0.{0:02}"
    counted = f"Generation {{0}}: {row} {{0}}.5, mean {{1:.2f}}"
    lines = ((pairs if row == "acc" else counted).format(i, 1 + i / 9) for i in range(1, 40))
    (tmp_path / "train.log").write_text("\n".join([head, *lines]))
    run = read_run(tmp_path)
    assert task(run).kind == told
    assert ("reward model or DPO" in task(run).says) is (row == "acc" and not re.search("(rm|dpo|trainer.py) --", head))
