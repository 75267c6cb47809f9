"""Runs or seeds side by side: what differs first, then how each went, what the seeds of each variant say together, and what changed.

Runs whose logged settings differ in nothing but seeds, names and places are seeds of one variant; what only some of them log tells none
apart. Runs of other tasks or other evaluations are refused. Aggregates are those of :mod:`rl_advisor.features.aggregate`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rl_advisor.answers.asynchrony import asynchrony
from rl_advisor.answers.comparable import NO_VARIANT, RISK, Common, against, common, final, grouped, logged
from rl_advisor.answers.story.quantities import label, quantity
from rl_advisor.answers.templates import case, sentences
from rl_advisor.curves.course import course
from rl_advisor.curves.looks import looks
from rl_advisor.features.aggregate import least_p, level
from rl_advisor.finding import BROKEN
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.verdict import judge
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.output.wording import apart, listed, pair, setting, value
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.given import settings_of
from rl_advisor.settings.protocol import protocol
from rl_advisor.vocabulary import metric_unit

MOST_VARIANTS = 6
"""Variants that are told against the first in sentences; more are a ranked table."""
TOLD = 6
"""Settings that are named in a sentence."""
SEED = re.compile(r"(?i)seed")


@dataclass(frozen=True, eq=False)
class Variant:
    """Runs that differ by nothing but their seed."""

    name: str
    runs: list[str]
    final: Floats
    """The final level of each run that has one."""
    best: Floats
    settings: Answer
    """Those that not all variants share."""

    @property
    def called(self) -> str:
        """Its run where it is one, else its letter."""
        return self.runs[0] if len(self.runs) == 1 else self.name


def compare(runs: Sequence[Run]) -> Answer:
    """What differs, in sentences; each run's row, each variant's seeds together, variants against the first, settings that differ.

    Raises:
        UsageError: fewer than two runs.
    """
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run given, a comparison needs at least two, or one and --usual")
    by, differ = common(runs), differing(runs)
    told = {key: values for key, values in differ.items() if not NO_VARIANT.search(key)}
    silent = not any(run.config or run.settings or logged(run) for run in runs)
    names = [_letter(n) for n in (range(len(runs)) if silent else grouped(told, len(runs)))]
    rows = [_row(run, by, curve) | {"variant": name} for run, curve, name in zip(runs, by.curves, names, strict=True)]
    variants = [] if by.refused else _variants(rows, told)
    able = [v for v in variants if v.final.size]
    between = _between(able) if len(able) <= MOST_VARIANTS else []
    few = [v.final.size for v in able if least_p(v.final.size, v.final.size) > RISK] if between else []
    kinds = {} if by.refused else asynchrony(runs, by.curves)
    seen = {} if by.refused else _looks(runs, by.curves)
    unlogged = any(_parted(rows, v.name) for v in variants)
    return {
        "said": [
            *(by.refused or [p["said"] for p in between] or _ranked(rows, able, seeds=any(map(SEED.search, differ)))),
            *kinds.get("said", ()),
        ],
        "refused": list(by.refused),
        "by": _name(by),
        "runs": rows,
        "variants": [*map(_said_of, variants)],
        "between": between,
        "asynchrony": kinds,
        "looks": seen,
        "settings_that_differ": differ,
        "notes": [
            *by.notes,
            *sentences("seeds", {"most": max(few, default=0), "unlogged": unlogged, "silent": silent and not by.refused} | seen),
        ],
    }


def _looks(runs: Sequence[Run], curves: Sequence[Curve | None]) -> Answer:
    """How often all of them looked at their held-out set, and by how much noise alone flatters the best; empty without one."""
    found = [c for curve in curves if curve is not None and curve.name.startswith("eval/") and (c := course(curve)) is not None]
    if not found:
        return {}
    count, flattered = looks(found, settings_of(runs[0]).number("eval_episodes"))
    return {"looks": count, "of": len(found), "split": protocol(runs[0]).get("split", "held-out"), "flattered": flattered}


def _parted(rows: Sequence[Answer], variant: str) -> bool:
    """Whether runs alike in every logged setting ended as differently as sound and broken ones do."""
    verdicts = {row["verdict"] for row in rows if row["variant"] == variant} - {"undecidable"}
    return bool(verdicts & BROKEN and verdicts - BROKEN)


def _name(by: Common) -> str | None:
    """What the compared curve is called: the runs' own name where they share one."""
    names = {label(c) for c in by.curves if c is not None}
    return names.pop() if len(names) == 1 else next((c.name for c in by.curves if c is not None), None)


def _row(run: Run, by: Common, curve: Curve | None) -> Answer:
    """How a run went: first and last value of the compared curve as logged, its best and its final level."""
    judged, whole = judge(open_case(run)), by.until == np.inf
    link = (judged.cause or judged).link or "none"
    row: Answer = {"run": run.name, "steps": run.last_step, "verdict": judged.verdict, "first_broken_link": link}
    cut = curve if whole or curve is None else curve.until(by.until)
    if cut is None or not cut.numbers.size:
        return row | {"outcome": None}
    q = quantity(cut, run if whole else None)
    return row | {"outcome": q.metric, "start": q.first, "best": q.best, "best_step": q.best_step, "last": q.last, "final": final(cut)}


def spelled_levels(row: Answer) -> dict[str, str]:
    """The levels of a run's row as every door spells them: the logged ones with the digits that tell them apart."""
    unit = metric_unit(row.get("outcome") or "")
    digits = apart([row[f] for f in ("start", "best", "last") if row.get(f) is not None], unit)
    fine = {"start": digits, "best": digits, "last": digits, "final": 2}  # the final level is a median, told like any other level
    return {f: "-" if row.get(f) is None else value(row[f], unit, n) for f, n in fine.items()}


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"V{number + 1}"


def _variants(rows: Sequence[Answer], told: Mapping[str, list[Any]]) -> list[Variant]:
    found = []
    for name in dict.fromkeys(row["variant"] for row in rows):
        own = [i for i, row in enumerate(rows) if row["variant"] == name]
        final, best = (np.array([x for i in own if (x := rows[i].get(f)) is not None], np.float64) for f in ("final", "best"))
        found.append(Variant(name, [rows[i]["run"] for i in own], final, best, {key: values[own[0]] for key, values in told.items()}))
    return found


def _said_of(v: Variant) -> Answer:
    """A variant's seeds together: interquartile means of the final and the best level, with intervals where there are two seeds."""
    known = {"final": asdict(level(v.final)), "best": asdict(level(v.best))} if v.final.size > 1 and v.best.size > 1 else {}
    return {"variant": v.name, "runs": v.runs, "settings": v.settings, **known}


def _between(variants: Sequence[Variant]) -> list[Answer]:
    """Each variant against the first: difference of the final levels, probability of improvement, and what can be said."""
    of = {v.name: v for v in variants}
    found = against(variants[0].name, {v.name: v.final for v in variants}) if len(variants) > 1 else []
    return [row | _said_of_pair(of[row["a"]], of[row["b"]], row, len(found)) for row in found]


def _said_of_pair(a: Variant, b: Variant, found: Answer, pairs: int) -> Answer:
    """By how much one ends above the other, from which to which level, which settings differ, and what that is worth."""
    changed = {key: [a.settings[key], b.settings[key]] for key in a.settings if repr(a.settings[key]) != repr(b.settings[key])}
    low, high = pair(level(a.final).value, level(b.final).value)
    between, size = found["b_minus_a"], found["b_minus_a"]["value"]
    figures = {
        "known": min(1.0, pairs * least_p(a.final.size, b.final.size)) <= RISK,
        "p": found["p"],
        "changed": changed,
        "settings": len(changed),
        "seeds": f"{a.final.size} against {b.final.size}",
        "a": a.called,
        "b": b.called,
        "low": low,
        "high": high,
        "tied": low == high,
        "size": abs(size),
        "side": "above" if size > 0 else "below",
        "spread": between if between["low"] != between["high"] else {},
        "told": listed([f"{key} {setting(x)} → {setting(y)}" for key, (x, y) in changed.items()], TOLD),
    }
    return {"changed": changed, "said": f"{case('ends', figures)['says']}. {case('worth', figures)['says']}"}


def _ranked(rows: Sequence[Answer], variants: Sequence[Variant], *, seeds: bool) -> list[str]:
    """Many runs, or seeds of one variant, in one sentence: the best, the worst, and what lies between."""
    known = sorted((row for row in rows if row.get("final") is not None), key=lambda row: -row["final"])
    if not known:
        return ["None of these runs has an outcome to compare."]
    best, worst = known[0], known[-1]
    middle = float(np.median([row["final"] for row in known]))
    alike = "seeds of one variant" if seeds else "runs alike in every logged setting"
    kind = f"{len(rows)} {alike}" if len(variants) == 1 else f"{len(rows)} runs of {len(variants)} variants"
    ends = f"{value(worst['final'])} ({worst['run']}) to {value(best['final'])} ({best['run']})"
    return [f"{kind}: final level {ends}, median {value(middle)}."]


def differing(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Settings in our words, and configuration keys that all runs log and do not share; a list a key, in the order of the runs.

    What only some runs log differs from nothing. A configuration key that differs just as a setting of ours does is the same setting
    under the framework's name and is left out.
    """
    found: dict[str, list[Any]] = {}
    for tables in ([logged(run) | dict(run.settings) for run in runs], [run.config for run in runs]):
        told = {repr(values) for values in found.values()}
        for key in sorted(set.intersection(*(set(table) for table in tables))):
            values = [table[key] for table in tables]
            if len({repr(v) for v in values}) > 1 and key not in found and repr(values) not in told:
                found[key] = values
    return found
