"""One test gets better and another one worse.

Looks for: among several held-out scores, one that rose and kept its gain, and one that ends below its own best by more than noise.
Means: what is trained is paid for with abilities that are not: forgetting, or the tax of aligning. Which of the two tests counts is a
    decision of people, not of the curves.
Not to be confused with: the score of the trained task falling (over-optimisation, decline); the best of many draws (see narrowing).
Next test: the whole suite of tests at three checkpoints; then some of the old data, or a stronger pull to the reference.
Source: the alignment tax in InstructGPT (arXiv 2203.02155).
"""

from rl_advisor.curves import outcomes, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, present
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EVALUATION
ROLE = Role.SYMPTOM
SPEAKS = {"degrading": 0.5}
NEEDS: tuple[str, ...] = ("eval/score/*",)


def detect(run: Run) -> Answer:
    """Present when one score rose for good and another one fell for good."""
    single = {n: c for n, c in run.family("eval/score/").items() if segments.drawn(n) == 1}
    shapes = {n: s for n, c in single.items() if (s := outcomes.course_or_none(c)) is not None}
    if len(shapes) < 2:
        raise TooFewPoints(f"needs two held-out scores with enough evaluations; this run has {len(shapes)}")
    gained = [s for s in shapes.values() if s.rose and not s.fell]
    lost = sorted((s for s in shapes.values() if s.fell), key=lambda s: -s.lost)
    measures = {f"{name} last": s.last for name, s in list(shapes.items())[:6]} | {"gained": float(len(gained)), "lost": float(len(lost))}
    where = tuple(Evidence(s.name, float(s.step[0]), float(s.step[-1])) for s in (*gained[:1], *lost[:1]))
    if gained and lost:
        up, down = gained[0], lost[0]
        text = f"{up.name} went {about(up.start, up.last)}, {down.name} {about(down.best, down.last)}."
        return present(text, segments.decline_began(single[down.name]), measures, where)
    text = f"Of {len(shapes)} held-out scores {len(gained)} rose and {len(lost)} fell."
    return absent(text, measures=measures, evidence=where)
