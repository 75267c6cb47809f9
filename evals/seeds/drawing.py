"""Curves and answers of made runs: smooth ways through a few levels with noise that remembers, and texts of simple sentences.

A draw is a seed: it moves every level a little, and decides how many steps there are and what the noise does, so that no situation is one
particular curve.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NOUNS = ("river", "engine", "garden", "letter", "window", "teacher", "market", "signal", "forest", "number", "bridge", "captain")
VERBS = ("follows", "crosses", "repairs", "measures", "describes", "forgets", "paints", "carries")


@dataclass(frozen=True)
class Way:
    """A curve: its levels, where in the run each is reached (evenly where not told), and its noise."""

    levels: tuple[float, ...]
    sd: float = 0.0
    at: tuple[float, ...] | None = None
    low: float = -np.inf
    high: float = np.inf
    phi: float = 0.6
    exact: bool = False
    """Whether the levels stay as they are in every draw."""
    nan_from: float | None = None
    """Share of the run from which it is not a number."""


def way(*levels: float, sd: float = 0.0, **more: Any) -> Way:
    """A smooth way through these levels."""
    return Way(levels, sd, **more)


def share(*levels: float, sd: float = 0.0, **more: Any) -> Way:
    """The same for a share of 0 to 1."""
    return Way(levels, sd, low=0.0, high=1.0, **more)


def jump(before: Sequence[float], after: Sequence[float], at: float, sd: float = 0.0, **more: Any) -> Way:
    """A way that breaks at a share of the run."""
    places = (*np.linspace(0, at, len(before)), *np.linspace(at + 1e-6, 1, len(after)))
    return Way((*before, *after), sd, at=tuple(float(p) for p in places), **more)


def drawn(w: Way, n: int, rng: np.random.Generator) -> Floats:
    """The values of a way at ``n`` steps."""
    from scipy.interpolate import PchipInterpolator

    levels = np.array(w.levels) * (1 if w.exact else 1 + 0.06 * rng.uniform(-1, 1))
    if len(levels) == 1:
        levels = np.repeat(levels, 2)
    at = np.array(w.at) if w.at is not None else np.linspace(0, 1, len(levels))
    value = PchipInterpolator(at, levels)(np.linspace(0, 1, n))
    value = np.clip(value + remembering(n, w.sd, w.phi * rng.uniform(0.3, 1.1), rng), w.low, w.high)
    return value if w.nan_from is None else np.where(np.arange(n) < w.nan_from * n, value, np.nan)


def remembering(n: int, sd: float, phi: float, rng: np.random.Generator) -> Floats:
    """Noise of this standard deviation whose neighbours are correlated."""
    out, shocks = np.zeros(n), rng.normal(size=n) * sd
    for i in range(n):
        out[i] = phi * out[i - 1] + np.sqrt(1 - phi**2) * shocks[i] if i else shocks[0]
    return out


@dataclass
class Made:
    """A made run before a framework's words are put on it."""

    curves: dict[str, Way]
    """Our name -> its way."""
    score: dict[str, Way] = field(default_factory=dict)
    """Evaluations by name: ``accuracy``, ``private``."""
    evaluations: int = 20
    settings: dict[str, Any] = field(default_factory=dict)
    """Our setting -> value."""
    plan: float = 1.0
    """Planned steps as a multiple of those done."""
    answers: "Answers | None" = None
    log: tuple[tuple[float, str], ...] = ()
    """Lines of train.log, each at a share of the run."""
    raw: dict[str, Way] = field(default_factory=dict)
    """Curves by the framework's own names."""
    rows: tuple[int, int] = (160, 320)
    """How many rows are logged, between these."""
    every: int = 1
    """Steps between two rows."""


Write = Callable[["Talk"], tuple[str, float, Mapping[str, float]]]


@dataclass(frozen=True)
class Talk:
    """What a response is written from: which prompt, how far the run is, and chance."""

    prompt: int
    done: float
    rng: np.random.Generator


@dataclass(frozen=True)
class Answers:
    """Sampled responses: who writes them, at how many steps, how many prompts and how many of each."""

    write: Write
    steps: int = 10
    prompts: int = 16
    group: int = 8


def question(i: int) -> str:
    """Prompt number ``i``."""
    return f"How far is the {NOUNS[i % 12]} from the {NOUNS[(i * 5 + i // 12) % 12]}, number {i}?"


def sentence(t: Talk) -> str:
    """A sentence about the prompt's subject."""
    pick = t.rng.choice
    return f"The {NOUNS[t.prompt % 12]} {pick(VERBS)} the {pick(NOUNS)} near a {pick(NOUNS)} and the {pick(NOUNS)} {pick(VERBS)} it."


def said(t: Talk, sentences: int) -> str:
    """A worked answer of so many sentences that ends in a number."""
    body = " ".join(sentence(t) for _ in range(max(1, sentences)))
    return f"{body} So the distance is {t.rng.integers(10, 999)}."
