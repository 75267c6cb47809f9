"""A part of the reward never moves: it pays nothing, to nobody, from the first step on.

Looks for: a logged part that stays at its lowest value with no spread, over twenty rows and more, beside a part that does move.
Means: what it asks for is never asked of the model (a format that no prompt mentions), its check never matches (a tag that the template
    opens already), or the task is out of reach. The policy cannot learn what is never paid.
Not to be confused with: a penalty that nobody has earned, which stands at nothing and should; a part with weight zero.
Next test: grade ten hand-written perfect answers by this part alone: each must be paid.
Source: reports of format rewards at zero for whole runs because the regular expression asks for what the prompt never says.
"""

import re

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, number, present, unclear
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.LIMIT
NEEDS: tuple[str, ...] = ("reward/component/*",)
CHARGES = re.compile(r"penal|cost|punish|negativ|overlong|timeout|error|violat|repetit|bonus|curios", re.IGNORECASE)
"""Names of what is charged, or paid on top: nothing is the usual level of these."""
FEWEST, MANY = 20, 100
"""Rows of a part that is nothing at all, and of one that is next to nothing."""
NOTHING, SELDOM = 1e-9, 0.02
"""Shares that count as never and as hardly ever."""


def detect(run: Run) -> Answer:
    """Present when a part of a language reward that asks for something stays at nothing while another part moves."""
    parts = {n.removeprefix("reward/component/"): c for n, c in run.family("reward/component/").items()}
    if len(parts) < 2:
        return not_logged("The reward has a single part, or its parts are not logged.")
    if max(c.finite()[1].size for c in parts.values()) < FEWEST:
        raise TooFewPoints(f"fewer than {FEWEST} points of the reward's parts")
    dead = [n for n, c in parts.items() if still(c) or rare(c, list(parts.values()))]
    live = [n for n, c in parts.items() if n not in dead and np.ptp(c.finite()[1]) > 0]
    asked = [n for n in dead if not CHARGES.search(n)]
    if not asked or not live:
        return absent("Every part of the reward is earned at times.", measures={"parts": float(len(parts))})
    curve = parts[asked[0]]
    where = (Evidence(curve.name, float(curve.step[0]), float(curve.step[-1])),)
    highest = float(curve.finite()[1].max())
    how = "0" if highest < NOTHING else f"at most {number(highest)}"
    text = f"{asked[0]} is {how} at all {curve.finite()[1].size} steps while {live[0]} moves"
    measures = {"dead_parts": float(len(asked)), "parts": float(len(parts))}
    if not task(run).traits & {"language", "tools"}:
        return unclear(f"{text}; the term may be switched off.", measures=measures, evidence=where)
    return present(f"{text}: what it asks for is never rewarded.", segments.around(curve.step, float(curve.step[0])), measures, where)


def still(curve: Curve) -> bool:
    """Whether a curve of enough rows is nothing at every one of them."""
    value = curve.finite()[1]
    return bool(value.size >= FEWEST and np.abs(value).max() < NOTHING)


def rare(curve: Curve, parts: list[Curve]) -> bool:
    """Whether a share stays next to nothing over many rows and gains nothing, while another share is earned for a good part."""
    value, others = curve.finite()[1], [c.finite()[1] for c in parts if c is not curve and c.finite()[1].size]
    if value.size < MANY or value.min() < 0 or np.quantile(value, 0.95) > SELDOM:
        return False
    gained = np.median(value[-value.size // 5 :]) > 2 * np.median(value[: value.size // 5]) + NOTHING
    return not gained and any(0.3 < float(np.median(x[-x.size // 5 :])) <= 1 for x in others)
