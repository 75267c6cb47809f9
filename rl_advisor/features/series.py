"""A curve as the statistics see it: finite points in order of step, on at most a given number of bins, each asked about once."""

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
LEAST, GREATEST = 1e-80, 1e80
"""Differences below the one are rounding, sizes above the other are no measurement: their squares leave floating point."""
MOST = 512
"""Points that a quadratic statistic is allowed to see."""


def finite(step: npt.ArrayLike, value: npt.ArrayLike, least: int = 1) -> tuple[Floats, Floats]:
    """Steps and values without NaN, infinity and values beyond 1e80.

    Raises:
        TooFewPoints: fewer than ``least`` points are left.
        ValueError: the arrays differ in length, or steps do not rise.

    """
    x, y = np.asarray(step, np.float64).ravel(), np.asarray(value, np.float64).ravel()
    if x.size != y.size:
        raise ValueError(f"step has {x.size} entries and value {y.size}; they must be of one length")
    keep = np.isfinite(x) & np.isfinite(y) & (np.abs(y) < GREATEST)
    x, y = x[keep], y[keep]
    if x.size < least:
        raise TooFewPoints(f"{x.size} finite points, {least} needed")
    if (np.diff(x) <= 0).any():
        raise ValueError("step must be strictly increasing")
    return x, y


def thinned(step: npt.ArrayLike, value: npt.ArrayLike, least: int = 1, most: int = MOST) -> tuple[Floats, Floats]:
    """Finite points, averaged into at most ``most`` bins of equal count (so that every bin is equally noisy)."""
    x, y = finite(step, value, least)
    if x.size <= most:
        return x, y
    edges = bin_edges(x.size, most)
    count = np.diff(np.append(edges, x.size))
    return np.add.reduceat(x, edges) / count, np.add.reduceat(y, edges) / count


def bin_edges(n: int, most: int) -> Indices:
    """Index of the first point of each of at most ``most`` bins whose counts differ by at most one."""
    bins = min(n, most)
    return (np.arange(bins) * n) // bins


def constant(value: Floats) -> bool:
    """Whether a curve varies by no more than rounding."""
    return bool(np.ptp(value) <= 1e-12 * max(LEAST, float(np.abs(value).max())))


_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Asked(NamedTuple):
    """A question, told from others by the bytes of its arrays."""

    key: tuple[Any, ...]
    given: tuple[Any, ...]
    named: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.key == other.key


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A decorator for what several detectors ask of one curve: the last ``most`` answers are kept, shared, and not to be written to.

    Arrays of more than 8 * MOST numbers are asked about anew.
    """

    def around(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @lru_cache(most)
        def answer(asked: _Asked) -> _T:
            return function(*asked.given, **asked.named)

        @wraps(function)
        def ask(*given: _P.args, **named: _P.kwargs) -> _T:
            values = (*given, *named.values())
            if any(isinstance(value, list) or (isinstance(value, np.ndarray) and value.size > 8 * MOST) for value in values):
                return function(*given, **named)
            told = [(v.shape, v.dtype.char, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values]
            return answer(_Asked((*told, *named), given, named))

        return ask

    return around
