"""The first picture of the page: the outcome and the cause's own metric over the run, with the break and the checkpoint to keep."""

import math
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.story.chain import chain
from rl_advisor.answers.story.quantities import Quantity, quantity
from rl_advisor.answers.story.telling import Story
from rl_advisor.assessment import Assessment
from rl_advisor.curves import outcomes
from rl_advisor.output.wording import tick, value
from rl_advisor.reports.html.curves import WHOLE, binned, logarithmic, moves, thinned
from rl_advisor.reports.html.words import text
from rl_advisor.run import Curve, Floats, Run

WIDE, HIGH = 1000, 150
MOST = 3
"""Panels: held-out score, training reward, the cause's metric."""
ALIKE = 3
"""How many times the height of one curve another may have to share its panel."""
LEFT, RIGHT = 25, 65
"""Percent of the width before which a name does not fit left of its line, and beyond which it does not fit right of it."""
START = 0.02
"""Share of the run before which a break is one from the start."""

Shown = tuple[Quantity, Curve]
Span = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """A line through all panels."""

    at: float
    name: str
    kind: str


def hero(run: Run, a: Assessment, story: Story) -> str:
    """Panels above each other over one axis of steps; empty where nothing can be drawn."""
    shown = _shown(run, a, story)
    if not shown:
        return ""
    ends = (run.first_step, max(run.last_step, run.first_step + 1))
    groups, marks = _grouped(shown), _marked(a, ends)
    panels = "".join(_panel(group, ends, a, marks) for group in groups)
    return f'<figure class="hero of{len(groups)}">{_names(marks, ends)}{panels}{axis(ends, run.step_unit)}</figure>'


def _shown(run: Run, a: Assessment, story: Story) -> list[Shown]:
    """The outcome, then what shows the cause and its effects; of a run of which nothing is understood, what moved."""
    outcome = {c.name for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None}
    shown = [(q, run.curves[q.metric]) for q in story.curves if q.metric in outcome & run.curves.keys() and q.points > 1][:2]
    told = [run.curves[n] for n in _telling(run, a, story)] if story.cause else []
    if not shown and not told:
        told = [c for c in run.curves.values() if not c.name.startswith("progress/")]
    for curve in told:
        if len(_grouped(shown)) < MOST and moves(curve) and not any(_alike(curve, c) for _, c in shown):
            shown += [(q, curve) for q in [quantity(curve, run)] if q is not None]
    return shown


def _telling(run: Run, a: Assessment, story: Story) -> list[str]:
    """Metrics of the cause, of its effects, then what is usually looked at."""
    known = chain(a)
    cited = [str(e["metric"]) for f in (known.cause, *known.effects) if f is not None for e in f.evidence[:1]]
    return [n for n in dict.fromkeys([*cited, *(q.metric for q in story.curves)]) if n in run.curves]


def _alike(a: Curve, b: Curve) -> bool:
    return a.name == b.name or np.array_equal(a.value, b.value, equal_nan=True)


def _marked(a: Assessment, ends: Span) -> list[Mark]:
    marks = []
    if a.onset:
        from_start = a.onset.step - ends[0] <= START * (ends[1] - ends[0])
        marks.append(Mark(a.onset.step, "broken from the start" if from_start else f"first break {a.onset.step:.0f}", "at-break"))
    if a.best_checkpoint.path and a.best_checkpoint.step is not None:
        marks.append(Mark(float(a.best_checkpoint.step), f"keep {a.best_checkpoint.step:.0f}", "at-best"))
    return marks


def _names(marks: list[Mark], ends: Span) -> str:
    """The names of the lines above the panels, each at its line; on two rows where they would meet."""
    places = [100 * _across(m.at, ends) / WIDE for m in marks]
    room = [x < LEFT if m.kind == "at-best" else x <= RIGHT for m, x in zip(marks, places, strict=True)]
    apart = len(marks) < 2 or (places[1] <= places[0] and room == [True, False])
    rows = [13 if apart else 13 + 15 * i for i in range(len(marks))]
    names = "".join(
        f'<text class="{m.kind}" x="{x:.2f}%" y="{y}" dx="{4 if right else -4}" text-anchor="{"start" if right else "end"}">{m.name}</text>'
        for m, x, y, right in zip(marks, places, rows, room, strict=True)
    )
    return f'<svg class="marks" height="{max(rows) + 4}" aria-hidden="true" focusable="false">{names}</svg>' if marks else ""


def axis(ends: Span, name: str) -> str:
    """Round steps below the panels, and what they count."""
    names = ""
    for t in ticks(*ends):
        x = 100 * _across(t, ends) / WIDE
        anchor = "start" if x < 3 else "end" if x > 97 else "middle"
        names += f'<text x="{x:.2f}%" y="13" text-anchor="{anchor}">{tick(t)}</text>'
    return f'<svg class="xticks" height="18" aria-hidden="true" focusable="false">{names}</svg><p class="axis">{text(name, 120)}</p>'


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About as many round numbers between two steps."""
    raw = max((high - low) / about, 1.0)
    size = 10.0 ** math.floor(math.log10(raw))
    wide = next(m * size for m in (1, 2, 5, 10) if m * size >= raw)
    return [float(t) for t in np.arange(math.ceil(low / wide) * wide, high + 1e-9 * wide, wide)]


def _grouped(shown: list[Shown]) -> list[list[Shown]]:
    """Curves by panel: two of the outcome share one where both fit its height."""
    if len(shown) < 2 or not all(q.metric.startswith(("eval/score/", "reward/")) for q, _ in shown[:2]):
        return [[s] for s in shown]
    (low_a, high_a), (low_b, high_b) = (_ends(c) for _, c in shown[:2])
    whole = max(high_a, high_b) - min(low_a, low_b)
    together = whole <= ALIKE * min(high_a - low_a, high_b - low_b)
    return [[*shown[:2]], *([s] for s in shown[2:])] if together else [[s] for s in shown]


def _ends(curve: Curve) -> Span:
    x = curve.finite()[1]
    return float(x.min()), float(x.max())


def _panel(group: list[Shown], ends: Span, a: Assessment, marks: list[Mark]) -> str:
    log = all(logarithmic(c) for _, c in group)
    lows, highs = zip(*(_ends(c) for _, c in group), strict=True)
    if log:
        lows = tuple(float(x[x > 0].min()) for _, c in group for x in [c.finite()[1]])
    up = (min(lows), max(highs))
    paths = "".join(_drawing(c, i, ends, up, log=log) for i, (_, c) in enumerate(group))
    lines = "".join(f'<path class="{m.kind}" d="M{_across(m.at, ends):.1f} 0V{HIGH}"/>' for m in marks)
    low, high = (_across(s, ends) for s in (a.onset.low, a.onset.high)) if a.onset else (0.0, 0.0)
    band = f'<path class="band" d="M{low:.1f} 0H{high:.1f}V{HIGH}H{low:.1f}Z"/>' if high > low else ""
    names = "".join(f'<li class="h{i}">{text(q.label, 80)} <b>{_went(q)}</b></li>' for i, (q, _) in enumerate(group))
    unit = group[0][0].unit
    return (
        f'<ul class="names">{names}{"<li>log axis</li>" if log else ""}</ul><div class="panel">'
        f'<p class="ends" aria-hidden="true"><span>{value(up[1], unit)}</span><span>{value(up[0], unit)}</span></p>'
        f'<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text("; ".join(q.said for q, _ in group), 400)}">{band}{lines}{paths}</svg></div>'
    )


def _went(q: Quantity) -> str:
    return f"{q.spelled(q.first)} → {q.spelled(q.last)}"


def _across(step: float, ends: Span) -> float:
    return min(WIDE, max(0.0, WIDE * (step - ends[0]) / (ends[1] - ends[0])))


def _drawing(curve: Curve, place: int, ends: Span, up: Span, *, log: bool) -> str:
    """Single points of a short curve; of a long one the logged points, faint, under the medians of neighbours."""
    step, x = curve.finite()
    points = binned(curve)
    line = _path(np.array(points["x"]), np.array(points["y"]), ends, up, log=log)
    if x.size <= WHOLE:
        return f'<path class="h{place}" d="M{"L".join(line)}"/><path class="dots h{place}" d="{"".join(f"M{p}h0" for p in line)}"/>'
    raw = _path(*thinned(step, x), ends, up, log=log)
    return f'<path class="raw h{place}" d="M{"L".join(raw)}"/><path class="h{place}" d="M{"L".join(line)}"/>'


def _path(step: Floats, y: Floats, ends: Span, up: Span, *, log: bool) -> list[str]:
    low, high = up
    if log:
        y, low, high = np.log10(np.maximum(y, low)), math.log10(low), math.log10(high)
    height = HIGH - 6 - (HIGH - 12) * (y - low) / max(high - low, 1e-12)
    return [f"{_across(a, ends):.1f} {b:.1f}" for a, b in zip(step.tolist(), height.tolist(), strict=True)]
