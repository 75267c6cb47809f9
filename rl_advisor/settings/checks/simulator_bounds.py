"""Actions and rewards of a simulator that have no bounds.

Relates: clipping of actions, reward terms that grow without limit, and what the log shows of the critic.
Why: an unclipped action goes into the physics and comes back as an observation and as an action-rate penalty. One exploding body gives a
    reward of minus a billion, the critic follows it, and the noise of the policy turns NaN.
Confirmed by: a value loss that is infinite or a million times its usual size, a penalty term far beyond all others.
Source: IsaacLab pull request 2019 (clip_actions), issues 1999 and 4570.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
HUGE = 1e6


def check(s: Settings) -> CheckSaid:
    """A fault where actions are unclipped and the critic has blown up; a note for unclipped actions alone."""
    keys = tuple(k for k in s.config if k.rpartition(".")[2] == "clip_actions")
    if not keys:
        return NOT_GIVEN
    value = s.config[keys[0]]
    if value not in (None, False) and not (isinstance(value, str) and value.lower() in ("none", "null")):
        return CheckSaid("fine", f"Actions are clipped (`{keys[0]}` = {value}).", keys)
    loss = s.level("value/loss")
    do = f"Set `{keys[0]}` to the actuators' range, and clip each reward term."
    if s.broke("value/loss", "policy/std") or (loss is not None and loss > HUGE):
        return CheckSaid(
            "fault",
            "Actions are not clipped, and the critic's loss has blown up: outliers of the simulator reach it.",
            keys,
            do,
            confirmed=True,
        )
    return CheckSaid("note", "Actions are not clipped: an outlier of the simulator reaches the critic.", keys, do)
