"""EPyMARL and PyMARL (Sacred's info.json, cout.txt, TensorBoard): the axis is ``t_env``, environment steps."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="epymarl",
    marks=(
        "test_return_mean", "test_ep_length_mean", "test_battle_won_mean", "battle_won_mean", "ep_length_mean", "q_taken_mean",
        "td_error_abs", "target_mean", "agent_grad_norm", "critic_grad_norm", "pi_max", "test_dead_allies_mean", "dead_allies_mean",
        "total_return_mean", "test_total_return_mean",
    ),
    metrics={
        "return_mean": "reward/mean",
        "total_return_mean": "reward/mean",
        "return_std": "reward/std",
        "total_return_std": "reward/std",
        "battle_won_mean": "reward/success",
        "ep_length_mean": "episode/length",
        "test_return_mean": "eval/score/return",
        "test_total_return_mean": "eval/score/return",
        "test_battle_won_mean": "eval/score/battle_won",
        "test_ep_length_mean": "eval/length",
        "loss": "value/loss",
        "loss_td": "value/loss",
        "critic_loss": "value/loss",
        "pg_loss": "policy/loss",
        "agent_grad_norm": "policy/grad_norm",
        "grad_norm": "policy/grad_norm",
        "q_taken_mean": "value/mean",
        "target_mean": "value/return_mean",
        "advantage_mean": "advantage/mean",
        "epsilon": "exploration/rate",
        "episode": "progress/episodes",
    },
    patterns=((r"test_(.+)", r"eval/other/\1"),),
    step="env steps",
    notes={"value/loss": "TD loss of the joint value (QMIX, VDN, IQL) or of the critic", "reward/mean": "of the team"},
    config={
        "t_max": "planned_steps", "lr": "learning_rate", "gamma": "gamma", "name": "algorithm", "seed": "seed", "eps_clip": "clip_range",
        "entropy_coef": "entropy_coef", "epochs": "updates_per_batch",
    },
)  # fmt: skip
