"""The curves that a document draws: which ones lead, which are wanted besides, as at most 512 bins each, with what was measured on them."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.curves import FIRST, in_order
from rl_advisor.answers.story.chain import chain
from rl_advisor.answers.story.quantities import Quantity, quantity, unit_of
from rl_advisor.answers.story.telling import Story
from rl_advisor.assessment import Assessment
from rl_advisor.curves import outcomes
from rl_advisor.features import TooFewPoints
from rl_advisor.features.bins import evenly, reduce
from rl_advisor.features.change import change_points
from rl_advisor.output import Answer
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.vocabulary import metric

MOST = 16
"""Curves that are drawn; the rest is only named."""
FEWEST = 6
"""Curves that are drawn when there are so many, wanted or not."""
USUAL = (*FIRST, "policy/learning_rate", "ratio/clip_fraction", "reward/component/", "value/loss")
"""Curves that are wanted on every page: besides the foremost, what people look for next."""
RAW = 400
"""Logged points of a long curve that are drawn under its line."""
SPAN = 50
"""Largest over smallest value from which an axis is logarithmic."""
ZEROS = 0.05
"""Share of points that may be zero on such an axis, where they lie on its floor; of a curve that dies to zero that would hide the end."""
LINEAR = ("eval/score/", "reward/")
"""What is told in scores and shares, of which nobody thinks in decades."""
WHOLE = 60
"""Points up to which every point is drawn as it is."""
_PER_BIN = 5
PANELS, ALIKE = 3, 3
"""Panels of the first picture, and how many times the height of one curve another may have to share its panel."""
Shown = tuple[Quantity, Curve]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One curve as the page shows it."""

    key: str
    """Its anchor in the page; never made from the run's words."""
    curve: Curve
    changes: tuple[float, ...]
    """Steps at which its level changed."""
    run: Run


def drawn(run: Run, assessment: Assessment) -> list[Drawn]:
    """The curves of the outcome, of the evidence and the usual suspects, as far as they moved; others only where these are few."""
    told = {
        outcome: {str(e["metric"]) for f in assessment.findings if f.outcome == outcome for e in f.evidence}
        for outcome in ("present", "unclear")
    }
    cited = told["present"] | told["unclear"]
    moved = [c for c in in_order(run) if (moves(c) or (c.name in told["present"] and c.finite()[1].size > 1)) and not _again(c, run)]
    able = [c for c in moved if metric(c.name) or c.name in cited] or moved  # where nothing is understood, what there is
    ranked = sorted(able, key=lambda c: (c.name not in cited and not c.name.startswith(LINEAR), not c.name.startswith(USUAL)))
    wanted = sum(c.name in cited or c.name.startswith(USUAL) for c in able)
    chosen = {c.name for c in ranked[: min(MOST, max(FEWEST, wanted))]}
    return [Drawn(f"curve-{i}", c, _changes(c), run) for i, c in enumerate(c for c in able if c.name in chosen)]


def constant(run: Run) -> list[Curve]:
    """Curves with a meaning that had one value throughout: a line of words tells them."""
    return [c for c in run.curves.values() if metric(c.name) and c.finite()[1].size > 1 and not moves(c)]


def moves(curve: Curve) -> bool:
    """Whether a curve had more than one value."""
    x = curve.finite()[1]
    return bool(x.size > 1 and np.ptp(x) > 0)


def _again(curve: Curve, run: Run) -> bool:
    """Whether a component of the reward is the whole of it."""
    whole = run.curves.get("reward/mean")
    return curve.name.startswith("reward/component/") and whole is not None and np.array_equal(curve.value, whole.value, equal_nan=True)


def _changes(curve: Curve) -> tuple[float, ...]:
    try:
        return tuple(c.step for c in change_points(*curve.finite()))
    except TooFewPoints:
        return ()


def leading(run: Run, a: Assessment, story: Story) -> list[list[Shown]]:
    """What the first picture shows, panel by panel: the outcome, then what shows the cause and its effects; else what moved."""
    outcome = {c.name for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None}
    shown = [(q, run.curves[q.metric]) for q in story.curves if q.metric in outcome & run.curves.keys() and q.points > 1][:2]
    chained = chain(a)
    cited = [str(e["metric"]) for f in (chained.cause, *chained.effects) if f is not None for e in f.evidence[:1]]
    wanted = [*cited, *(q.metric for q in story.curves)] if story.caused else []
    told = [run.curves[n] for n in dict.fromkeys(wanted) if n in run.curves]
    if not shown and not told:
        told = [c for c in run.curves.values() if not c.name.startswith("progress/")]
    for curve in told:
        again = any(curve.name == c.name or np.array_equal(curve.value, c.value, equal_nan=True) for _, c in shown)
        if len(_together(shown)) < PANELS and moves(curve) and not again and (q := quantity(curve, run)) is not None:
            shown.append((q, curve))
    return _together(shown)


def _together(shown: list[Shown]) -> list[list[Shown]]:
    """Curves by panel: two of the outcome share one where both fit its height."""
    apart = [[s] for s in shown]
    if len(shown) < 2 or not all(q.metric.startswith(LINEAR) for q, _ in shown[:2]):
        return apart
    (_, a), (_, b) = ((c.name, c.finite()[1]) for _, c in shown[:2])
    whole = max(a.max(), b.max()) - min(a.min(), b.min())
    return [shown[:2], *apart[2:]] if whole <= ALIKE * min(np.ptp(a), np.ptp(b)) else apart


def told(curve: Curve, run: Run) -> str:
    """What a curve did, in the values that were logged."""
    q = quantity(curve, run)
    if q is None:
        return "no finite value"
    unit = f" {q.unit}" if q.unit in ("nats", "tokens", "s", "tokens/s", "GiB") else ""
    return f"{q.spelled(q.first)} → {q.spelled(q.last)}{unit}{q.best_said}" + (" (log axis)" if logarithmic(curve) else "")


def binned(curve: Curve) -> dict[str, list[float]]:
    """Step, line, low and high of each bin: the median of a bin and its lowest and highest point; single points of a short curve."""
    step, value = curve.finite()
    bins = reduce(step, value, step.size if step.size <= WHOLE else min(512, max(WHOLE, step.size // _PER_BIN)))
    short = {"x": bins.step, "y": bins.median, "low": bins.low, "high": bins.high}
    return {name: [float(f"{v:.5g}") for v in column.tolist()] for name, column in short.items()}


def payload(run: Run, assessment: Assessment, curves: list[Drawn]) -> Answer:
    """Everything the page's script needs, as plain JSON."""
    best = assessment.best_checkpoint
    onset = assessment.onset
    return {
        "steps": [run.first_step, max(run.last_step, run.first_step + 1)],
        "unit": run.step_unit,
        "best": best.step,
        "onset": [onset.step, onset.low, onset.high] if onset else None,
        "curves": [
            {
                "key": d.key,
                "name": d.curve.name,
                "unit": unit_of(d.curve),
                "log": logarithmic(d.curve),
                "dots": d.curve.finite()[0].size <= WHOLE,
                "raw": _raw(d.curve),
                **binned(d.curve),
                **_marks(d, assessment),
            }
            for d in curves
        ],
        "axes": axes(run),
    }


def logarithmic(curve: Curve) -> bool:
    """Whether a curve is drawn on a logarithmic axis: positive nearly everywhere, over more than a factor of fifty."""
    x = curve.finite()[1]
    if curve.name.startswith(LINEAR) or unit_of(curve) == "share" or not x.size or x.min() < 0 or np.mean(x == 0) > ZEROS:
        return False
    above = x[x > 0]
    return bool(above.size and above.max() / above.min() > SPAN)


def thinned(step: Floats, value: Floats, most: int = RAW) -> tuple[Floats, Floats]:
    """No more than ``most`` points, evenly chosen, the first and the last among them."""
    chosen = evenly(step.size, most)
    return step[chosen], value[chosen]


def _raw(curve: Curve) -> list[list[float]]:
    """Logged points of a curve that is drawn as a line of medians."""
    step, value = curve.finite()
    if step.size <= WHOLE:
        return []
    return [[float(f"{s:.7g}"), float(f"{v:.4g}")] for s, v in zip(*(c.tolist() for c in thinned(step, value)), strict=True)]


def axes(run: Run) -> dict[str, list[list[float]]]:
    """What a step is in hours and in tokens, at no more than two hundred steps; never less than at the step before."""
    found: dict[str, list[list[float]]] = {}
    steps, times = run.clock()
    if steps.size > 1 and np.ptp(times) > 0:
        found["hours"] = _table(steps, (times - times[0]) / 3600)
    steps, tokens = run.curves["progress/tokens"].finite() if "progress/tokens" in run.curves else (np.empty(0), np.empty(0))
    if steps.size > 1 and np.ptp(tokens) > 0:
        found["tokens"] = _table(steps, tokens)
    return found


def _table(step: Floats, reached: Floats) -> list[list[float]]:
    return [[float(f"{v:.8g}") for v in column.tolist()] for column in thinned(step, np.maximum.accumulate(reached), 200)]


def _marks(d: Drawn, assessment: Assessment) -> Answer:
    """Change points of a curve, and the onsets of the present findings that rest on it."""
    present = [f for f in assessment.findings if f.outcome == "present" and f.onset]
    mine = [f.onset for f in present if any(e["metric"] == d.curve.name for e in f.evidence)]
    return {
        "changes": list(d.changes),
        "onsets": [[o["step"], o["low"], o["high"]] for o in mine if o],
    }
