"""OpenAI Baselines and Stable-Baselines 2: ``progress.csv`` and boxes of one-word names, some behind ``loss/`` or ``misc/``."""

from rl_advisor.vocabulary import Dialect

_NAMES = {
    "eprewmean": "reward/mean",
    "ep_reward_mean": "reward/mean",
    "ep_rewmean": "reward/mean",
    "mean 100 episode reward": "reward/mean",
    "eplenmean": "episode/length",
    "ep_len_mean": "episode/length",
    "approxkl": "kl/old",
    "clipfrac": "ratio/clip_fraction",
    "policy_entropy": "entropy/mean",
    "policy_loss": "policy/loss",
    "value_loss": "value/loss",
    "explained_variance": "value/explained_variance",
    "fps": "throughput/env_steps",
    "nupdates": "progress/updates",
    "n_updates": "progress/updates",
    "time_elapsed": "time/elapsed",
}

DIALECT = Dialect(
    name="openai_baselines",
    marks=(
        "eprewmean", "eplenmean", "misc/serial_timesteps", "serial_timesteps", "misc/nupdates", "loss/approxkl", "loss/policy_entropy",
        "EpRewMean", "EpLenMean", "EpThisIter", "loss_pol_surr", "mean 100 episode reward", "% time spent exploring",
        "approxkl", "clipfrac", "ep_reward_mean", "ep_rewmean", "nupdates", "pol_surr", "pol_entpen", "meankl", "surrgain", "optimgain",
    ),
    prefixes=("loss/", "misc/"),
    metrics=_NAMES | {
        "EpRewMean": "reward/mean",
        "EpLenMean": "episode/length",
        "loss_kl": "kl/old",
        "loss_ent": "entropy/mean",
        "loss_pol_surr": "policy/loss",
        "loss_vf_loss": "value/loss",
        "pol_surr": "policy/loss",
        "vf_loss": "value/loss",
        "kl": "kl/old",
        "meankl": "kl/old",
        "ent": "entropy/mean",
        "entropy": "entropy/mean",
        "TimeElapsed": "time/elapsed",
        "EpisodesSoFar": "progress/episodes",
        "episodes": "progress/episodes",
        "ev_tdlam_before": "value/explained_variance",
    },
    step="env steps",
    trailing={"eprewmean": 100, "EpRewMean": 100, "mean 100 episode reward": 100},
    notes={
        "reward/mean": "return of the last 100 episodes as Monitor saw it",
        "kl/old": "half the mean squared log-ratio (k2) against the policy that sampled; ppo1: the exact KL",
    },
)  # fmt: skip
