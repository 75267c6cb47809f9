"""Each evaluation rests on too few episodes or prompts to choose a checkpoint by it.

Looks for: scatter of neighbouring evaluations that is more than half of all that the score gained, over eight evaluations or more.
Means: the highest single evaluation is luck. Only a smoothed score may choose a checkpoint, and small differences mean nothing.
Not to be confused with: a policy that really swings, where neighbouring evaluations agree and the level moves for a stretch.
Next test: evaluate the three best checkpoints again with four times the episodes, and keep the best of those.
Source: how often the raw best evaluation of classic-control runs is not the best policy; scatter of neighbours over the square root of two.
"""

from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("eval/score/*",)
CHANGE: tuple[tuple[str, str], ...] = (("eval_episodes", ""),)


def detect(run: Run, part: float = 0.5) -> Answer:
    """Present when the scatter exceeds ``part`` of the gain and matters; a level that hardly moved is judged against its own size."""
    score = outcomes.held_out(run)
    assert score is not None  # diagnosis asked for it
    s = outcomes.course_of(score)
    if s.n < 8:
        raise TooFewPoints(f"{s.n} evaluations, 8 needed")
    gain = max(s.best - s.start, s.best - s.last, s.margin)
    highest = float(s.value.max())
    above = highest - s.best
    measures = {"scatter": s.scatter, "moved": gain, "highest": highest, "smoothed_best": s.best, "above": above}
    where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
    text = f"Evaluation noise (sd {number(s.scatter)}) against a total change of {number(gain)}"
    if s.scatter > part * gain and s.scatter > s.margin:
        text += (
            f"; the highest single evaluation, {number(highest)}, is {number(above)} above the smoothed best" if above > 0.01 * gain else ""
        )
        return present(f"{text}.", None, measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)
