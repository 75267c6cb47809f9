"""Whether episodes are counted at all: the wrapper that reports their rewards.

Relates: the environments that a script makes, the Monitor wrapper, and whether a reward stands in the log.
Why: Stable-Baselines reports the mean episode reward from Monitor. A DummyVecEnv made by hand without it trains, and logs no reward or NaN,
    so nobody can tell whether it learns.
Confirmed by: a table with losses and no ``ep_rew_mean``, or ``ep_rewmean nan``.
Source: Stable-Baselines3 documentation, Monitor wrapper; stable-baselines issues 339 and 1035.
"""

import numpy as np

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
MAKERS = ("PPO", "PPO1", "PPO2", "A2C", "ACKTR", "ACER", "DQN", "SAC", "TD3", "DDPG", "TRPO", "RecurrentPPO", "MaskablePPO", "TQC")
WRAPS = ("Monitor", "VecMonitor", "make_vec_env", "make_atari_env", "RecordEpisodeStatistics")


def check(s: Settings) -> CheckSaid:
    """A fault where the log has training rows and no reward; a note where a script wraps nothing."""
    if not s.calls(*MAKERS) or s.calls(*WRAPS):
        return CheckSaid("fine", "Episodes are counted by a wrapper.") if s.calls(*WRAPS) else NOT_GIVEN
    logged = [c for c in s.run.curves.values() if c.step.size]
    rewards = [c for c in logged if c.name.startswith(("reward/mean", "eval/score"))]
    if len(logged) >= 3 and not any(np.isfinite(c.value).any() for c in rewards):
        text = (
            "The log has losses and no episode reward, and the script wraps no environment in Monitor: nobody can tell whether it learns."
        )
        return CheckSaid("fault", text, ("script.calls",), "Wrap each environment in `Monitor` before the vectorised one.", confirmed=True)
    if s.calls("DummyVecEnv", "SubprocVecEnv"):
        return CheckSaid(
            "note",
            "Environments are put into a vectorised one without Monitor: no episode reward will be logged.",
            ("script.calls",),
            "Wrap each in `Monitor`.",
        )
    return CheckSaid("fine", "A single environment is wrapped by the trainer itself.", ("script.calls",))
