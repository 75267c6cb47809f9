"""TorchRL 0.14 trainers: bare names, the axis is collected_frames (environment steps)."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="torchrl",
    marks=(
        "r_training", "r_total", "r_max", "loss_objective", "loss_critic",
        "loss_entropy", "kl_approx", "optim_steps", "action_norm", "obs_norm",
    ),
    metrics={
        "r_training": "reward/mean",
        "r_evaluation": "eval/score/return",
        "loss_objective": "policy/loss",
        "loss_actor": "policy/loss",
        "loss_critic": "value/loss",
        "loss_qvalue": "value/loss",
        "entropy": "entropy/mean",
        "kl_approx": "kl/old",
        "clip_fraction": "ratio/clip_fraction",
        "explained_variance": "value/explained_variance",
        "grad_norm_0": "policy/grad_norm",
        "optim_steps": "progress/updates",
        "alpha": "entropy/coef",
        "loss_alpha": "entropy/coef_loss",
    },
    patterns=((r"time/hook/(.+)", r"time/phase/\1"),),
    step="env steps",
    notes={"reward/mean": "mean reward of one environment step of the batch, no return of an episode"},
)  # fmt: skip
