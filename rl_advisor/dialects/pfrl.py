"""PFRL and ChainerRL: ``scores.txt`` with tabs, one row an evaluation; its bare ``mean`` is the return of the evaluation episodes."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="pfrl",
    marks=("elapsed", "stdev", "median", "average_q", "average_value", "average_loss", "average_entropy", "average_actor_loss"),
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
        "n_updates": "progress/updates",
        "episodes": "progress/episodes",
    },
    patterns=((r"(median|stdev|max|min)", r"eval/other/\1"),),
    step="env steps",
)  # fmt: skip
