"""RLlib of Ray 2.60.0 (new API stack), and the names of the old stack; the step is the training iteration."""

from rl_advisor.vocabulary import Dialect

_LEARNER = r"(?:learners/(?!__all_modules__)[^/]+|info/learner/[^/]+(?:/learner_stats)?|info/learner)"

DIALECT = Dialect(
    name="rllib",
    marks=(
        "env_runners/episode_return_mean", "env_runners/episode_len_mean", "num_env_steps_sampled_lifetime", "episode_reward_mean",
        "episodes_this_iter", "learners/default_policy/entropy", "learners/default_policy/vf_explained_var",
        "learners/default_policy/mean_kl_loss", "info/num_steps_trained", "evaluation/env_runners/episode_return_mean",
    ),
    prefixes=("ray/tune/",),
    metrics={
        "env_runners/episode_return_mean": "reward/mean",
        "episode_reward_mean": "reward/mean",
        "env_runners/episode_return_min": "reward/min",
        "episode_reward_min": "reward/min",
        "env_runners/episode_return_max": "reward/max",
        "episode_reward_max": "reward/max",
        "env_runners/episode_len_mean": "episode/length",
        "episode_len_mean": "episode/length",
        "evaluation/env_runners/episode_return_mean": "eval/score/episode_return_mean",
        "evaluation/episode_reward_mean": "eval/score/episode_return_mean",
        "evaluation/env_runners/episode_len_mean": "eval/length",
        "num_env_steps_sampled_lifetime": "progress/env_steps",
        "timesteps_total": "progress/env_steps",
        "env_runners/num_episodes_lifetime": "progress/episodes",
        "episodes_total": "progress/episodes",
        "time_this_iter_s": "time/step",
        "time_total_s": "time/elapsed",
    },
    patterns=(
        (_LEARNER + r"/policy_loss", "policy/loss"),
        (_LEARNER + r"/total_loss", "policy/total_loss"),
        (_LEARNER + r"/vf_loss", "value/loss"),
        (_LEARNER + r"/vf_explained_var", "value/explained_variance"),
        (_LEARNER + r"/entropy", "entropy/mean"),
        (_LEARNER + r"/(?:curr_entropy_coeff|entropy_coeff)", "entropy/coef"),
        (_LEARNER + r"/(?:mean_kl_loss|kl)", "kl/old"),
        (_LEARNER + r"/(?:default_optimizer_learning_rate|cur_lr)", "policy/learning_rate"),
        (_LEARNER + r"/(?:gradients_default_optimizer_global_norm|grad_gnorm)", "policy/grad_norm"),
        (_LEARNER + r"/diff_num_grad_updates_vs_sampler_policy", "rollout/staleness"),
        (r"timers/(env_runner_sampling_timer|learner_update_timer|synch_weights|evaluation_iteration)", r"time/phase/\1"),
    ),
    step="iterations",
    notes={
        "reward/mean": "over the episodes that ended in the iteration, few and noisy",
        "value/loss": "clamped at vf_clip_param, so it saturates",
        "value/explained_variance": "floored at -1",
        "kl/old": "KL of the old from the new policy; 0 where use_kl_loss is off",
    },
    config={
        "lr": "learning_rate", "gamma": "gamma", "entropy_coeff": "entropy_coef", "clip_param": "clip_range",
        "num_epochs": "updates_per_batch",
        "num_sgd_iter": "updates_per_batch", "seed": "seed", "evaluation_interval": "eval_every", "kl_coeff": "kl_coef",
    },
)  # fmt: skip
