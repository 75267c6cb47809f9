"""The settings that an experiment turns, by the names that the framework in use gives them, and how long the turn must last to be seen.

What to turn for a pattern its detector says, in our words (``CHANGE``); what a framework calls it stands in its dialect: the keys of its
configuration, and under ``switches`` what has no number of ours.
"""

from math import ceil

import numpy as np

from rl_advisor.curves.outcome_shape import Shape
from rl_advisor.finding import number
from rl_advisor.judgement.diagnosis import patterns
from rl_advisor.run import Run
from rl_advisor.vocabulary import Dialect
from rl_advisor.vocabulary.dialects import dialects

FEWEST, MOST = 5, 500
"""Points of the outcome that an experiment lasts at least, and beyond which it is no short experiment any more."""
MATTERS = 5
"""How many of the smallest changes that matter an experiment should be able to show."""


def turns(run: Run, pattern: str) -> list[str]:
    """What to set for an experiment on a pattern, each in the framework's own words with the present value; empty when none is known."""
    dialect = next((dialects()[f] for f in run.frameworks if f in dialects()), None)
    if dialect is None:
        return []
    told = (_turn(run, dialect, ours, to) for ours, to in patterns()[pattern].change)
    return [t for t in told if t]


def _turn(run: Run, dialect: Dialect, ours: str, to: str) -> str:
    """One switch in words; nothing where the framework has none, or where it stands there already."""
    if ours in dialect.switches:
        return dialect.switches[ours]
    keys = [key for key, name in dialect.config.items() if name == ours]
    key, now = next((k for k in keys if k in run.config), keys[0] if keys else ""), run.settings.get(ours)
    if not key or (now is not None and str(now) in (to, f"{to}.0")) or (now == 0 and to[0].isalpha() and ours != "lr_schedule"):
        return ""
    present = f" (now {number(now) if isinstance(now, int | float) and not isinstance(now, bool) else now})" if now is not None else ""
    share = to[0].isalpha() and ours != "lr_schedule"
    return f"`{key}` at {to} its value{present}" if share else f"`{key}` = {to}{present}"


def lasting(s: Shape | None) -> str:
    """For how long: until the outcome shows a change that matters in four of five cases, given its noise and its memory."""
    if s is None:
        return ""
    change = max(MATTERS * s.margin, abs(s.best - s.last))
    worth = (1 + s.overall.phi) / (1 - min(s.overall.phi, 0.99))
    # Two means of n points each: 1.96 + 0.84 of the error of their difference.
    points = max(FEWEST, ceil(2 * (2.8 * s.noise / change) ** 2 * worth))
    every = float(np.median(np.diff(s.step)))
    if points > MOST:
        return f"Its noise would hide a change of {number(change)} in {s.name} even then: use several seeds or a larger batch."
    return f"Run it for about {number(points * every)} steps: {points} points of {s.name} tell a change of {number(change)} from its noise."
