"""OmniSafe and Safety Starter Agents: ``progress.csv`` with return and cost side by side; costs are no reward and stay unmapped."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="omnisafe",
    marks=(
        "Metrics/EpRet", "Metrics/EpCost", "Metrics/EpLen", "Metrics/TestEpRet", "Train/StopIter", "Train/PolicyRatio",
        "Loss/Loss_pi", "Loss/Loss_reward_critic", "Loss/Loss_cost_critic", "AverageEpCost",
    ),
    metrics={
        "Metrics/EpRet": "reward/mean",
        "Metrics/EpRet/Mean": "reward/mean",
        "AverageEpRet": "reward/mean",
        "Metrics/EpLen": "episode/length",
        "EpLen": "episode/length",
        "Metrics/TestEpRet": "eval/score/TestEpRet",
        "Metrics/TestEpLen": "eval/length",
        "Loss/Loss_pi": "policy/loss",
        "Loss/Loss_pi/Mean": "policy/loss",
        "Loss/Loss_reward_critic": "value/loss",
        "Loss/Loss_reward_critic/Mean": "value/loss",
        "Train/Entropy": "entropy/mean",
        "Train/Entropy/Mean": "entropy/mean",
        "Train/KL": "kl/old",
        "Train/PolicyRatio": "ratio/mean",
        "Train/PolicyRatio/Mean": "ratio/mean",
        "Train/PolicyStd": "policy/std",
        "Train/LR": "policy/learning_rate",
        "Time/FPS": "throughput/env_steps",
        "Time/Total": "time/elapsed",
    },
    step="env steps",
    notes={"reward/mean": "return; the cost of the same episodes is logged apart"},
)  # fmt: skip
