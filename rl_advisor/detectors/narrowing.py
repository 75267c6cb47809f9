"""The first answer gets better while the best of many gets worse.

Looks for: two held-out scores of one test, one of a single answer (pass@1, a mean) and one of the best of several (pass@k, best of n),
    of which the first rose and the second fell by more than noise.
Means: training concentrates on what the model could do already; problems that it solved now and then are lost. More of the same
    steps brings the first answer closer to a ceiling that is coming down.
Not to be confused with: majority votes, which follow the single answer; an evaluation whose temperature or number of
    draws changed.
Next test: pass@k with at least 64 draws on fifty prompts, at the first and the last checkpoint, at one temperature.
Source: studies of coverage after reinforcement learning (arXiv 2504.13837, arXiv 2310.06452).
"""

from collections.abc import Mapping

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.outcomes import Course
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, present
from rl_advisor.output.wording import about
from rl_advisor.run import Curve, Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("eval/score/*",)
CHANGE: tuple[tuple[str, str], ...] = (("clip_higher", ""), ("kl_coef", "three times"))


def both(scores: Mapping[str, Curve]) -> tuple[Course | None, Course | None, Curve | None]:
    """The shape of the single answer with the most points, that of the widest best-of-many, and the latter's curve."""
    ranked = sorted(scores.values(), key=lambda c: (segments.drawn(c.name), -c.finite()[1].size))
    one, many = ranked[0], ranked[-1]
    if segments.drawn(one.name) > 1 or segments.drawn(many.name) == 1:
        return None, None, None
    return outcomes.course_or_none(one), outcomes.course_or_none(many), many


def detect(run: Run) -> Answer:
    """Present when the single answer rose and kept its gain while the best of many fell; unclear while one of the two is undecided."""
    one, many, curve = both(run.family("eval/score/"))
    if one is None or many is None or curve is None:
        raise TooFewPoints("the score of a single answer and pass@k are not both logged with 5 evaluations")
    measures = {"one_start": one.start, "one_last": one.last, "many_best": many.best, "many_last": many.last}
    where = tuple(Evidence(s.name, float(s.step[0]), float(s.step[-1])) for s in (one, many))
    text = f"{one.name} went {about(one.start, one.last)}, "
    text += f"{many.name} {about(many.best, many.last)} since its best"
    better = one.rose and not one.fell
    if better and many.fell:
        return present(f"{text}.", segments.decline_began(curve), measures, where)
    worse = many.overall.slope < 0 and many.best - many.last > many.margin and many.direction_overall() == "undecidable"
    outcome = Outcome.UNCLEAR if better and worse else Outcome.ABSENT
    return Answer(outcome, f"{text}.", measures=measures, evidence=where)
