"""The curves that a document draws: which ones lead, which are wanted besides, as at most 512 bins each, and where their points lie."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.curves import FIRST, among_others, in_order
from rl_advisor.answers.story.chain import chain
from rl_advisor.answers.story.quantities import Quantity, quantity, unit_of
from rl_advisor.curves import outcomes
from rl_advisor.features.bins import evenly, reduce
from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.priors.bank import Usual
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
PANELS = 3
"""Panels of the first picture."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One curve as the page shows it."""

    key: str
    """Its anchor in the page; never made from the run's words."""
    curve: Curve
    quantity: Quantity
    usual: Usual | None = None
    """What sound runs of others measured."""

    @property
    def told(self) -> str:
        """What it did, in the values that were logged."""
        q = self.quantity
        unit = f" {q.unit}" if q.unit in ("nats", "tokens", "s", "tokens/s", "GiB") else ""
        return f"{q.spelled(q.first)} → {q.spelled(q.last)}{unit}{q.best_said}" + (" (log axis)" if logarithmic(self.curve) else "")

    @property
    def among(self) -> str:
        """Where it ends among sound runs of others, where that is not among nine of ten; empty where nothing is known."""
        value = self.curve.numbers
        return self.usual.says(value[-1]) if self.usual and value.size and not self.usual.low <= value[-1] <= self.usual.high else ""


def drawn(run: Run, assessment: Assessment) -> list[Drawn]:
    """The curves of the evidence, those of which it is known what is usual, and what people look for; others where these are few."""
    shown = (f for f in assessment.findings if f.outcome in ("present", "unclear"))
    cited = {str(e["metric"]) for f in shown for e in f.evidence}
    moved = [c for c in in_order(run) if (c.varies or (c.name in cited and c.numbers.size > 1)) and not _again(c, run)]
    able = [c for c in moved if metric(c.name) or c.name in cited] or moved  # where nothing is understood, what there is
    bands = {c.name: among_others(run, c) for c in able}

    def lacks(curve: Curve) -> tuple[bool, ...]:
        return curve.name not in cited, bands[curve.name] is None, not curve.name.startswith(USUAL)

    wanted = sum(not all(lacks(c)) for c in able)
    chosen = {c.name for c in sorted(able, key=lacks)[: min(MOST, max(FEWEST, wanted))]}
    found = enumerate(c for c in able if c.name in chosen)
    return [Drawn(f"curve-{i}", c, quantity(c, run), bands[c.name]) for i, c in found]


def _again(curve: Curve, run: Run) -> bool:
    """Whether a component of the reward is the whole of it."""
    whole = run.curves.get("reward/mean")
    return curve.name.startswith("reward/component/") and whole is not None and np.array_equal(curve.value, whole.value, equal_nan=True)


def leading(run: Run, a: Assessment, story: Answer) -> list[Drawn]:
    """What the first picture shows, panel by panel: the outcome, then what shows the cause and its effects; else what moved."""
    outcome = {c.name for c in (outcomes.held_out(run), outcomes.training(run)) if c is not None}
    told, known = chain(a), [str(q["metric"]) for q in story["curves"]]
    cited = [str(e["metric"]) for f in (told.cause, *told.effects) if f is not None for e in f.evidence[:1]]
    first = [n for n in known if n in outcome and run.curves[n].numbers.size > 1][:2]
    then = [n for n in (*cited, *known) if {"Cause", "Limits"} & story["facts"].keys() and n in run.curves]
    names = [*first, *then] or [n for n in run.curves if not n.startswith("progress/")]
    shown: list[Curve] = []
    for curve in (run.curves[n] for n in dict.fromkeys(names)):
        again = any(np.array_equal(curve.value, c.value, equal_nan=True) for c in shown)
        shown += [curve] if (curve.varies or curve.name in first) and not again else []
    return [Drawn("", c, quantity(c, run)) for c in shown[:PANELS]]


def binned(curve: Curve) -> dict[str, list[float]]:
    """Step, line, low and high of each bin: the median of a bin and its lowest and highest point; single points of a short curve."""
    step, value = curve.finite()
    bins = reduce(step, value, step.size if step.size <= WHOLE else min(512, max(WHOLE, step.size // _PER_BIN)))
    short = {"x": bins.step, "y": bins.median, "low": bins.low, "high": bins.high}
    return {name: [float(f"{v:.5g}") for v in column.tolist()] for name, column in short.items()}


def raw(curve: Curve) -> tuple[Floats, Floats]:
    """Logged points of a curve that is drawn as a line of medians: evenly chosen, the first and the last among them."""
    step, value = curve.finite()
    chosen = evenly(step.size, RAW) if step.size > WHOLE else []
    return step[chosen], value[chosen]


def payload(run: Run, assessment: Assessment, curves: list[Drawn]) -> Answer:
    """Everything the page's script needs, as plain JSON."""
    onset, present = assessment.onset, [f for f in assessment.findings if f.outcome == "present" and f.onset]

    def begun(name: str) -> list[list[float]]:
        """The onsets of the present findings that rest on a curve."""
        return [[o["step"], o["low"], o["high"]] for f in present if (o := f.onset) and any(e["metric"] == name for e in f.evidence)]

    return {
        "steps": [run.first_step, max(run.last_step, run.first_step + 1)],
        "unit": run.step_unit,
        "best": assessment.best_checkpoint.step,
        "onset": [onset.step, onset.low, onset.high] if onset else None,
        "curves": [
            {
                "key": d.key,
                "name": d.curve.name,
                "unit": d.quantity.unit,
                "log": logarithmic(d.curve),
                "dots": d.quantity.points <= WHOLE,
                "raw": [[float(f"{s:.7g}"), float(f"{v:.4g}")] for s, v in np.transpose(raw(d.curve)).tolist()],
                **binned(d.curve),
                "onsets": begun(d.curve.name),
                "usual": [d.usual.low, d.usual.high] if d.usual else None,
            }
            for d in curves
        ],
    }


def logarithmic(curve: Curve) -> bool:
    """Whether a curve is drawn on a logarithmic axis: positive nearly everywhere, over more than a factor of fifty."""
    x = curve.numbers
    if curve.name.startswith(LINEAR) or unit_of(curve) == "share" or not x.size or x.min() < 0 or np.mean(x == 0) > ZEROS:
        return False
    above = x[x > 0]
    return bool(above.size and above.max() / above.min() > SPAN)


@dataclass(frozen=True)
class Frame:
    """Where steps and values lie in a picture that is 1 wide and 1 high."""

    ends: tuple[float, float]
    low: float
    high: float
    log: bool = False

    @classmethod
    def of(cls, curves: Sequence[Curve], ends: tuple[float, float]) -> "Frame":
        """The frame that holds these curves; on a logarithmic axis the lowest value is the lowest above zero."""
        values, log = np.concatenate([c.numbers for c in curves]), all(map(logarithmic, curves))
        return cls(ends, float((values[values > 0] if log else values).min()), float(values.max()), log)

    def across(self, step: Floats | float) -> Floats:
        """How far from the left each step lies."""
        first, last = self.ends
        return np.clip((np.asarray(step, np.float64) - first) / (last - first), 0, 1)

    def up(self, value: Floats) -> Floats:
        """How far from the bottom each value lies; values of one height lie there."""
        if self.log:
            value, low, high = np.log10(np.maximum(value, self.low)), np.log10(self.low), np.log10(self.high)
        else:  # halves, because the range of the largest numbers is infinite
            value, low, high = value / 2, self.low / 2, self.high / 2
        return np.asarray((value - low) / (high - low if high > low else 1.0), np.float64)
