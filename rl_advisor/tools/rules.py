"""A rule of the user's own in one line, such as ``kl > 0.5 for 20 steps``, and whether a run broke it; nothing of it is ever evaluated."""

import re
from collections.abc import Callable

import numpy as np

from rl_advisor.answers.curves import named
from rl_advisor.finding import number
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

COMPARES = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}
_FORM = re.compile(
    r"\s*(?P<metric>[\w/@.:%+-]{1,200})\s*(?:(?P<compare>[<>]=?)\s*(?P<limit>[-+]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[-+]?\d{1,3})?)|is\s+(?P<nan>nan))"
    r"(?:\s+for\s+(?P<steps>\d{1,12})\s+steps?)?\s*",
    re.IGNORECASE,
)
Rule = Callable[[Run], str | None]
"""How a run breaks the rule at its last step, in words, None where it does not; UsageError where the run has no such metric, or several."""
EXAMPLES = "'kl > 0.5 for 20 steps', 'policy/grad_norm >= 100', 'loss is nan'"


def rule(text: str) -> Rule:
    """The rule in a line: a metric beyond a limit, or not a number, for so many steps without a break.

    Raises:
        NoSuchChoice: it does not have the form; the message shows it.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise UsageError(f"{text[:100]!r} is no rule; write METRIC > NUMBER, perhaps 'for N steps': {EXAMPLES}")

    def broken(run: Run) -> str | None:
        curve = named(run, found["metric"])
        wrong = np.isnan(curve.value) if found["nan"] else COMPARES[found["compare"]](curve.value, float(found["limit"]))
        if not curve.step.size or not wrong[-1]:
            return None
        right = np.flatnonzero(~wrong)
        since = curve.step[right[-1] + 1 if right.size else 0]
        if curve.step[-1] - since < int(found["steps"] or 0):
            return None
        return f"your rule '{text.strip()}' is broken since step {since:.0f}: {curve.raw} is {number(curve.value[-1])}"

    return broken
