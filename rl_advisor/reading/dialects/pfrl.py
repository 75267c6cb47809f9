"""PFRL and ChainerRL: ``scores.txt`` with tabs, one row an evaluation; its bare ``mean`` is the return of the evaluation episodes."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="pfrl",
    marks=(
        "elapsed", "stdev", "median", "average_q", "average_value", "average_loss", "average_entropy", "average_actor_loss",
        "average_loss_value_func", "average_loss_policy", "average_loss_entropy",
    ),
    metrics={
        "mean": "eval/score/return",
        "elapsed": "time/elapsed",
        "average_q": "value/mean",
        "average_q1": "value/mean",
        "average_value": "value/mean",
        "average_loss": "value/loss",
        "average_value_loss": "value/loss",
        "average_q_func1_loss": "value/loss",
        "average_actor_loss": "policy/loss",
        "average_policy_loss": "policy/loss",
        "average_entropy": "entropy/mean",
        "average_loss_policy": "policy/loss",
        "average_loss_value_func": "value/loss",
        "average_loss_entropy": "entropy/mean",
        "n_updates": "progress/updates",
        "episodes": "progress/episodes",
    },
    patterns=((r"(median|stdev|max|min)", r"eval/other/\1"),),
    affine={"average_loss_entropy": (-1.0, 0.0)},
    step="env steps",
    notes={"entropy/mean": "ChainerRL's loss_entropy is minus it, here turned round"},
)  # fmt: skip
