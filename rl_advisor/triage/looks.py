"""One setting against failing, all settings at once: differences of shares with intervals, corrected for how often was looked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rl_advisor.features.series import Bools, Floats, Ints
from rl_advisor.features.student import below, quantile
from rl_advisor.samples.text_change import wilson

FEW_VALUES, FEWEST = 5, 3
"""Numbers with more values than this are asked whether the higher half fails more; a value with fewer runs is not looked at."""


@dataclass(frozen=True)
class Look:
    """Whether runs with this value (of numbers of many values: with a higher one) fail more often than the others."""

    setting: str
    value: Any
    runs: int
    failed: float
    """Share of the runs with it that failed."""
    others: float
    """The same of the others."""
    low: float
    high: float
    """Interval of the difference."""
    p: float
    above: bool = False
    """Whether runs lie above the value, which is the middle of all, and do not have it."""
    q: float = 1.0
    """The largest false discovery rate at which it is named."""
    n: tuple[float, float] = (0.0, 0.0)
    """Runs on both sides, divided by the design effect."""
    freedom: int = 1
    """Variants less two: of few variants little is known, however many runs each has."""


def looks_at(settings: Mapping[str, Sequence[Any]], failed: Bools, groups: Sequence[int]) -> list[Look]:
    """Every look that the settings allow; none where all or none failed."""
    if not failed.any() or failed.all():
        return []
    of, found = np.asarray(groups), []
    for key, values in settings.items():
        if _is_scale(values):
            x = np.array([np.nan if v is None else float(v) for v in values])
            known, middle = np.isfinite(x), float(np.nanmedian(x))
            higher = x[known] > middle
            if FEWEST <= higher.sum() <= higher.size - FEWEST:
                found.append(replace(_share(key, middle, higher, failed[known], of[known]), above=True))
            continue
        texts = np.array([repr(v) for v in values])
        names = [name for name in np.unique(texts) if FEWEST <= (texts == name).sum() <= texts.size - FEWEST]
        asked = names[:1] if len(np.unique(texts)) == 2 else names  # of two values one look says all
        found += [_share(key, values[int(np.argmax(texts == name))], texts == name, failed, of) for name in asked]
    return found


def _is_scale(values: Sequence[Any]) -> bool:
    """Whether a setting is a number of many values."""
    known = [v for v in values if v is not None]
    return len(set(map(repr, known))) > FEW_VALUES and all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)


def design_effect(failed: Floats, groups: Ints) -> float:
    """By how much the likeness of a variant's runs widens an error: 1 + (m - 1) rho, rho from the analysis of variance, at least 1."""
    _, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    n, k = failed.size, sizes.size
    if k in (1, n):
        return 1.0
    means = np.bincount(index, failed) / sizes
    between = float((sizes * (means - failed.mean()) ** 2).sum()) / (k - 1)
    within = float(((failed - means[index]) ** 2).sum()) / (n - k)
    m = float((n - (sizes**2).sum() / n) / (k - 1))
    rho = (between - within) / (between + (m - 1) * within) if between + (m - 1) * within > 0 else 0.0
    return max(1.0, 1 + (m - 1) * float(np.clip(rho, 0, 1)))


def _share(key: str, value: Any, has: Bools, failed: Bools, groups: Ints) -> Look:
    """A value against all others; runs of a variant are alike by what the value leaves unsaid."""
    a, b = float(failed[has].mean()), float(failed[~has].mean())
    effect, freedom = design_effect(failed - np.where(has, a, b), groups), max(1, np.unique(groups).size - 2)
    n, m = has.sum() / effect, (~has).sum() / effect
    whole = (a * n + b * m) / (n + m)
    error = float(np.sqrt(whole * (1 - whole) * (1 / n + 1 / m)))
    p = float(2 * below(freedom, -max(0.0, abs(a - b) - 0.5 * (1 / n + 1 / m)) / error)) if error else 1.0  # Yates: few runs, wide steps
    return Look(key, value, int(has.sum()), a, b, a - b, a - b, p, n=(n, m), freedom=freedom)


def surviving(found: Sequence[Look], risk: float) -> list[Look]:
    """The looks that are named at this false discovery rate, the surest first, with intervals for having been chosen among so many."""
    ranked = sorted(found, key=lambda look: look.p)
    ratio = np.array([look.p for look in ranked]) * len(ranked) / np.arange(1, len(ranked) + 1)
    q = np.minimum.accumulate(ratio[::-1])[::-1].clip(max=1.0).tolist()
    kept = [replace(look, q=x) for look, x in zip(ranked, q, strict=True) if x <= risk]
    each = risk * len(kept) / max(1, len(ranked)) / 2
    return [_with_interval(look, -quantile(look.freedom, each)) for look in kept]


def _with_interval(look: Look, z: float) -> Look:
    """The look with its interval at so many standard errors (Newcombe's)."""
    (a, n), (b, m) = (look.failed, look.n[0]), (look.others, look.n[1])
    (la, ha), (lb, hb) = wilson(a * n, n, z), wilson(b * m, m, z)
    return replace(look, low=a - b - float(np.hypot(a - la, hb - b)), high=a - b + float(np.hypot(ha - a, b - lb)))
