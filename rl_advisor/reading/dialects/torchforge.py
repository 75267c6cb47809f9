"""torchforge (commit 6e77f0b3): names of actors, each with how it was reduced (``avg_``, ``max_``) before the last word."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="torchforge",
    marks=(
        "reward/evaluate_response/avg_total_reward", "rl_trainer/avg_loss", "rl_trainer/step/avg_kl_divergence",
        "rl_trainer/step/avg_policy_entropy", "buffer/sample/avg_sampled_policy_age", "buffer/sample/max_sampled_policy_age",
    ),
    metrics={
        "reward/evaluate_response/avg_total_reward": "reward/mean",
        "rl_trainer/avg_loss": "policy/total_loss",
        "rl_trainer/step/avg_kl_divergence": "kl/ref",
        "rl_trainer/step/avg_policy_entropy": "entropy/mean",
        "buffer/sample/avg_sampled_policy_age": "rollout/staleness",
        "buffer/sample/max_sampled_policy_age": "rollout/staleness_max",
    },
    patterns=((r"(.+)/duration_avg_s", r"time/phase/\1"),),
    step="training steps",
    notes={"kl/ref": "to the reference policy"},
)  # fmt: skip
