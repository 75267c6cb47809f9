"""Whether one phase takes most of a step, told from the profile: the question that two patterns share."""

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, absent, number, present, unclear
from rl_advisor.gpu.profile import profile
from rl_advisor.run import Run

MOST = 0.6


def dominating(run: Run, phase: str, most: float = MOST) -> Answer:
    """Present when the phase takes more than ``most`` of the step at the low end of its interval; unclear where phases cannot be told.

    Raises:
        TooFewPoints: the profile does not name the phase.

    """
    rows = {row["name"]: row for row in profile(run)["phases"]}
    if phase not in rows:
        raise TooFewPoints(f"{phase} cannot be told apart in what was recorded")
    row = rows[phase]
    measures = {key: float(row[key]) for key in ("share", "share_low", "share_high", "seconds_per_step") if row[key] is not None}
    share, low, high = (number(100 * row[key]) for key in ("share", "share_low", "share_high"))
    text = f"{phase.capitalize()} takes {share} % of a step ({low} to {high} %)"
    where = (Evidence("telemetry" if len(run.telemetry) else "time/phase/*", run.first_step, run.last_step),)
    if row["confidence"] == "low":
        text += f", if the {'lower' if phase == 'generation' else 'higher'} level of power is {phase}"
        return unclear(f"{text}.", None, measures, where)
    if row["share_low"] > most:
        return present(f"{text}.", None, measures, where)
    if row["share_high"] < most:
        return absent(f"{text}.", None, measures, where)
    return unclear(f"{text}, which lies on both sides of the mark.", None, measures, where)
