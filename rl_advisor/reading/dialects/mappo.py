"""MAPPO's on-policy and HARL: TensorBoard with a folder for each name, by environment step; agents have a number before theirs."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="mappo",
    marks=(
        "average_episode_rewards", "eval_average_episode_rewards", "train_episode_rewards", "average_step_rewards", "incre_win_rate",
        "eval_win_rate", "dist_entropy", "critic_grad_norm", "actor_grad_norm", "agent0/dist_entropy", "critic/average_step_rewards",
        "agent0/actor_grad_norm", "critic/critic_grad_norm", "train_episode_rewards/aver_rewards",
    ),
    metrics={
        "average_episode_rewards": "reward/mean",
        "train_episode_rewards": "reward/mean",
        "train_episode_rewards/aver_rewards": "reward/mean",
        "incre_win_rate": "reward/success",
        "eval_average_episode_rewards": "eval/score/average_episode_rewards",
        "eval_average_episode_rewards/eval_average_episode_rewards": "eval/score/average_episode_rewards",
        "eval_win_rate": "eval/score/win_rate",
        "value_loss": "value/loss",
        "critic/value_loss": "value/loss",
        "policy_loss": "policy/loss",
        "agent0/policy_loss": "policy/loss",
        "dist_entropy": "entropy/mean",
        "agent0/dist_entropy": "entropy/mean",
        "actor_grad_norm": "policy/grad_norm",
        "agent0/actor_grad_norm": "policy/grad_norm",
        "ratio": "ratio/mean",
        "agent0/ratio": "ratio/mean",
    },
    step="env steps",
    notes={
        "entropy/mean": "of the first agent, where each has its own",
        "policy/loss": "of the first agent, where each has its own",
        "policy/grad_norm": "of the first agent, where each has its own",
    },
)  # fmt: skip
