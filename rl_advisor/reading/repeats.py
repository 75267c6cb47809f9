"""What loggers write twice: a metric over the clock as well, a closing summary, a file that is a copy, an evaluation with each row."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rl_advisor.reading.translating import Translated
from rl_advisor.run import Curve, Floats, Gap, Run

_CLOCKS = ("/time", "/wall_time", "_by_time")
_SUMMARY = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos")
FEWEST_POINTS = 5
"""Points that a metric must have for its numbers to be nobody else's."""
FEWEST = 3
"""Different evaluations from which their pace is known."""
_EVALUATION = re.compile(r"(?:ray/tune/)?evaluation/")


def without_repeats(parts: Sequence[Run]) -> list[Run]:
    """The parts without what a logger wrote twice; a part that is a copy is empty but for the word that it is."""
    return _without_copies([_without_clock_copies(_without_closing_row(part)) for part in parts])


def _without_clock_copies(part: Run) -> Run:
    """The part without the curves that repeat the numbers of another one over a clock, which is no second axis of the run."""
    kept = {
        n: c for n, c in part.curves.items() if not any(n.endswith(k) and _repeats(c, part.curves.get(n.removesuffix(k))) for k in _CLOCKS)
    }
    return replace(part, curves=kept)


def _repeats(one: Curve, other: Curve | None) -> bool:
    if other is None:
        return False
    a, b = one.value, other.value
    size = min(a.size, b.size)
    return bool(size) and 10 * size >= 9 * max(a.size, b.size) and bool(np.isclose(a[:size], b[:size], equal_nan=True).mean() > 0.9)


def _without_closing_row(part: Run) -> Run:
    """The part without the closing summary, and without what it repeats of the last step."""
    end = next((curve.step[-1] for name, curve in part.curves.items() if _last(name) == "train_runtime" and curve.step.size), None)
    if end is None:
        return part
    kept = {name: curve for name, curve in part.curves.items() if _last(name) not in _SUMMARY}
    first = {name: int(np.argmax(curve.step == end)) for name, curve in kept.items()}
    return replace(part, curves={n: c.points((c.step != end) | (np.arange(c.step.size) == first[n])) for n, c in kept.items()})


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _without_copies(parts: Sequence[Run]) -> list[Run]:
    """The parts, those that repeat an earlier one of their format number by number empty but for the word that they do."""
    first: dict[object, str] = {}
    out: list[Run] = []
    for part in parts:
        mark, path = _mark(part), part.files[0]
        if mark is not None and first.setdefault(mark, path) != path:
            told = Gap(path, f"the same numbers as {first[mark]}: a copy, counted once")
            part = replace(part, curves={}, place="", others=(), gaps=(*part.gaps, told))  # noqa: PLW2901
        out.append(part)
    return out


def _mark(part: Run) -> object | None:
    """What only copies have in common; None for a part of which too little is known."""
    if len(part.rollouts) or not any(c.numbers.size >= FEWEST_POINTS and c.varies for c in part.curves.values()):
        return None
    return part.formats, frozenset((name, c.step.tobytes(), c.value.tobytes()) for name, c in part.curves.items())


def once(items: Sequence[Translated]) -> list[Translated]:
    """The curves of a file with each evaluation at the step where it was made; those that share their steps were made together."""
    together: dict[bytes, list[Curve]] = defaultdict(list)
    for item in items:
        if item.curve.name.startswith("eval/") or _EVALUATION.match(item.curve.raw):
            together[item.curve.step.tobytes()].append(item.curve)
    kept = {key: _made(held[0].step, np.column_stack([curve.value for curve in held])) for key, held in together.items()}
    told = {id(curve): kept[key] for key, held in together.items() for curve in held}
    return [replace(item, curve=item.curve.points(told[id(item.curve)])) if id(item.curve) in told else item for item in items]


def _made(steps: Floats, rows: Floats) -> np.ndarray:
    """The rows at which an evaluation was made: not those that are mostly empty, nor one that equals the last and comes before its time."""
    known = np.flatnonzero(~np.isnan(rows).all(axis=1))
    empty = rows.shape[1] >= FEWEST or 2 * known.size <= len(rows)  # one score that is NaN now and then was measured so
    known = known if known.size and empty else np.arange(len(rows))
    changes = [known[0], *(b for a, b in pairwise(known) if not np.array_equal(rows[a], rows[b], equal_nan=True))] if known.size else []
    if len(changes) < FEWEST:
        return known
    pace = float(np.median(np.diff(steps[changes])))
    kept = [known[0]]
    for at in known[1:]:
        if steps[at] - steps[kept[-1]] >= pace or not np.array_equal(rows[at], rows[kept[-1]], equal_nan=True):
            kept.append(at)
    return np.array(kept)
