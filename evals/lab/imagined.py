"""Learning curves that were drawn, not trained: what is true of going on whatever the task, for the fit of the odds.

A curve is a course of the policy's true quality (a family of shapes with drawn times), plus the policy's own restlessness, which every
evaluation sees, plus the noise of two independent halves of the evaluation episodes. The advisor sees one half; the other half says
whether going on paid, exactly as in the labels of trained runs. No size, unit or time of it was taken from a run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rl_advisor.evals.scoring import Floats, score_error, smooth
from rl_advisor.evals.synthetic import noise

Draw = np.random.Generator
CUTS = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Imagined:
    """One drawn run: both halves of its evaluations at shares of the plan."""

    family: str
    time: Floats
    seen: Floats
    hidden: Floats

    def going_on(self, count: int) -> tuple[float, bool]:
        """What going on after ``count`` evaluations brought, as a share of the range, and whether that pays.

        By the rule of the corpora: the checkpoints are chosen on the seen half and judged on the other.
        """
        chosen, judged = smooth(self.seen), smooth(self.hidden)
        gain = float(judged[count + int(chosen[count:].argmax())] - judged[int(chosen[:count].argmax())])
        spread = max(float(np.ptp(judged)), 1e-12)
        return gain / spread, gain > max(0.05 * spread, 2 * score_error(self.hidden) * 2**0.5)


def _log(rng: Draw, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def saturating(rng: Draw, t: Floats) -> Floats:
    """Fast first, slower and slower."""
    return 1 - np.exp(-t / _log(rng, 0.03, 2.0))


def power(rng: Draw, t: Floats) -> Floats:
    """A power law: it never ends, and brings less and less."""
    return 1 - (1 + t / _log(rng, 0.01, 0.3)) ** -float(rng.uniform(0.2, 1.5))


def late(rng: Draw, t: Floats) -> Floats:
    """Nothing, then a rise that may come after any share of the plan, or never."""
    return 1 / (1 + (_log(rng, 0.05, 1.5) / np.maximum(t, 1e-3)) ** float(rng.uniform(2, 10)))


def steady(rng: Draw, t: Floats) -> Floats:
    """A line up to a cap that it may never reach."""
    return np.minimum(t, float(rng.uniform(0.2, 1.5)))


def creeping(rng: Draw, t: Floats) -> Floats:
    """Most of it at once, the rest little by little to the end."""
    return saturating(rng, t) + _log(rng, 0.1, 1) * np.minimum(t, float(rng.uniform(0.3, 1.5)))


def stairs(rng: Draw, t: Floats) -> Floats:
    """Two to four rises with rests between them."""
    steps = [1 / (1 + np.exp(-(t - rng.uniform(0, 1.1)) / _log(rng, 0.01, 0.1))) for _ in range(int(rng.integers(2, 5)))]
    return np.asarray(np.mean(steps, axis=0), np.float64)


def flat(rng: Draw, t: Floats) -> Floats:
    """Next to nothing is ever learned."""
    return float(rng.uniform(0, 0.02)) * t


def declining(rng: Draw, t: Floats) -> Floats:
    """A rise, then a slow loss of a part of it."""
    start, way = float(rng.uniform(0.1, 1)), saturating(rng, t)
    return way * (1 - float(rng.uniform(0.1, 1)) * np.clip((t - start) / _log(rng, 0.1, 1), 0, 1))


def falling(rng: Draw, t: Floats) -> Floats:
    """A rise, then a fall within a few evaluations; one in three comes back."""
    start, way = float(rng.uniform(0.05, 1)), saturating(rng, t)
    gone = np.clip((t - start) / _log(rng, 0.005, 0.1), 0, 1) * float(rng.uniform(0.3, 1))
    back = np.exp(-np.clip(t - start, 0, None) / _log(rng, 0.05, 0.5)) if rng.random() < 1 / 3 else 1.0
    return way * (1 - gone * back)


def dipping(rng: Draw, t: Floats) -> Floats:
    """A rise with dips that it comes back from."""
    way = SHAPES[int(rng.integers(0, 6))](rng, t)
    for _ in range(int(rng.integers(1, 4))):
        way = way * (1 - float(rng.uniform(0.1, 0.8)) * np.exp(-(((t - rng.uniform(0, 1)) / _log(rng, 0.01, 0.1)) ** 2)))
    return way


SHAPES: tuple[Callable[[Draw, Floats], Floats], ...] = (
    saturating,
    power,
    late,
    steady,
    creeping,
    stairs,
    dipping,
    flat,
    declining,
    falling,
)


def imagine(family: Callable[[Draw, Floats], Floats], rng: Draw) -> Imagined:
    """One run of a family: drawn number of evaluations, restlessness, noise, level and unit; one in three is a share of right answers."""
    n = round(_log(rng, 12, 300))
    t = np.linspace(1 / n, 1, n)
    way = family(rng, t)
    restless = noise(n, _log(rng, 0.003, 0.2), float(rng.uniform(0, 0.97)), int(rng.integers(2**31)))
    way = way + restless * (way if rng.random() < 0.5 else 1.0)
    if rng.random() < 1 / 3:
        low, samples = float(rng.uniform(0, 0.6)), round(_log(rng, 16, 400))
        mean = np.clip(low + (float(rng.uniform(low + 0.1, 1)) - low) * way, 0, 1)
        seen, hidden = rng.binomial(samples, mean, (2, n)) / samples
        return Imagined(family.__name__, t, seen, hidden)
    unit, level, error = _log(rng, 1, 5000), float(rng.uniform(-2, 2)), _log(rng, 0.005, 0.25)
    spread = error * (0.2 + np.abs(way)) if rng.random() < 0.5 else error
    draws = rng.standard_t(3, (2, n)) / 3**0.5 if rng.random() < 0.5 else rng.standard_normal((2, n))
    seen, hidden = unit * (level + way + spread * draws)
    return Imagined(family.__name__, t, seen, hidden)


def imagined(count: int, seed: int = 0) -> Iterator[Imagined]:
    """``count`` drawn runs, the families in turn."""
    for i in range(count):
        yield imagine(SHAPES[i % len(SHAPES)], np.random.default_rng([seed, i]))
