"""Responses or episodes shrink to a stub.

Looks for: a length that falls by more than half beyond its scatter, without a rising held-out score.
Means: a short-cut: short junk to avoid a penalty, a template, a policy that gives up early.
Not to be confused with: terse but right answers on easy tasks, where the score rises with it; a task that ends sooner because it is
    solved.
Next test: read the shortest tenth of the responses beside their rewards.
Source: the practitioner's guide on sudden changes of length.
"""

import numpy as np

from rl_advisor.curves import outcome_shape, segments
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent
from rl_advisor.output.wording import about
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
NEEDS: tuple[str, ...] = ("response/length",)

STUB = 0.3
"""Share of its start below which a length is a stub, whether or not a score is logged."""


def detect(run: Run, left: float = 0.5) -> Answer:
    """Present when length ends below ``left`` of its start and no score says that this is an improvement."""
    curve = run.curves["response/length"]
    step, value = curve.finite()
    if value.size < 6:
        raise TooFewPoints(f"{value.size} points of response/length")
    begin, now = float(np.median(segments.opening(curve))), float(np.median(segments.final(curve)))
    held = outcome_shape.shape_or_none(outcome_shape.held_out(run))
    measures = {"at_start": begin, "now": now}
    where = (Evidence(curve.name, float(step[0]), float(step[-1])),)
    text = f"Mean length went {about(begin, now)} tokens"
    if now >= left * begin:
        return absent(f"{text}.", measures=measures, evidence=where)
    if held is not None and held.rose and not held.fell:
        return absent(f"{text} as the held-out score rose.", measures=measures, evidence=where)
    outcome = Outcome.PRESENT if held is not None or now < STUB * begin else Outcome.UNCLEAR
    said = (
        "without a gain in the held-out score" if held is not None else "and no held-out score says that they got better: read the shortest"
    )
    return Answer(outcome, f"{text} {said}.", segments.began(curve), measures, where)
