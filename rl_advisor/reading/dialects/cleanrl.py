"""CleanRL 2.0.0b1 (commit fe8d8a03): one TensorBoard file a run, the step is the environment step."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="cleanrl",
    marks=(
        "charts/episodic_return", "charts/episodic_length", "charts/SPS", "charts/learning_rate", "charts/epsilon",
        "episodic_return", "episodic_length",
    ),
    metrics={
        "charts/episodic_return": "reward/mean",
        "episodic_return": "reward/mean",
        "charts/episodic_length": "episode/length",
        "episodic_length": "episode/length",
        "charts/learning_rate": "policy/learning_rate",
        "charts/SPS": "throughput/env_steps",
        "SPS": "throughput/env_steps",
        "eval/episodic_return": "eval/score/episodic_return",
        "losses/value_loss": "value/loss",
        "losses/td_loss": "value/loss",
        "losses/qf_loss": "value/loss",
        "losses/policy_loss": "policy/loss",
        "losses/actor_loss": "policy/loss",
        "charts/epsilon": "exploration/rate",
        "losses/entropy": "entropy/mean",
        "losses/approx_kl": "kl/old",
        "losses/old_approx_kl": "kl/old",
        "losses/clipfrac": "ratio/clip_fraction",
        "losses/explained_variance": "value/explained_variance",
        "losses/q_values": "value/mean",
        "losses/qf1_values": "value/mean",
        "losses/alpha": "entropy/coef",
        "losses/alpha_loss": "entropy/coef_loss",
    },
    step="env steps",
    notes={
        "reward/mean": "one point for each episode that ended; those of one step are averaged",
        "kl/old": "k3 estimator of the last minibatch (old_approx_kl: k1, signed)",
        "value/loss": "has the factor 0.5",
    },
    config={
        "total_timesteps": "planned_steps", "learning_rate": "learning_rate", "gamma": "gamma", "clip_coef": "clip_range",
        "ent_coef": "entropy_coef",
        "update_epochs": "updates_per_batch", "num_minibatches": "minibatches", "seed": "seed", "exp_name": "algorithm",
    },
)  # fmt: skip
