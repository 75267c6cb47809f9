"""What many runs have in common: which setting goes with failing, what the failing share, what cannot be told.

Runs that differ by nothing but seeds, names and places are one variant. Runs of a variant are no independent witnesses of its settings:
their number is divided by the design effect of their likeness. All settings are looked at together: what is named survives the procedure
of Benjamini and Hochberg at 5 percent, with intervals as wide as that many looks ask for (Benjamini and Yekutieli 2005).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rl_advisor.answers import templates
from rl_advisor.answers.comparable import NO_VARIANT, RISK, grouped
from rl_advisor.features.series import Bools, Floats, Ints
from rl_advisor.features.student import below, quantile
from rl_advisor.output import Answer
from rl_advisor.output.layout import said as spelt
from rl_advisor.output.wording import plain
from rl_advisor.samples.text_change import wilson
from rl_advisor.tools.triage.row import Row

FAILED = ("burning", "gamed", "degrading", "dead")
JUDGED = (*FAILED, "sound")
FEWEST, MOST_KEYS, SHOWN = 8, 400, 12
"""Runs from which anything is said, settings that are looked at, and rows of each list."""
_IDENTITY = 0.8
"""Share of runs with a text of their own from which a setting is a name, whatever it is called."""


def common(rows: Sequence[Row]) -> Answer:
    """What the judged rows have in common; ``notes`` alone where there are fewer than eight of them."""
    judged = [row for row in rows if row["urgency"] in JUDGED]
    failed = np.array([row["urgency"] in FAILED for row in judged])
    answer: Answer = {"runs": len(judged), "failed": int(failed.sum())}
    if len(judged) < FEWEST:
        return answer | {"notes": notes(rows, few=True, judged=len(judged))}
    varied, same = settings_of(judged)
    telling = {key: values for key, values in varied.items() if not NO_VARIANT.search(key) and not _is_identity(values)}
    groups = grouped(telling, len(judged))
    together = changed_together(telling)
    found = looks_at({keys[0]: telling[keys[0]] for keys in together}, failed, groups)
    also = {first: {"changed_with": others} for first, *others in together if others}
    variants = len(set(groups))
    said = {"alike": not telling, "same": "all" if failed.all() else "" if failed.any() else "none"}
    return answer | {
        "settings": [look | also.get(look["setting"], {}) for look in surviving(found, RISK)][:SHOWN],
        "looks": len(found),
        "number_of_variants": variants,
        "failing": _shared(judged),
        "cannot_be_told": {
            "never_varied": {k: v for k, v in same.items() if not NO_VARIANT.search(k)},
            "changed_together": [keys for keys in together if len(keys) > 1][:SHOWN],
            "without_settings": sum(not row.get("settings") for row in judged),
        },
        "notes": notes(rows, **said, single=bool(telling) and variants == len(judged)),
    }


def settings_of(rows: Sequence[Row]) -> tuple[dict[str, list[Any]], Answer]:
    """Settings that not all runs share, a list a key in the order of the runs; and those that all share."""
    tables = [row.get("settings", {}) for row in rows]
    counts = Counter(key for table in tables for key in table)
    varied, same = {}, {}
    for key, _ in counts.most_common(MOST_KEYS):
        values = [table.get(key) for table in tables]
        if len({repr(v) for v in values}) > 1:
            varied[key] = values
        else:
            same[key] = values[0]
    return varied, same


def _is_identity(values: Sequence[Any]) -> bool:
    """Whether nearly every run has a text of its own: a name, a place, a moment."""
    texts = [v for v in values if isinstance(v, str)]
    return len(texts) > len(values) / 2 and len(set(texts)) > _IDENTITY * len(values)


def changed_together(telling: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    """The settings in groups whose members changed at the same runs, so that none of a group can be told from the others."""
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for key, values in telling.items():
        groups[tuple(grouped({key: values}, len(values)))].append(key)
    return list(groups.values())


def _shared(rows: Sequence[Row]) -> Answer:
    """What the failing share: stages, patterns with their share among the failing and the others, settings that all of them have."""
    bad, good = ([row for row in rows if (row["urgency"] in FAILED) == fails] for fails in (True, False))
    if not bad:
        return {}
    patterns = [Counter(p for row in part for p in set(row.get("patterns", ()))) for part in (bad, good)]
    shares = [(p, n / len(bad), patterns[1][p] / max(1, len(good))) for p, n in patterns[0].items() if n > 1]
    told = sorted(shares, key=lambda share: share[2] - share[1])[:SHOWN]
    given = {id(row): {(k, repr(v)) for k, v in row.get("settings", {}).items()} for row in rows}
    always = set.intersection(*(given[id(row)] for row in bad)).difference(*(given[id(row)] for row in good)) if len(bad) > 1 else ()
    return {
        "broke_first": Counter(row["cause"] for row in bad if row["cause"] and row["cause"] != "none").most_common(5),
        "patterns": [{"pattern": p, "failing": a, "others": b} for p, a, b in told if a > b],
        "only_there": sorted(k for k, _ in always if not NO_VARIANT.search(k))[:SHOWN],
    }


def notes(rows: Sequence[Row], **figures: Any) -> list[str]:
    """What cannot be told of runs with these figures, and how many lost a twentieth of their episodes to other errors than the policy's."""
    lost = [share for row in rows if (share := row.get("episodes_lost") or 0.0) > 0.05]
    return templates.sentences("many_runs", {"lossy": len(lost), "worst": max(lost, default=0.0), **figures})


FEW_VALUES, FEWEST_OF_VALUE = 5, 3
"""Numbers with more values than this are asked whether the higher half fails more; a value with fewer runs is not looked at."""
Look = Answer
"""Whether runs with a ``value`` of a ``setting`` (with one ``above`` it, the middle of all) fail more often than the others.

How many they are (``runs``), the shares that ``failed`` of them and of the ``others``, ``n`` of both divided by the design effect, and the
``freedom``, the variants less two: of few variants little is known, however many runs each has.
"""


def looks_at(settings: Mapping[str, Sequence[Any]], failed: Bools, groups: Sequence[int]) -> list[Look]:
    """Every look that the settings allow; none where all or none failed."""
    of, found = np.asarray(groups), []
    for key, values in settings.items() if failed.any() and not failed.all() else ():
        texts = np.array([repr(v) for v in values])
        names, known, scale = np.unique(texts), np.ones(texts.size, bool), _is_scale(values)
        sides = [(values[int(np.argmax(texts == name))], texts == name) for name in names]
        if scale:
            x = np.array(values, np.float64)
            known, middle = np.isfinite(x), float(np.nanmedian(x))
            sides = [(middle, x > middle)]
        asked = [(v, has[known]) for v, has in sides if FEWEST_OF_VALUE <= has[known].sum() <= known.sum() - FEWEST_OF_VALUE]
        for value, has in asked[:1] if names.size == 2 else asked:  # of two values one look says all
            found.append({"setting": key, "value": value, "above": scale, **_shares(has, failed[known], of[known])})
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
    between = float(sizes @ (means - failed.mean()) ** 2) / (k - 1)
    within = float(((failed - means[index]) ** 2).sum()) / (n - k)
    m = float(n - sizes @ sizes / n) / (k - 1)
    whole = between + (m - 1) * within
    return 1 + (m - 1) * min(1.0, max(0.0, (between - within) / whole)) if whole > 0 else 1.0


def _shares(has: Bools, failed: Bools, groups: Ints) -> Look:
    """A value against all others; runs of a variant are alike by what the value leaves unsaid."""
    a, b = float(failed[has].mean()), float(failed[~has].mean())
    effect, freedom = design_effect(failed - np.where(has, a, b), groups), max(1, np.unique(groups).size - 2)
    n, m = has.sum() / effect, (~has).sum() / effect
    whole, thin = (a * n + b * m) / (n + m), 1 / n + 1 / m
    error = float(np.sqrt(whole * (1 - whole) * thin))
    p = float(2 * below(freedom, -max(0.0, abs(a - b) - 0.5 * thin) / error)) if error else 1.0  # Yates: few runs, wide steps
    return {"runs": int(has.sum()), "failed": a, "others": b, "p": p, "n": (n, m), "freedom": freedom}


def surviving(found: Sequence[Look], risk: float) -> list[Look]:
    """The looks that are named at this false discovery rate, the surest first.

    Each has an interval (``low``, ``high``) of the difference for having been chosen among so many, Newcombe's.
    """
    ranked = sorted(found, key=lambda look: float(look["p"]))
    kept = ranked[: max((n for n, look in enumerate(ranked, 1) if look["p"] <= risk * n / len(ranked)), default=0)]
    each = risk * len(kept) / max(1, len(ranked)) / 2
    for look in kept:
        a, b, (n, m), z = look["failed"], look["others"], look["n"], -quantile(look["freedom"], each)
        (la, ha), (lb, hb) = wilson(a * n, n, z), wilson(b * m, m, z)
        look |= {"low": a - b - float(np.hypot(a - la, hb - b)), "high": a - b + float(np.hypot(ha - a, b - lb))}
    return kept


def sentences(found: Answer) -> list[str]:
    """What can be said and what cannot, the surest first: for the terminal, the page and the tool."""
    cannot, failing = found.get("cannot_be_told") or {}, found.get("failing") or {}
    words = {
        "settings": [look | {"worth": f"{'above' if look['above'] else '='} {spelt(look['value'])}"} for look in found.get("settings", ())],
        "stages": [f"{plain(cause)} ({count})" for cause, count in failing.get("broke_first", ())],
        "fixed": [f"{spelt(key)} {spelt(value)}" for key, value in (cannot.get("never_varied") or {}).items()],
        "notes": [f"{note[0].upper()}{note[1:]}." for note in found.get("notes", ())],
    }
    return templates.sentences("common", {**found, **words})
