"""A short formula for a number: few terms chosen one by one from many measures, each kept only where it foretells what was not fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints

Floats = npt.NDArray[np.float64]
FEWEST, MOST_TERMS = 48, 6
_QUANTILES = np.linspace(0.1, 0.9, 9)
_SCANNED = 200
"""Different values of a measure at which a limit is tried in the end."""


@dataclass(frozen=True)
class Term:
    """One term: a measure as it is, above a limit (0 or 1), or up to a limit; perhaps only where another measure is above its limit."""

    measure: str
    kind: str = "each"
    """each, above or up to."""
    limit: float = 0.0
    where: Term | None = None
    weight: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def values(self, measures: Mapping[str, Floats]) -> Floats:
        """What the term is of each row, before its weight."""
        x = measures[self.measure]
        own = (x > self.limit).astype(np.float64) if self.kind == "above" else np.minimum(x, self.limit) if self.kind == "up to" else x
        return own if self.where is None else own * self.where.values(measures)


@dataclass(frozen=True)
class Formula:
    """A sum of terms, and how much of the number's variance it explains where it was not fitted, and inside groups."""

    terms: tuple[Term, ...]
    constant: float
    r2: float
    r2_within: float
    rows: int

    def predicted(self, measures: Mapping[str, Floats]) -> Floats:
        """The number that the formula gives each row."""
        some = [t.weight * t.values(measures) for t in self.terms]
        return self.constant + np.sum(some, axis=0) if some else np.full(len(next(iter(measures.values()))), self.constant)


def formula(measures: Mapping[str, Floats], number: Floats, half: npt.NDArray[np.bool_], group: Sequence[object]) -> Formula:
    """The shortest good formula of ``number``: terms are chosen on one ``half`` of the rows and must foretell the other.

    Raises TooFewPoints below FEWEST rows, or where the number never differs.
    """
    if number.size < FEWEST or np.ptp(number) <= 1e-12 or min(half.sum(), (~half).sum()) < FEWEST // 4:
        raise TooFewPoints(f"{number.size} rows with different rewards, {FEWEST} needed")
    measures = {name: x for name, x in measures.items() if np.isfinite(x).all() and np.ptp(x[half]) > 0}
    if not measures:
        raise TooFewPoints("nothing that was measured differs")
    terms: tuple[Term, ...] = ()
    held = 0.0
    while len(terms) < MOST_TERMS and held < 0.999:
        best = _best(measures, number, half, terms)
        if best is None:
            break
        more = _refined(measures, number, half, (*terms, best))
        now = _held_out(measures, number, half, more)
        if now - held < max(0.004, 0.06 * (1 - held)):
            break
        terms, held = more, now
    return _fitted(measures, number, terms, held, group)


def _candidates(measures: Mapping[str, Floats], half: npt.NDArray[np.bool_], terms: Sequence[Term]) -> Iterator[Term]:
    for name, x in measures.items():
        yield Term(name)
        limits = np.unique(np.quantile(x[half], _QUANTILES))
        if np.unique(x[half]).size > 2:
            for limit in limits.tolist():
                yield Term(name, "above", limit)
                yield Term(name, "up to", limit)
    for gate in terms:
        plain = replace(gate, weight=0.0, low=0.0, high=0.0)
        if gate.where is None and (gate.kind == "above" or np.unique(measures[gate.measure]).size == 2):
            yield from (Term(name, where=plain) for name in measures if name != gate.measure)


def _best(measures: Mapping[str, Floats], number: Floats, half: npt.NDArray[np.bool_], terms: Sequence[Term]) -> Term | None:
    """The candidate that takes most from what the terms leave, on the half that is fitted."""
    base = _design(measures, terms)[half]
    q, _ = np.linalg.qr(base)
    left = number[half] - q @ (q.T @ number[half])
    best, most = None, 1e-9 * float(number[half].var())
    for term in _candidates(measures, half, terms):
        taken = _taken(term.values(measures)[half], q, left)
        # a limit is one number more to choose, so it must take clearly more than the measure as it is
        taken *= 1.0 if term.kind == "each" and term.where is None else 0.98
        if taken > most:
            best, most = term, taken
    return best


def _refined(measures: Mapping[str, Floats], number: Floats, half: npt.NDArray[np.bool_], terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The terms with the newest one's measure taken as it fits best: a limit anywhere, and whether it is one to pass or one to reach."""
    last = terms[-1]
    if last.kind == "each":
        return terms
    q, _ = np.linalg.qr(_design(measures, terms[:-1])[half])
    left = number[half] - q @ (q.T @ number[half])
    seen = np.unique(measures[last.measure][half])
    limits = seen if seen.size <= _SCANNED else np.quantile(seen, np.linspace(0, 1, _SCANNED))
    tried = [replace(last, kind=kind, limit=limit) for kind in ("above", "up to") for limit in limits.tolist()]
    return (*terms[:-1], max(tried, key=lambda term: _taken(term.values(measures)[half], q, left)))


def _taken(x: Floats, q: Floats, left: Floats) -> float:
    """What a term takes from the sum of squares that is left."""
    x = x - q @ (q.T @ x)
    size = float(x @ x)
    return float(x @ left) ** 2 / size if size > 1e-9 else 0.0


def _design(measures: Mapping[str, Floats], terms: Sequence[Term]) -> Floats:
    size = len(next(iter(measures.values()))) if measures else 0
    return np.column_stack([np.ones(size), *(t.values(measures) for t in terms)])


def _held_out(measures: Mapping[str, Floats], number: Floats, half: npt.NDArray[np.bool_], terms: Sequence[Term]) -> float:
    """The share of variance foretold on the half that was not fitted."""
    x = _design(measures, terms)
    weights, *_ = np.linalg.lstsq(x[half], number[half], rcond=None)
    rest = number[~half]
    return float(1 - np.sum((rest - x[~half] @ weights) ** 2) / max(np.sum((rest - rest.mean()) ** 2), 1e-12))


def _fitted(measures: Mapping[str, Floats], number: Floats, terms: tuple[Term, ...], held: float, group: Sequence[object]) -> Formula:
    """The formula on all rows, with 95 % intervals of its weights."""
    if not terms:
        return Formula((), float(number.mean()), 0.0, 0.0, number.size)
    x = _design(measures, terms)
    weights, *_ = np.linalg.lstsq(x, number, rcond=None)
    rest = number - x @ weights
    spread = float(rest @ rest) / max(1, number.size - x.shape[1])
    reach = 1.96 * np.sqrt(np.maximum(spread * np.diag(np.linalg.pinv(x.T @ x)), 0.0))
    some = tuple(
        replace(t, weight=float(w), low=float(w - r), high=float(w + r)) for t, w, r in zip(terms, weights[1:], reach[1:], strict=True)
    )
    return Formula(some, float(weights[0]), held, _within(number, rest, group), number.size)


def _within(number: Floats, rest: Floats, group: Sequence[object]) -> float:
    """The share of variance explained inside groups; NaN where groups do not differ inside."""
    _, codes = np.unique(np.asarray([str(g) for g in group]), return_inverse=True)
    counts = np.bincount(codes)

    def inside(x: Floats) -> float:
        return float(np.sum((x - (np.bincount(codes, x) / counts)[codes]) ** 2))

    total = inside(number)
    return 1 - inside(rest) / total if total > 1e-9 * max(1.0, float(number @ number)) else float("nan")
