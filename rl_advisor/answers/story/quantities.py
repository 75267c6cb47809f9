"""The quantities that an answer names, each measured once: raw logged values under the name that the run gave them, none smoothed."""

from dataclasses import dataclass

import numpy as np

from rl_advisor.assessment import QuantityView
from rl_advisor.curves import outcome_shape
from rl_advisor.output.wording import pair, value
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.vocabulary import metric

SKETCHED, RECENT, AROUND = 12, 5, 5
"""Points of a sketch, newest points given one by one, and points whose median says what was usual before and after an event."""
BLOCKS = 24
"""Characters of a sparkline."""
TOLD = ("reward/mean", "reward/success", "kl/ref", "kl/old", "entropy/mean", "response/length", "episode/length")
"""What is sketched beside the outcome."""


@dataclass(frozen=True)
class Quantity:
    """One logged curve as it is told at every door."""

    metric: str
    """Our name."""
    label: str
    """The run's own name."""
    unit: str
    points: int
    first: float
    last: float
    best: float | None
    """The best logged value, where higher or lower is better."""
    best_step: float | None
    recent: tuple[tuple[float, float], ...]
    """The newest points."""
    sketch: tuple[tuple[float, float], ...]
    """A dozen of its raw points, the first and the last among them."""
    blocks: tuple[float, ...]
    """Means of two dozen stretches, the last one the last point itself."""

    @property
    def said(self) -> str:
        """From where to where it went, and its best where that lies between."""
        a, b = pair(self.first, self.last, self.unit)
        if self.points == 1:
            return f"{self.metric} is {b} (one point)"
        best = ""
        if self.best is not None and self.best_step is not None and value(self.best, self.unit) not in (a, b):
            best = f", best {value(self.best, self.unit)} at step {self.best_step:.0f}"
        return f"{self.metric} from {a} to {b}{best}"

    def view(self, at_checkpoint: float | None = None) -> QuantityView:
        """Its values for an assessment."""
        return QuantityView(
            metric=self.metric, first=self.first, last=self.last, best=self.best, best_step=self.best_step, at_checkpoint=at_checkpoint
        )


@dataclass(frozen=True)
class Moved:
    """What a curve usually was before an event and what it is now: medians of a few raw points that do not reach across the event."""

    metric: str
    unit: str
    before: float
    after: float

    @property
    def said(self) -> str:
        """The move in a few words."""
        a, b = pair(self.before, self.after, self.unit)
        return f"{self.metric} from {a} to {b}"


def unit_of(curve: Curve) -> str:
    """The unit in which a curve is said."""
    if curve.name == "policy/learning_rate":
        return "rate"
    known = metric(curve.name)
    return known.unit if known else ""


def label(curve: Curve) -> str:
    """The name by which the run's owner knows a curve; ours where it was put together from several."""
    return curve.raw if curve.raw and len(curve.raw) <= 60 and ", " not in curve.raw else curve.name


def quantity(curve: Curve) -> Quantity | None:
    """The curve's quantity; None where it has no finite value."""
    step, x = curve.finite()
    if not x.size:
        return None
    better = known.better if (known := metric(curve.name)) else 0
    at = int(np.argmax(better * x)) if better else 0
    chosen = np.unique(np.linspace(0, x.size - 1, min(SKETCHED, x.size)).round().astype(int))
    return Quantity(
        metric=curve.name,
        label=label(curve),
        unit=unit_of(curve),
        points=int(x.size),
        first=float(x[0]),
        last=float(x[-1]),
        best=float(x[at]) if better else None,
        best_step=float(step[at]) if better else None,
        recent=_points(step[-RECENT:], x[-RECENT:]),
        sketch=_points(step[chosen], x[chosen]),
        blocks=_blocks(x),
    )


def _points(step: Floats, x: Floats) -> tuple[tuple[float, float], ...]:
    return tuple((float(round(s)), float(f"{v:.3g}")) for s, v in zip(step.tolist(), x.tolist(), strict=True))


def _blocks(x: Floats) -> tuple[float, ...]:
    parts = np.array_split(x, min(BLOCKS, x.size))
    return (*(float(p.mean()) for p in parts[:-1]), float(x[-1]))


def logged_at(curve: Curve | None, at: float | None) -> float | None:
    """The value that was logged at a step, or last before it; None where there is none."""
    step, x = curve.finite() if curve is not None else (np.empty(0), np.empty(0))
    before = x[step <= at] if at is not None else x[:0]
    return float(before[-1]) if before.size else None


def moved(curve: Curve, at: float | None) -> Moved | None:
    """How a curve moved across a step, or over the whole run where no step is given; None with fewer than four points."""
    step, x = curve.finite()
    if x.size < 4:
        return None
    early = x[step < at] if at is not None else x[: x.size // 2]
    late = x[step > at] if at is not None else x[x.size // 2 :]
    if not early.size or not late.size:
        early, late = x[: x.size // 2], x[x.size // 2 :]
    near = early[-AROUND:] if at is not None else early[:AROUND]
    return Moved(curve.name, unit_of(curve), float(np.median(near)), float(np.median(late[-AROUND:])))


def outcomes(run: Run) -> list[Quantity]:
    """The held-out score and the training reward that the judgement goes by, where they are logged."""
    curves = [c for c in (outcome_shape.held_out(run), _as_logged(run, outcome_shape.training(run))) if c is not None]
    return [q for c in curves if (q := quantity(c)) is not None]


def _as_logged(run: Run, curve: Curve | None) -> Curve | None:
    """The training reward as the run logged it: what the judge un-averages is no number that its owner can find."""
    return run.curves.get(curve.name, curve) if curve is not None else None


def sketched(run: Run, also: str = "") -> list[Quantity]:
    """The curves that an answer sketches: outcome, reward, KL, entropy, length, and the cause's own metric."""
    told = outcomes(run)
    wanted = [name for name in (*TOLD, also) if name in run.curves and name not in {q.metric for q in told}]
    return told + [q for name in wanted if (q := quantity(run.curves[name])) is not None]


def own_names(run: Run) -> dict[str, str]:
    """Our name of each metric -> the name that the run's owner can search for, where they differ."""
    return {c.name: label(c) for c in run.curves.values() if c.mapped and label(c) != c.name}
