"""The first picture of the page: the outcome and the cause's own metric over the run, with the break and the checkpoint to keep."""

import numpy as np

from rl_advisor.answers.story.quantities import Quantity
from rl_advisor.answers.story.telling import Story
from rl_advisor.assessment import Assessment
from rl_advisor.curves import outcome_shape
from rl_advisor.output.wording import pair, value
from rl_advisor.reports.html.curves import binned, logarithmic
from rl_advisor.reports.html.words import text
from rl_advisor.run import Curve, Run

WIDE, HIGH = 1000, 150
MOST = 3
"""Panels: held-out score, training reward, the cause's metric."""
ALIKE = 3
"""How many times the height of one curve another may have to share its panel."""

Span = tuple[float, float]


def hero(run: Run, a: Assessment, story: Story) -> str:
    """Panels above each other over one axis of steps; empty where nothing can be drawn."""
    able = [(q, run.curves[q.metric]) for q in story.curves if q.metric in run.curves and q.points > 1]
    outcome = {c.name for c in _outcome(run)}
    shown = [(q, c) for q, c in able if q.metric in outcome][:2]
    # The story puts the cause's own metric right behind the outcome; without a cause the outcome stands alone.
    shown += [(q, c) for q, c in able if q.metric not in outcome and story.cause][: MOST - len(shown)]
    if not shown:
        return ""
    ends = (run.first_step, max(run.last_step, run.first_step + 1))
    panels = "".join(_panel(group, ends, a) for group in _grouped(shown))
    marks = "".join(_mark(at, name, kind, ends) for at, name, kind in _marked(a))
    ticks = "".join(f"<span>{ends[0] + (ends[1] - ends[0]) * share:.0f}</span>" for share in (0, 0.25, 0.5, 0.75, 1))
    return (
        f'<figure class="hero"><div class="marks" aria-hidden="true">{marks}</div>{panels}'
        f'<div class="hticks" aria-hidden="true">{ticks}</div><p class="axis">training step ({text(run.step_unit, 40)})</p></figure>'
    )


def _outcome(run: Run) -> list[Curve]:
    return [c for c in (outcome_shape.held_out(run), outcome_shape.training(run)) if c is not None]


def _marked(a: Assessment) -> list[tuple[float, str, str]]:
    marks = [(a.onset.step, "first break", "at-break")] if a.onset else []
    return marks + (
        [(float(a.best_checkpoint.step), "keep", "at-best")] if a.best_checkpoint.path and a.best_checkpoint.step is not None else []
    )


def _mark(at: float, name: str, kind: str, ends: Span) -> str:
    """A name above the panels, at the very place of its line."""
    x = round(40 * min(1.0, max(0.0, (at - ends[0]) / (ends[1] - ends[0]))))
    return f'<span class="{kind} x{x}">{name} {at:.0f}</span>'


def _grouped(shown: list[tuple[Quantity, Curve]]) -> list[list[tuple[Quantity, Curve]]]:
    """Curves by panel: two of the outcome share one where both fit its height."""
    if len(shown) < 2 or not _is_outcome(shown[1][0]):
        return [[s] for s in shown]
    (low_a, high_a), (low_b, high_b) = (_ends(c) for _, c in shown[:2])
    whole = max(high_a, high_b) - min(low_a, low_b)
    together = whole <= ALIKE * min(high_a - low_a, high_b - low_b)
    return [[*shown[:2]], *([s] for s in shown[2:])] if together else [[s] for s in shown]


def _is_outcome(q: Quantity) -> bool:
    return q.metric.startswith(("eval/score/", "reward/"))


def _ends(curve: Curve) -> Span:
    x = curve.finite()[1]
    return float(x.min()), float(x.max())


def _panel(group: list[tuple[Quantity, Curve]], ends: Span, a: Assessment) -> str:
    log = all(logarithmic(c) for _, c in group)
    spans = [_ends(c) for _, c in group]
    low, high = min(s[0] for s in spans), max(s[1] for s in spans)
    paths = "".join(f'<path class="h{i}" d="{_path(c, ends, (low, high), log=log)}"/>' for i, (_, c) in enumerate(group))
    lines = "".join(f'<path class="{kind}" d="M{_across(at, ends):.1f} 0V{HIGH}"/>' for at, _, kind in _marked(a))
    went = [" → ".join(pair(q.first, q.last, q.unit)) for q, _ in group]
    names = "".join(f'<li class="h{i}">{text(q.label, 80)} <b>{went[i]}</b></li>' for i, (q, _) in enumerate(group))
    said = "; ".join(q.said for q, _ in group)
    unit = group[0][0].unit
    axis = f'<span class="top">{value(high, unit)}{" (log)" if log else ""}</span><span class="low">{value(low, unit)}</span>'
    return (
        f'<ul class="names">{names}</ul><div class="panel">{axis}<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(said, 400)}">{lines}{paths}</svg></div>'
    )


def _across(step: float, ends: Span) -> float:
    return min(WIDE, max(0.0, WIDE * (step - ends[0]) / (ends[1] - ends[0])))


def _path(curve: Curve, ends: Span, up: Span, *, log: bool) -> str:
    points = binned(curve)
    y, (low, high) = np.array(points["y"]), up
    if log:
        y, low, high = np.log10(np.maximum(y, low)), float(np.log10(low)), float(np.log10(high))
    height = HIGH - 4 - (HIGH - 8) * (y - low) / max(high - low, 1e-12)
    return "M" + "L".join(f"{_across(a, ends):.1f} {b:.1f}" for a, b in zip(points["x"], height.tolist(), strict=True))
