"""A short formula for a number: few terms chosen one by one from many measures, each kept only where it foretells what was not fitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.series import Bools, Floats

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

    @property
    def chain(self) -> tuple[Term, ...]:
        """The term and the one it depends on."""
        return (self, self.where) if self.where else (self,)

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
    rest: Floats
    """What it leaves of each row's number."""


def least_squares(columns: Iterable[Floats], number: Floats) -> tuple[Floats, Floats, Floats]:
    """The weights of a constant and of each column, their standard errors, and what is left of the number."""
    x = np.column_stack([np.ones(number.size), *columns])
    weights, *_ = np.linalg.lstsq(x, number, rcond=None)
    rest = number - x @ weights
    spread = float(rest @ rest) / max(1, number.size - x.shape[1])
    errors: Floats = np.sqrt(np.maximum(spread * np.diag(np.linalg.pinv(x.T @ x)), 0.0))
    return np.asarray(weights, np.float64), errors, rest


def formula(measures: Mapping[str, Floats], number: Floats, half: Bools, group: Sequence[object]) -> Formula:
    """The shortest good formula of ``number``: terms are chosen on one ``half`` of the rows and must foretell the other.

    Raises TooFewPoints below FEWEST rows, or where the number never differs.
    """
    if number.size < FEWEST or np.ptp(number) <= 1e-12 or min(half.sum(), (~half).sum()) < FEWEST // 4:
        raise TooFewPoints(f"{number.size} rows with different rewards, {FEWEST} needed")
    fitted = {name: x[half] for name, x in measures.items() if np.isfinite(x).all() and np.ptp(x[half]) > 0}
    if not fitted:
        raise TooFewPoints("nothing that was measured differs")
    terms: tuple[Term, ...] = ()
    held = 0.0
    while len(terms) < MOST_TERMS and held < 0.999:
        best = _best(fitted, number[half], terms, _candidates(fitted, terms))
        if best is not None and best.kind != "each":  # with a limit anywhere, as one to pass or one to reach
            best = _best(fitted, number[half], terms, _limited(best.measure, _between(fitted[best.measure])))
        if best is None:
            break
        now = _held_out(measures, number, half, (*terms, best))
        if now - held < max(0.004, 0.06 * (1 - held)):
            break
        terms, held = (*terms, best), now
    weights, errors, rest = least_squares([t.values(measures) for t in terms], number)
    some = (
        replace(t, weight=w, low=w - 1.96 * e, high=w + 1.96 * e)
        for t, w, e in zip(terms, weights[1:].tolist(), errors[1:].tolist(), strict=True)
    )
    return Formula(tuple(some), float(weights[0]), held, _within(number, rest, group), rest)


def _limited(name: str, limits: Floats) -> Iterator[Term]:
    return (Term(name, kind, limit) for limit in limits.tolist() for kind in ("above", "up to"))


def _between(x: Floats) -> Floats:
    """The values of a measure, or as many evenly spread ones as are scanned."""
    seen = np.unique(x)
    return seen if seen.size <= _SCANNED else np.quantile(seen, np.linspace(0, 1, _SCANNED))


def _candidates(measures: Mapping[str, Floats], terms: Sequence[Term]) -> Iterator[Term]:
    for name, x in measures.items():
        yield Term(name)
        if np.unique(x).size > 2:
            yield from _limited(name, np.unique(np.quantile(x, _QUANTILES)))
    for gate in terms:
        if gate.where is None and (gate.kind == "above" or np.unique(measures[gate.measure]).size == 2):
            yield from (Term(name, where=gate) for name in measures if name != gate.measure)


def _best(measures: Mapping[str, Floats], number: Floats, terms: Sequence[Term], candidates: Iterable[Term]) -> Term | None:
    """The candidate that takes most from what the terms leave."""
    q, _ = np.linalg.qr(np.column_stack([np.ones(number.size), *(t.values(measures) for t in terms)]))
    left = number - q @ (q.T @ number)
    best, most = None, 1e-9 * float(number.var())
    for term in candidates:
        x = term.values(measures)
        x = x - q @ (q.T @ x)
        size = float(x @ x)
        # a limit is one number more to choose, so it must take clearly more than the measure as it is
        taken = (1.0 if term == Term(term.measure) else 0.98) * float(x @ left) ** 2 / size if size > 1e-9 else 0.0
        if taken > most:
            best, most = term, taken
    return best


def _held_out(measures: Mapping[str, Floats], number: Floats, half: Bools, terms: Sequence[Term]) -> float:
    """The share of variance foretold on the half that was not fitted."""
    columns = [t.values(measures) for t in terms]
    weights, *_ = least_squares([x[half] for x in columns], number[half])
    told = weights[0] + sum(w * x[~half] for w, x in zip(weights[1:], columns, strict=True))
    rest = number[~half]
    return float(1 - np.sum((rest - told) ** 2) / max(np.sum((rest - rest.mean()) ** 2), 1e-12))


def _within(number: Floats, rest: Floats, group: Sequence[object]) -> float:
    """The share of variance explained inside groups; NaN where groups do not differ inside."""
    import pandas as pd

    both = pd.DataFrame({"number": number, "rest": rest})
    inside = ((both - both.groupby(list(map(str, group))).transform("mean")) ** 2).sum()
    return float(1 - inside["rest"] / inside["number"]) if inside["number"] > 1e-9 * max(1.0, float(number @ number)) else float("nan")
