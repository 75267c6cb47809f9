"""A reward stands at its maximum without spread while nothing says that the task is solved.

Looks for: a reward, or a part of it for being right, that is exactly its highest value at every one of the last rows, reached by
    learning within the run; set against the held-out score.
Means: either the task is solved, or the check is: an answer was found that passes it whatever was asked. Nothing is left to learn
    either way.
Not to be confused with: a part for the form of an answer, which is learned to the full in most runs; a solved task with a score to show
    it.
Next test: read ten of the latest answers: are they different answers to different questions? Then a held-out test with another checker.
Source: reports of answers that list every alternative and pass a checker that looks for the right one among them.
"""

import re

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.task import task
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
NEEDS: tuple[str, ...] = ("reward/component/*|reward/mean|reward/success",)
FORM = re.compile(r"format|tag|struct|xml|json|box|template|schema|syntax|style|length|penal|think", re.IGNORECASE)


def detect(run: Run, rows: int = 8) -> Answer:
    """Present when such a reward is perfect and the held-out score stands below its ceiling; unclear without a score."""
    full = {n: c for n, c in _asked(run).items() if perfect(c, rows)}
    longest = max((c.finite()[1].size for c in _asked(run).values()), default=0)
    if longest < 3 * rows:
        raise TooFewPoints(f"{longest} points of the reward, {3 * rows} needed")
    if not full or not task(run).traits & {"language", "tools"}:
        return absent("No reward sits at its maximum without spread.")
    name, curve = next(iter(full.items()))
    top = float(curve.finite()[1][-1])
    where = (Evidence(name, float(curve.step[0]), float(curve.step[-1])),)
    text = f"{name} is exactly {number(top)} at each of the last {rows} steps"
    held = outcomes.course_or_none(outcomes.held_out(run))
    if held is None:
        return unclear(
            f"{text}: either solved, or anything passes the check; there is no held-out score to tell which.", None, {"level": top}, where
        )
    if held.at_ceiling or held.touches_ceiling or held.rose:
        return absent(f"{text}, and {held.name} agrees (about {number(held.last)}).", None, {"level": top}, where)
    text += f", but {held.name} is at about {number(held.last)}"
    return present(
        f"{text}: the check passes without the task being solved.", segments.began(curve), {"level": top, "score": held.last}, where
    )


def _asked(run: Run) -> dict[str, Curve]:
    """The rewards that pay being right."""
    parts = {n: c for n, c in run.family("reward/component/").items() if not FORM.search(n)}
    whole = {n: c for n in ("reward/mean", "reward/success") if (c := run.curves.get(n)) is not None and c.finite()[1].size}
    return parts or whole


def perfect(curve: Curve, rows: int) -> bool:
    """Whether the last rows are all the curve's maximum, one that it did not start at."""
    value = curve.finite()[1]
    late = value[-rows:]
    return bool(late.size == rows and np.ptp(late) == 0 and late[0] == value.max() and late[0] > 0 and value[:3].max() < late[0])
