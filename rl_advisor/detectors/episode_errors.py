"""Episodes end in errors, tools fail or responses are aborted, and that becomes training data.

Looks for: a share of failed episodes, tool calls or aborted responses that is above a few percent and grows, or is high from the start.
Means: infrastructure is graded as if it were the policy; the effective batch shrinks and the reward carries noise.
Not to be confused with: a policy that learns to call tools wrongly, where the share follows the policy's change.
Next test: drop the failed episodes from one batch and compute the reward again.
Source: reports on invalid episodes in agentic RL; the field guide on tool failures written as successes.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.FAULT
NAMES = ("episode/errors", "episode/tool_failures", "response/aborted")
NEEDS: tuple[str, ...] = ("|".join(NAMES),)


def detect(run: Run, share: float = 0.05) -> Answer:
    """Present when one of the shares ends above ``share`` and above its start, or stands above four times ``share`` throughout."""
    measures: dict[str, float] = {}
    for name in NAMES:
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 3:
            continue
        begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
        measures[name] = now
        if now > share and (now > 2 * begin or min(begin, now) > 4 * share):
            text = f"{name} went {about(begin, now)}."
            where = (Evidence(name, float(curve.step[0]), float(curve.step[-1])),)
            return present(text, segments.began(curve), measures | {"at_start": begin}, where)
    if not measures:
        raise TooFewPoints("the shares of failed episodes have fewer than 3 points")
    text = ", ".join(f"{name} {number(value)}" for name, value in measures.items())
    return absent(f"Few episodes fail: {text}.", measures=measures)
