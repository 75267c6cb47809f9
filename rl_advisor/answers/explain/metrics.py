"""Is this number normal? Each metric of the lines against the table of priors, in the user's own words."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rl_advisor.answers.explain.told import by_frameworks
from rl_advisor.answers.explain.written import shown
from rl_advisor.finding import Finding, number
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.run import Curve
from rl_advisor.settings.not_finite import turned, unharmed
from rl_advisor.settings.priors import Prior, prior
from rl_advisor.settings.statistics import FEW
from rl_advisor.vocabulary import metric

MOST = 12
"""Metrics that are told where nothing is wrong with them; what is not normal is always told."""
_NORMAL = {"usual": "normal", "below": "unusual", "above": "unusual", "far_below": "broken", "far_above": "broken"}
_ORDER = ("broken", "unusual", "normal", "unknown")
_SAID_ANYWAY = ("progress/", "time/", "throughput/", "memory/")
COMPUTED = ("policy/", "value/", "ratio/", "advantage/")
UNKNOWN = "Depends on the task; only the trend tells."


def metrics(rows: Rows, proofs: Sequence[Finding]) -> list[dict[str, Any]]:
    """What each metric that matters is here, its value, and whether that is normal; what is not normal first."""
    curves = [c for c in rows.run.curves.values() if c.value.size and not c.name.startswith(_SAID_ANYWAY)]
    told = [t for curve in curves if (t := _told(rows, curve, proofs))]
    asked = {name for proof in proofs for name in proof.about}
    told.sort(key=lambda t: (_ORDER.index(t["normal"]), t["metric"] not in asked))
    odd = sum(t["normal"] in ("broken", "unusual") for t in told)
    return told[: max(MOST, odd)]


def _told(rows: Rows, curve: Curve, proofs: Sequence[Finding]) -> dict[str, Any] | None:
    """One metric; None for a name that nobody uses and whose numbers are all finite."""
    known, lost = metric(curve.name), np.sum(~np.isfinite(curve.value))
    meanings = sorted(by_frameworks(curve.raw)) if known is None else [curve.name]
    if known is None and not meanings and not lost:
        return None
    normal, why, row = _judged(rows, curve, meanings)
    about = [p for p in proofs if curve.name in p.about]
    accused, excused = next((p for p in about if p.there), None), next((p for p in about if not p.there), None)
    if accused:
        normal, why = "broken" if normal == "broken" else "unusual", accused.statement
    elif excused and (not lost or lost == curve.value.size):
        normal, why = "normal", excused.statement
    meaning = (known.meaning if known else " or ".join(m.meaning for n in meanings if (m := metric(n)))) + (
        f" ({curve.note})" if curve.note else ""
    )
    return {
        "name": curve.raw,
        "metric": curve.name,
        "meaning": meaning,
        "value": shown(curve.value) + (f" ({curve.value.size} rows)" if curve.value.size - lost > 1 else ""),
        "non_finite": lost,
        "normal": normal,
        "why": why,
        "usual": _range(row) if row and row.telling else "",
        "source": row.source if row else "",
    }


PRINTED_ZERO = (
    "unknown",
    "Printed as 0: a rate below the digits that are printed looks so too, as warm-up does; the configuration tells.",
    None,
)
SCHEDULED = ("normal", "It goes one way from row to row: the warm-up or the end of a schedule, where it is small.", None)
"""What is said of a learning rate that is small for now."""


def _judged(rows: Rows, curve: Curve, meanings: Sequence[str]) -> tuple[str, str, Prior | None]:
    """Normal or not, why, and by which row: by the last value and the farthest; of a name that means several things what all agree on."""
    finite, alone = curve.numbers, meanings == [curve.name]
    lost = curve.value.size - finite.size
    if lost and (not alone or curve.value.size <= FEW or not math.isfinite(curve.value[-1])):
        return *_not_finite(rows, curve, lost, alone), None
    rate = curve.name == "policy/learning_rate"
    around = rows.around.careful if rate else rows.around
    ranges = [row for n in meanings if (row := prior(n, around)) is not None] if finite.size else []
    if alone and ranges:
        one_way = rate and finite.size > 2 and abs(np.sign(np.diff(finite)).sum()) == finite.size - 1
        off = rate and not finite.any()
        if off or (one_way and ranges[0].side(finite.max()) == "below"):
            return PRINTED_ZERO if off else SCHEDULED
        finite = np.append(finite, finite.max()) if rate and rows.count > 1 else finite
    if alone:
        return _against(ranges[0], finite[-1], finite.tolist()) if ranges else ("unknown", UNKNOWN, None)
    ones = [row.only(finite[-1]) for row in ranges]
    sides = ["unusual" if one else _NORMAL[row.side(finite[-1])] for row, one in zip(ranges, ones, strict=True)]
    names = [m.meaning.split(":")[0].rstrip(".") for n in meanings if (m := metric(n))]
    if len(ranges) == len(meanings) and set(sides) == {"normal"}:
        return "normal", f"It is within what is usual, whichever it is ({'; '.join(r.range for r in ranges)}).", None
    if not ranges or "normal" in sides:
        return "unknown", f"It may be: {' or '.join(names)}. Name the trainer (--framework) to have it judged.", None
    told = "; ".join(f"{_range(one)} is usual for {one.among} alone" if one else row.range for row, one in zip(ranges, ones, strict=True))
    why = f"It lies outside of what is usual, whichever of {len(ranges)} meanings it has ({told})."
    return max(sides, key=_ORDER.index), why, max(ranges, key=lambda row: row.usual[1])


def _not_finite(rows: Rows, curve: Curve, lost: int, alone: bool) -> tuple[str, str]:
    """What is said of a curve that ends in NaN or infinity."""
    where = f"NaN or infinite in {lost} of {curve.value.size} rows" if curve.numbers.size else "NaN or infinite in every row"
    if alone and (at := turned(curve)) is not None and unharmed(rows.run, curve.name, at):
        return "unusual", f"{where}, while the outcome goes on: such updates were skipped, or it is a mean of nothing."
    computed = curve.name.startswith(COMPUTED) if alone else re.search(r"(?i)loss|grad|kl|entropy|ratio|value", curve.raw)
    return "broken" if computed else "unusual", f"{where}: not computed, or the computation broke."


def _range(row: Prior) -> str:
    """What is usual by the runs that were seen, else by the row."""
    seen = row.seen
    return f"mostly {number(seen.low)} to {number(seen.high)}" if seen else row.range.removesuffix(" is usual")


def _against(row: Prior, value: float, all_: Sequence[float]) -> tuple[str, str, Prior]:
    side = row.side(value)
    if side == "usual" and len(all_) <= 1000 and (far := [v for v in all_ if row.side(v).startswith("far")]):
        worst = max(far, key=abs)
        return "unusual", f"Reached {number(worst)} in {len(far)} of {len(all_)} rows; {row.range}. {row.means(worst)}".strip(), row
    if side == "usual" and (one := row.only(value)):
        return "unknown", f"Usual for {one.among} alone ({_range(one)}); name the trainer to have it judged.", row
    if _NORMAL[side] == "unusual" and not row.means(value):  # others were elsewhere, and nothing follows from it
        return "unknown", UNKNOWN, row
    return _NORMAL[side], row.says(value), row
