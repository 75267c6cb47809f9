"""The run leaves the band in which earlier sound runs of the same set-up stayed.

Looks for: a metric that lies outside of what one more sound run would do, for an eighth of the steps or more; asked only where
    earlier sound runs are named. A reward or score above its band is no fault, unless a reward is there and the held-out score is not.
Means: something differs from the runs that went well; the metric that left its band first says where to look.
Not to be confused with: settings, data or a model that were changed on purpose; luck, of which one or two sound runs tell little.
Next test: compare settings, code and data of this run with those of the sound ones where the first metric left its band, then
    repeat it with another seed: luck does not leave the band at the same place twice.
Source: prediction intervals of one more run; control charts.
"""

from collections.abc import Sequence

from rl_advisor.curves import outcomes
from rl_advisor.curves.band import Band, bands
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link, metric

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.FAULT
KINDS, MARKS = ("any",), ("beside",)
NEEDS: tuple[str, ...] = ()
NAMED = 3
"""Metrics that are told; of more the number."""


def detect(run: Run) -> Answer:
    """Present when a metric stays outside of its band."""
    if not run.sound:
        return not_logged("No earlier sound runs of this set-up were named to measure this one against.")
    found = bands(run)
    runs = "1 earlier sound run" if len(run.sound) == 1 else f"{len(run.sound)} earlier sound runs"
    if not found:
        return unclear(f"No metric is shared with {runs} for long enough to compare.")
    outside = sorted((b for b in found if b.outside and not better(b, found)), key=lambda b: (b.onset.high, -abs(b.size)))
    measures = {"metrics": float(len(found)), "outside": float(len(outside)), "sound_runs": float(len(run.sound))} | of_outcome(run, found)
    if not outside:
        return absent(f"All {len(found)} metrics that are shared with {runs} stay in the band of those.", measures=measures)
    first = outside[0]
    there = first.there
    measures |= {"step": first.onset.step, "here": there[0], "low": there[1], "high": there[2]}
    more = f", then {listed(outside[1:])}" if len(outside) > 1 else ""
    text = (
        f"{first.name} left the band of {runs} at step {first.onset.step:.0f}: {number(there[0])}, where they give {number(there[1])} to "
    )
    text += f"{number(there[2])}{more}. {len(outside)} of {len(found)} shared metrics lie outside."
    where = tuple(Evidence(b.name, b.onset.step, float(b.edges[-1])) for b in outside)
    return present(text, first.onset, measures, where, next((known.link for b in outside if (known := metric(b.name))), None))


def better(band: Band, found: Sequence[Band]) -> bool:
    """Whether leaving the band there is no fault: on the better side, and no reward that the held-out score does not follow."""
    known = metric(band.name)
    if known is None or known.better * band.size <= 0:
        return False
    scores = [b for b in found if b.name.startswith("eval/score/")]
    return not band.name.startswith("reward/") or not scores or any(b.size > 0 and b.outside for b in scores)


def of_outcome(run: Run, found: Sequence[Band]) -> dict[str, float]:
    """How far the outcome departs, below its band where negative; nothing where it has no band."""
    own = {c.name for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None}
    sizes = [b.size for b in found if b.name in own]
    return {"outcome": min(sizes)} if sizes else {}


def listed(outside: Sequence[Band]) -> str:
    """The next metrics with when they left their bands."""
    told = ", ".join(f"{b.name} at step {b.onset.step:.0f}" for b in outside[: NAMED - 1])
    return told + (f" and {len(outside) - NAMED + 1} more" if len(outside) >= NAMED else "")
