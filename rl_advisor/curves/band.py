"""A band of one's own: where every metric went in earlier sound runs of the same set-up, and where this run leaves that.

Curves are cut into stretches of the run; a stretch's mean in each sound run says what is usual there. How far one more sound run would lie
from their middle follows from how far they lie apart, from the noise of a stretch's mean, and from how fast the middle moves, because no
two runs take off at the same step. Few runs know little of their own spread, so that of a whole curve is heard beside that of a stretch
and the band is that of Student's distribution. What counts is a departure over many stretches, because neighbours are no independent
witnesses, and one that is large beside what the sound runs do among themselves. The more metrics are shared, the farther off
one of them has to lie, so that a sound run leaves any of its bands as seldom with twenty as with two.
Source: prediction intervals of one more observation; moderated variances (Smyth 2004); Bonferroni.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rl_advisor.features.series import Bools
from rl_advisor.features.student import quantile
from rl_advisor.finding import Onset
from rl_advisor.run import Curve, Floats, Run

MOST_STRETCHES, FEWEST_STRETCHES, POINTS = 24, 4, 2
"""Stretches at most and at least, and the points that each should have."""
PRIOR = 12.0
"""Degrees of freedom that the spread over the whole curve is worth beside that of one stretch."""
FREEDOM = 3.2
"""Degrees of freedom that each sound run is worth: with it ``ALARMS`` holds for sound runs of the proving ground."""
SHIFT = 0.2
"""By what share of the steps one sound run usually learns earlier or later than another."""
ALONE = 0.15
"""Between one sound run and the next, as a share of the range of the curve, where only one is known."""
LEAST = 0.01
"""What never matters, as a share of a metric's usual size."""
LONG = 0.12
"""Share of the stretches over which a departure must last."""
AMONG = 3.0
"""How far a sound run may leave the band of the others before departures are measured by it."""
ROUGH = 10.0
"""Largest over smallest value from which a positive metric is measured on a log scale."""
BAND = 0.95
"""Where one more sound run lies at a stretch with that probability: what is shown as band."""
ALARMS = 0.02
"""Share of sound runs of which any metric may leave its band for long."""
UNHEARD = ("time/", "progress/", "throughput/", "memory/")
"""What differs between machines and not between runs."""
PLANS_DIFFER = 1.05


@dataclass(frozen=True, eq=False)
class Band:
    """A metric beside its band; all arrays have one entry a stretch."""

    name: str
    edges: Floats
    """Where the stretches begin and end, one more than there are stretches."""
    low: Floats
    high: Floats
    here: Floats
    off: Floats
    """How far this run lies from the middle, in standard deviations of one more sound run."""
    runs: int
    among: float
    """The farthest that one of the sound runs departs from the others by the same measure; 0 for fewer than three."""
    shared: int = 1
    """How many metrics are measured beside it."""

    @property
    def size(self) -> float:
        """The largest departure that lasts, below the middle where negative, beside what sound runs do among themselves."""
        return lasting(self.off)[0] / max(1.0, self.among / AMONG)

    @property
    def outside(self) -> bool:
        """Whether the run left the band."""
        return abs(self.size) > limit(self.runs, 1 - ALARMS / self.shared)

    @property
    def usual(self) -> bool:
        """Whether the run nowhere leaves the band for long."""
        return abs(self.size) < limit(self.runs, BAND)

    @property
    def there(self) -> tuple[float, float, float]:
        """The run itself and the borders of its band in the middle of the largest departure."""
        at = (self.where.start + self.where.stop) // 2
        return float(self.here[at]), float(self.low[at]), float(self.high[at])

    @property
    def where(self) -> slice:
        """The stretches of the largest departure."""
        first = lasting(self.off)[1]
        return slice(first, first + width(self.off.size))

    @property
    def onset(self) -> Onset:
        """When the run left the band: from the last stretch inside of it to the first one outside."""
        sign, first = np.sign(self.size), self.where.start
        outside = sign * self.off > limit(self.runs, BAND)
        while first > 0 and outside[first - 1]:
            first -= 1
        return Onset(float(self.edges[first]), float(self.edges[max(0, first - 1)]), float(self.edges[first + 1]))


def bands(run: Run) -> list[Band]:
    """Every metric that this run and its sound runs share, beside its band."""
    every = ((name, curve) for name, curve in run.curves.items() if not name.startswith(UNHEARD))
    found = [band for name, curve in every if (band := beside(run, curve, name)) is not None]
    return [replace(band, shared=len(found)) for band in found]


def beside(run: Run, curve: Curve, name: str) -> Band | None:
    """The band of one metric; None where too few sound runs log it or too few points are there."""
    sound = [(s.curves[name].finite(), pace(run, s)) for s in run.sound if name in s.curves]
    if len(sound) < min(2, len(run.sound)):
        return None
    others = [(step * scale, value) for (step, value), scale in sound]
    here = curve.finite()
    until = min(run.last_step, *(float(step[-1]) if step.size else -np.inf for step, _ in others))
    count = min(int((step <= until).sum()) for step, _ in [*others, here])
    pieces = min(MOST_STRETCHES, count // POINTS)
    if pieces < FEWEST_STRETCHES:
        return None
    edges = np.linspace(min(float(step[0]) for step, _ in [*others, here]), until, pieces + 1)
    way, back = scales([value for _, value in others])
    rows = [stretches(step, way(value), edges) for step, value in [*others, here]]
    known: Bools = np.isfinite(np.array([means for means, _ in rows])).all(axis=0)
    if known.sum() < FEWEST_STRETCHES:
        return None
    return band_of(name, edges, [(means[known], errors[known]) for means, errors in rows], back, known)


def band_of(name: str, edges: Floats, rows: Sequence[tuple[Floats, Floats]], back: Callable[[Floats], Floats], known: Bools) -> Band:
    """The band of stretch means and their errors, of which the last row is this run's."""
    sound, errors, here = np.array([m for m, _ in rows[:-1]]), np.array([e for _, e in rows]), rows[-1][0]
    noise = np.maximum(np.median(errors, axis=0), errors[-1])
    middle, spread = expected(sound, noise)
    # Each sound run beside what the others make expect; nothing for fewer than three.
    others = [(one, *expected(np.delete(sound, i, axis=0), noise)) for i, one in enumerate(sound) if len(sound) > 2]
    reach = limit(len(sound), BAND) * spread
    kept = np.append(np.flatnonzero(known), np.flatnonzero(known)[-1] + 1)
    return Band(
        name, edges[kept], back(middle - reach), back(middle + reach), back(here), (here - middle) / spread, len(sound),
        max((abs(lasting((one - m) / s)[0]) for one, m, s in others), default=0.0),
    )  # fmt: skip


def expected(sound: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Middle and standard deviation of one more sound run, a stretch each; ``sound`` is runs x stretches."""
    runs, middle = len(sound), sound.mean(axis=0)
    own = sound.var(axis=0, ddof=1) if runs > 1 else np.full(middle.size, (ALONE * float(np.ptp(middle))) ** 2)
    apart = ((runs - 1) * own + PRIOR * own.mean()) / (runs - 1 + PRIOR)
    moves = np.gradient(middle) * (np.arange(middle.size) + 0.5) * SHIFT
    least = LEAST * float(np.abs(middle).mean())
    variance = np.maximum(apart + moves**2, noise**2) + least**2
    return middle, np.sqrt(variance * (1 + 1 / runs)) + 1e-12


def width(n: int) -> int:
    """Stretches over which a departure must last, of so many."""
    return max(2, round(LONG * n))


def lasting(off: Floats) -> tuple[float, int]:
    """The largest mean departure over enough neighbouring stretches, and the first of them."""
    means = np.convolve(off, np.full(width(off.size), 1 / width(off.size)), "valid")
    first = int(np.abs(means).argmax())
    return float(means[first]), first


def limit(runs: int, share: float) -> float:
    """Within how many standard deviations one more run lies with that probability, when so many runs are known."""
    return quantile(FREEDOM * runs, (1 + share) / 2)


def stretches(step: Floats, value: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Mean of every stretch and its standard error; NaN where nothing is logged."""
    inside = (step >= edges[0]) & (step <= edges[-1])
    place = np.clip(np.searchsorted(edges, step[inside], side="right") - 1, 0, edges.size - 2)
    count = np.bincount(place, minlength=edges.size - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(place, value[inside], edges.size - 1) / count
    rest = value[inside] - means[place]
    noise = float(np.sqrt((rest**2).sum() / max(1, rest.size - (count > 0).sum())))
    return means, noise / np.sqrt(np.maximum(count, 1))


def scales(values: Sequence[Floats]) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """On which scale a metric is measured, and the way back: a positive one that spans decades on the logarithm."""
    every = np.concatenate(values)
    low, high = np.quantile(every, (0.01, 0.99))
    if every.min() > 0 and high > ROUGH * low:
        least = float(every.min()) / ROUGH
        return lambda v: np.log(np.maximum(v, least)), np.exp
    return lambda v: v, lambda v: v


def pace(run: Run, other: Run) -> float:
    """What a step of another run is in steps of this one: shares of the plan are compared where the plans differ."""
    ours, theirs = run.planned_steps, other.planned_steps
    if not ours or not theirs or max(ours, theirs) <= PLANS_DIFFER * min(ours, theirs):
        return 1.0
    return ours / theirs
