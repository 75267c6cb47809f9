"""The episodes stop using their tools: calls are skipped, dialogues shrink to one exchange, one tool does all, or calls are only pretended.

Looks for: tool calls or turns an episode that fell to a small part of where they began; several tools that became one; episodes that write
    a tool's answer themselves or claim a call they never made; each beyond the spread of its own first and last samples.
Means: the policy has found that answering at once is paid as well, or that tools fail too often to be worth a call.
Not to be confused with: fewer calls while the outcome rises, which is skill; and a run whose samples were taken from another task later.
Next test: read five of the latest episodes without a call; pay a small part for the first useful call, or refuse answers without one.
Source: reports of multi-turn training that collapses to two turns with the tool call skipped (verl issues 1569 and 4998).
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present, unclear
from rl_advisor.output.wording import about
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.FAULT
NAMES = ("episode/tool_calls", "episode/turns", "episode/tools", "episode/pretended")
NEEDS: tuple[str, ...] = ("|".join(NAMES),)
_SAYS = {
    "episode/tool_calls": "tool calls an episode went {}",
    "episode/turns": "turns an episode went {}",
    "episode/tools": "different tools an episode went {}",
    "episode/pretended": "the share of episodes that pretend a call or its answer went {}",
}


def detect(run: Run, part: float = 0.35, pretends: float = 0.1) -> Answer:
    """Present when calls, turns or tools fell to ``part`` of their start, or pretending grew, and nothing was gained."""
    curves = {name: run.curves[name] for name in NAMES if name in run.curves and run.curves[name].finite()[1].size >= 4}
    if not curves:
        raise TooFewPoints("turns and tool calls have fewer than 4 points")
    measures: dict[str, float] = {}
    gone: list[tuple[str, Curve]] = []
    for name, curve in curves.items():
        first, last = segments.opening(curve, 0.2), segments.final(curve)
        begin, now = float(first.mean()), float(last.mean())
        measures |= {f"{name}_first": begin, f"{name}_latest": now}
        sure = abs(now - begin) > 3 * float(np.sqrt(first.var() / first.size + last.var() / last.size))
        if sure and _left(name, begin, now, part, pretends):
            gone.append((_SAYS[name].format(about(begin, now)), curve))
    where = tuple(Evidence(c.name, float(c.step[0]), float(c.step[-1])) for _, c in gone or list(curves.items()))
    where += (Evidence("rollouts", where[0].first_step, where[0].last_step),) if len(run.rollouts) else ()
    if not gone:
        return absent("Tools are used as at the start.", measures=measures, evidence=where)
    text = "; ".join(said for said, _ in gone)
    shape = outcomes.course_or_none(outcomes.outcome(run))
    if shape is not None and shape.rose:
        return unclear(f"{text[0].upper()}{text[1:]}, while the outcome rose: it may need them less.", None, measures, where)
    return present(f"{text[0].upper()}{text[1:]}.", segments.began(gone[0][1]), measures, where)


def _left(name: str, begin: float, now: float, part: float, pretends: float) -> bool:
    """Whether a behaviour was left: below ``part`` of what it was; for turns, to one exchange; for pretending, grown to a real share."""
    if name == "episode/pretended":
        return now > max(pretends, 2 * begin)
    if name == "episode/turns":
        return begin >= 2 and now <= max(1.1, part * begin)
    if name == "episode/tools":
        return begin >= 1.6 and now <= 1.1
    return begin >= 0.3 and now <= part * begin
