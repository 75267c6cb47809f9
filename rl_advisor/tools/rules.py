"""A rule of the user's own in one line, such as ``kl > 0.5 for 20 steps``, and whether a run broke it; nothing of it is ever evaluated."""

import math
import re
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.curves import named
from rl_advisor.finding import number
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

COMPARES = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}
_FORM = re.compile(
    r"\s*(?P<metric>[\w/@.:%+-]{1,200})\s*(?:(?P<compare>[<>]=?)\s*(?P<limit>[-+]?[\d.]{1,20}(?:e[-+]?\d{1,3})?)|is\s+(?P<nan>nan))"
    r"(?:\s+for\s+(?P<steps>\d{1,12})\s+steps?)?\s*",
    re.IGNORECASE,
)
EXAMPLES = "'kl > 0.5 for 20 steps', 'policy/grad_norm >= 100', 'loss is nan'"


@dataclass(frozen=True)
class Rule:
    """What must not be: a metric beyond a limit, for so many steps without a break; without a limit: not a number."""

    text: str
    metric: str
    compare: str = ""
    limit: float = math.nan
    steps: int = 0

    def __call__(self, run: Run) -> str | None:
        """How the run breaks the rule at its last step, in words; None where it does not.

        Raises:
            NoSuchChoice: the run has no such metric, or several; the message names them.
        """
        curve = named(run, self.metric)
        wrong = np.isnan(curve.value) if not self.compare else COMPARES[self.compare](curve.value, self.limit)
        if not curve.step.size or not wrong[-1]:
            return None
        right = np.flatnonzero(~wrong)
        since = curve.step[right[-1] + 1 if right.size else 0]
        if curve.step[-1] - since < self.steps:
            return None
        return f"your rule '{self.text}' is broken since step {since:.0f}: {curve.raw} is {number(curve.value[-1])}"


def rule(text: str) -> Rule:
    """The rule in a line.

    Raises:
        NoSuchChoice: it does not have the form; the message shows it.
    """
    found = _FORM.fullmatch(text)
    try:
        limit = float(found["limit"]) if found and found["limit"] else math.nan
    except ValueError:
        found = None
    if found is None:
        raise UsageError(f"{text[:100]!r} is no rule; write METRIC > NUMBER, perhaps 'for N steps': {EXAMPLES}")
    return Rule(text.strip(), found["metric"], found["compare"] or "", limit, int(found["steps"] or 0))
