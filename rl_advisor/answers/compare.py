"""Runs or seeds side by side: how each went, what the seeds of each variant say together, which variant is better, and what changed.

Runs whose settings differ in nothing but seeds, names and places are seeds of one variant. Aggregates are those of
:mod:`rl_advisor.features.aggregate`; too few seeds are said to be too few.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rl_advisor.features.aggregate import gap, improvement, least_p, level, rank_p
from rl_advisor.finding import number
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.verdict import judge
from rl_advisor.run import Floats, Run
from rl_advisor.settings.protocol import unlike

MOST_VARIANTS = 5
"""Variants that are compared pair by pair; of more, each is only described."""
RISK = 0.05
"""How often luck alone may be called a difference, all pairs of variants together."""
_NO_VARIANT = re.compile(
    r"(?i)seed|(?:^|[_./])(?:name|dir|path|id|host|user|time|date|port|tags?|notes|group|project|version|commit|resume.*)$|logging|wandb"
)
"""Settings that tell runs apart and make no other variant."""


@dataclass(frozen=True, eq=False)
class Variant:
    """Runs that differ by nothing but their seed."""

    name: str
    cases: list[Case]
    settings: dict[str, Any]
    """Those that not all variants share."""

    def values(self, field: str) -> Floats:
        """The level of the outcome, one value a run that has one."""
        return np.array([getattr(c.outcome, field) for c in self.cases if c.outcome is not None])


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """How each run went, what each variant's seeds say together, how variants differ and by which settings.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} run given, a comparison needs at least two")
    cases = [open_case(run) for run in runs]
    differ, curves = differing(runs), {case.outcome.name for case in cases if case.outcome is not None}
    variants = grouped(cases, differ)
    notes = [] if len(curves) <= 1 else [f"the runs are judged by different curves ({', '.join(sorted(curves))}): levels do not compare"]
    other = unlike(runs)
    if other:
        notes.append(f"not ranked: the runs were not evaluated alike; they differ in {', '.join(other)}")
    alike = len(curves) == 1 and not other
    between = _between(variants) if alike else []
    if len(variants) > MOST_VARIANTS:
        notes.append(f"{len(variants)} variants are too many to set one against the other; name two to {MOST_VARIANTS} of them")
    few = [v for v in variants if least_p(len(v.cases), len(v.cases)) > RISK]
    if few:
        most = max(len(v.cases) for v in few)
        seeds = "one seed of a variant is" if most == 1 else f"{most} seeds of a variant are"
        notes.append(f"{seeds} too few to tell luck from effect: at least 4 of each, better ten, are needed")
    of = {id(case): v.name for v in variants for case in v.cases}
    return {
        "runs": [_row(case) | {"variant": of[id(case)]} for case in cases],
        "variants": [_said_of(v) for v in variants] if alike else [],
        "between": between,
        "settings_that_differ": differ,
        "notes": notes,
    }


def _row(case: Case) -> dict[str, Any]:
    judged, s = judge(case), case.outcome
    row: dict[str, Any] = {"run": case.run.name, "steps": case.step, "verdict": judged.verdict, "outcome": s.name if s else None}
    link = judged.cause.link.value if judged.cause else (judged.link.value if judged.link else "none")
    shape = {"start": s.start, "best": s.best, "best_step": s.best_step, "last": s.last, "noise": s.noise} if s else {}
    return row | {"first_broken_link": link} | shape


def grouped(cases: Sequence[Case], differ: dict[str, list[Any]]) -> list[Variant]:
    """The cases by variant, in the order in which they came; ``differ`` is what :func:`differing` found."""
    telling = {key: values for key, values in differ.items() if not _NO_VARIANT.search(key)}
    members: dict[str, list[int]] = {}
    for i in range(len(cases)):
        members.setdefault(repr([values[i] for values in telling.values()]), []).append(i)
    out = []
    for place, own in enumerate(members.values()):
        settings = {key: values[own[0]] for key, values in telling.items()}
        out.append(Variant(chr(ord("A") + place) if place < 26 else f"V{place + 1}", [cases[i] for i in own], settings))
    return out


def _said_of(v: Variant) -> dict[str, Any]:
    """A variant's seeds together: interquartile means at the end and at the best, with intervals where there are two seeds."""
    last, best = v.values("last"), v.values("best")
    known = {"last": asdict(level(last)), "best": asdict(level(best))} if last.size > 1 else {}
    return {"variant": v.name, "runs": [c.run.name for c in v.cases], "settings": v.settings, **known}


def _between(variants: Sequence[Variant]) -> list[dict[str, Any]]:
    """Each two variants: difference of the last levels, probability of improvement, and what can be said."""
    pairs = list(combinations(variants, 2)) if len(variants) <= MOST_VARIANTS else []
    return [_pair(a, b, len(pairs)) for a, b in pairs if a.values("last").size and b.values("last").size]


def _pair(a: Variant, b: Variant, pairs: int) -> dict[str, Any]:
    x, y = a.values("last"), b.values("last")
    changed = {key: [a.settings[key], b.settings[key]] for key in a.settings if repr(a.settings[key]) != repr(b.settings[key])}
    found = {"a": a.name, "b": b.name, "b_minus_a": asdict(gap(x, y)), "probability_of_improvement": asdict(improvement(x, y))}
    p = min(1.0, pairs * rank_p(x, y))
    return found | {"p": p, "changed": changed, "said": _verdict(a, b, p, min(1.0, pairs * least_p(x.size, y.size)), list(changed))}


def _verdict(a: Variant, b: Variant, p: float, least: float, changed: list[str]) -> str:
    """What two variants say, in words: too few, no difference beyond luck, or which is better and whether it is known why."""
    x, y = a.values("last"), b.values("last")
    if least > RISK:
        few = f"{x.size} against {y.size} seeds are too few to say"
        return f"{few}: even if all of one lay above all of the other, luck would do that with a probability of {number(least)}."
    if p > RISK:
        return f"{a.name} and {b.name} do not differ by more than luck does (p {number(p)}); that is not to say that they are equal."
    better, worse = (b, a) if improvement(x, y).value > 0.5 else (a, b)
    told = f"{better.name} ends above {worse.name} (p {number(p)}). "
    if not changed:
        return told + "No logged setting differs, so what made the difference is not in the log."
    if len(changed) == 1:
        return told + f"The one setting that differs is {changed[0]}."
    return told + f"{len(changed)} settings differ ({', '.join(changed[:6])}): which of them did it cannot be told; change one at a time."


LOGGED = {
    "policy/learning_rate": "learning_rate",
    "ratio/clip_range": "clip_range",
    "kl/ref_coef": "kl_coef",
    "entropy/coef": "entropy_coef",
}
"""Curves that are settings, where the configuration does not say them."""


def _logged(run: Run) -> dict[str, Any]:
    """Settings that only the log tells: the first value of a curve that is one."""
    found = {ours: run.curves[name].finite()[1] for name, ours in LOGGED.items() if name in run.curves and ours not in run.settings}
    return {ours: float(f"{x[0]:.3g}") for ours, x in found.items() if x.size}


def differing(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Settings in our words, and configuration keys that not all runs share with one value; a list a key, in the order of the runs.

    A configuration key that differs just as a setting of ours does is the same setting under the framework's name and is left out.
    """
    found: dict[str, list[Any]] = {}
    for source in (_logged, lambda run: run.settings, lambda run: run.config):
        tables = [source(run) for run in runs]
        told = {repr(values) for values in found.values()}
        for key in sorted(set().union(*tables)):
            values = [table.get(key) for table in tables]
            if len({repr(v) for v in values}) > 1 and key not in found and repr(values) not in told:
                found[key] = values
    return found
