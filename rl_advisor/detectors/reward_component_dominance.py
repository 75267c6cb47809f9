"""One part of the reward takes over while another is given up.

Looks for: the parts of the reward, first against latest samples (or their curves): a part that makes up most of the total's gain while
    another part, that was not at its ceiling, fell.
Means: the parts pull against each other and the easiest wins, often format, length or politeness over being right.
Not to be confused with: parts that are learned one after the other (format first, then correctness), where none falls.
Next test: train on with the dominating part's weight at zero, or gate it by correctness.
Source: read the reward's parts one by one before its sum; a mean hides what it trades.
"""

import numpy as np

from rl_advisor.curves.outcomes import Course, course_or_none, training
from rl_advisor.curves.segments import decline_began
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, present
from rl_advisor.output.wording import about, listed
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import Shift, onset, shift, shift_or_none
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("rollouts|reward/component/*",)
MUCH = 3
"""How many of the smallest changes that matter a part must rise or fall by."""


def detect(run: Run) -> Answer:
    """Present when one part brings most of the gain and another falls; by the samples, else by the curves."""
    try:
        s = stretches(run)
    except TooFewPoints:
        return _by_curves(run)
    parts = {str(c).removeprefix("reward/"): shift_or_none(s, str(c)) for c in s.table.columns if str(c).startswith("reward/")}
    known = {name: part for name, part in parts.items() if part is not None}
    return _by_samples(s, known) if len(known) > 1 else _by_curves(run)


def _by_samples(s: Stretches, parts: dict[str, Shift]) -> Answer:
    gain = shift(s, "reward")
    fallen = [n for n, p in parts.items() if p.down and -p.delta > 0.1 * _range(s, n)]
    top = max(parts, key=lambda n: parts[n].delta)
    measures = {f"{n}_{when}": v for n, p in parts.items() for when, v in (("first", p.first), ("latest", p.latest))}
    said = "; ".join(f"{n} went {p.words}" for n, p in parts.items())
    if gain.up and fallen and parts[top].up:
        text = f"While the total went {gain.words}, {listed(fallen)} fell: {said}."
        return present(text, onset(s, f"reward/{fallen[0]}"), measures, (samples(s),))
    return absent(f"No part of the reward fell while the total rose: {said}.", None, measures, (samples(s),))


def _range(s: Stretches, name: str) -> float:
    value = s.table[f"reward/{name}"].to_numpy(np.float64)
    return float(np.nanmax(value) - np.nanmin(value))


def below(x: Course) -> bool:
    """Whether a part ends far below where it began, by half of what it was: not every part that loses a little is given up."""
    return x.start - x.last > 0.5 * abs(x.start)


def _by_curves(run: Run) -> Answer:
    curves = run.family("reward/component/")
    shapes = {n.removeprefix("reward/component/"): shape for n, c in curves.items() if (shape := course_or_none(c)) is not None}
    if len(shapes) < 2:
        return not_logged("The reward has a single part, or its parts are not logged.")
    total = course_or_none(training(run))
    if total is not None and total.fell:
        return absent("The total reward fell: no part of it took over.")
    rose = [n for n, x in shapes.items() if (x.gain.low > 0 or x.got_somewhere) and x.last - x.start > MUCH * x.margin]
    fell = [n for n, x in shapes.items() if (x.gain.high < 0 or x.fell) and x.start - x.last > MUCH * x.margin and below(x)]
    measures = {f"{n}_{when}": v for n, x in shapes.items() for when, v in (("first", x.start), ("latest", x.last))}
    said = "; ".join(f"{n} went {about(x.start, x.last)}" for n, x in shapes.items())
    evidence = tuple(Evidence(x.name, float(x.step[0]), float(x.step[-1])) for x in shapes.values())
    if rose and fell:
        when = decline_began(curves[f"reward/component/{fell[0]}"])
        return present(f"{listed(rose)} rose while {listed(fell)} fell: {said}.", when, measures, evidence)
    return absent(f"No part of the reward fell while another rose: {said}.", None, measures, evidence)
