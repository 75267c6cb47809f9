"""The settings that an experiment turns, by the names that the framework in use gives them, and how long the turn must last to be seen.

What to turn for a pattern its detector says, in our words (``CHANGE``); what a framework calls it stands in its dialect: the keys of its
configuration, and under ``switches`` what has no number of ours.
"""

from math import ceil, inf, isfinite

import numpy as np

from rl_advisor.curves.outcomes import Course
from rl_advisor.detectors import patterns
from rl_advisor.discovery import table
from rl_advisor.finding import number
from rl_advisor.run import Run
from rl_advisor.settings.priors import prior
from rl_advisor.settings.priors.circumstances import circumstances
from rl_advisor.vocabulary import Dialect
from rl_advisor.vocabulary.dialects import dialects

FEWEST, MOST = 5, 500
"""Points of the outcome that an experiment lasts at least, and beyond which it is no short experiment any more."""
APART = 1e5
"""Ends of what is usual that lie so many times apart name no value between them."""
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
    norm = run.curves.get("policy/grad_norm")
    if ours == "max_grad_norm" and norm is not None and isinstance(now, int | float) and not (norm.numbers > now).any():
        return ""  # a limit that no gradient comes near cuts nothing at half of it either
    if to not in TIMES:
        return f"`{key}` = {to}{_present(now)}"
    if ours == "learning_rate":
        now = learning_rate(run)
    value = concrete(run, ours, now, TIMES[to])
    if value is not None and value == now:
        return ""
    return f"`{key}` = {number(value)}{_present(now)}" if value is not None else f"`{key}` at {to} its value"


_TOLD = table(__file__, "settings_to_change.toml")
TIMES, USUAL, SHARES = _TOLD["times"], _TOLD["usual"], _TOLD["shares"]
"""How a detector says by how much a setting is to be changed; our key of a setting -> the row of priors that says what is usual for it;
settings that need not be whole."""


def concrete(run: Run, ours: str, now: object, times: float) -> float | None:
    """The value to set: the present one so many times, within what is usual; of what is not set or is 0 a usual one. None if unknown."""
    row = prior(USUAL[ours], circumstances(run, "late")) if ours in USUAL else None
    high = row.usual[1] if row is not None else inf
    if not isinstance(now, int | float) or isinstance(now, bool) or now <= 0:
        return high / 5 if times > 1 and isfinite(high) and row is not None and ours != "learning_rate" else None
    value = now * times
    if row is not None and max(now, value) < row.usual[0]:
        return row.middle if times > 1 else None  # far below what is usual no share of it says anything
    if times < 1 and value > high:
        value = row.middle if row is not None else value  # far above what is usual a share of it still is
    elif times > 1 and now <= high:
        value = min(value, high)
    return float(round(value)) if float(now).is_integer() and value >= 1 and ours not in SHARES else value


def usual_value(run: Run, metric: str, now: float | None = None) -> str:
    """The setting that a row of priors speaks of, at a usual value, by the key that the run gave it; empty where there is none."""
    ours, row = next((s for s, name in USUAL.items() if name == metric), ""), prior(metric, circumstances(run, "late").careful)
    if not ours or row is None or row.usual[1] > APART * row.usual[0] > 0:
        return ""
    known = [dialects()[f] for f in run.frameworks if f in dialects()]
    key = next((k for d in known for k, name in d.config.items() if name == ours and k in run.config), ours)
    value = row.middle if ours in SHARES else float(max(1, round(row.middle)))
    return f"Set `{key}` = {number(value)}{_present(now)}"


def learning_rate(run: Run) -> float | None:
    """The highest learning rate that the run used, where it is known."""
    curve = run.curves.get("policy/learning_rate")
    if curve is not None and curve.numbers.size:
        return float(curve.numbers.max())
    told = run.settings.get("learning_rate")
    return float(told) if isinstance(told, int | float) else None


def slower(run: Run) -> str:
    """A smaller learning rate, in words with its value where the present one is known."""
    now = learning_rate(run)
    value = concrete(run, "learning_rate", now, 1 / 3)
    return f"the learning rate at {number(value)} (now {number(now)})" if value is not None and now else "a third of the learning rate"


def _present(now: object) -> str:
    if now is None:
        return " (not given)"
    return f" (now {number(now) if isinstance(now, int | float) and not isinstance(now, bool) else now})"


def lasting(s: Course | None) -> str:
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
    return f"Run {number(points * every)} steps ({points} points): enough to see a change of {number(change)} in {s.name}."
