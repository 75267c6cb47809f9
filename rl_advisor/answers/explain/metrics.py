"""Is this number normal? Each metric of the lines against the table of priors, in the user's own words."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rl_advisor.finding import number
from rl_advisor.judgement.proofs import Proof
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.priors import Circumstances, Prior, prior
from rl_advisor.run import Curve
from rl_advisor.vocabulary import metric

MOST = 12
_NORMAL = {"usual": "normal", "below": "unusual", "above": "unusual", "far_below": "broken", "far_above": "broken"}
_ORDER = ("broken", "unusual", "normal", "unknown")
_SAID_ANYWAY = ("progress/", "time/", "throughput/", "memory/")


def metrics(rows: Rows, proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    """What each metric that matters is here, its value, and whether that is normal; what is not normal first, at most twelve."""
    curves = [c for c in rows.run.curves.values() if c.value.size and metric(c.name) and not c.name.startswith(_SAID_ANYWAY)]
    told = [_told(rows, curve, proofs) for curve in curves]
    asked = {name for proof in proofs for name in proof.about}
    told.sort(key=lambda t: (_ORDER.index(t["normal"]), t["metric"] not in asked))
    return told[:MOST]


def _told(rows: Rows, curve: Curve, proofs: Sequence[Proof]) -> dict[str, Any]:
    known = metric(curve.name)
    meaning = (known.meaning if known else "") + (f" ({curve.note})" if curve.note else "")
    last = float(curve.value[-1])
    value = max(curve.finite()[1], default=last) if curve.name == "policy/learning_rate" and rows.count > 1 else last
    row = prior(curve.name, rows.around)
    normal, why, source = _judged(row, value, curve)
    if excused := next((p for p in proofs if not p.fault and curve.name in p.about), None):
        normal, why = "normal", excused.says
    elif accused := next((p for p in proofs if p.fault and curve.name in p.about), None):
        normal, why = "broken" if normal == "broken" or not math.isfinite(last) else "unusual", accused.says
    return {
        "name": curve.raw,
        "metric": curve.name,
        "meaning": meaning,
        "value": _value(curve),
        "normal": normal,
        "why": why,
        "source": source,
    }


def _judged(row: Prior | None, value: float, curve: Curve) -> tuple[str, str, str]:
    """Normal or not, why, and who says so."""
    if not math.isfinite(value):
        computed = curve.name.startswith(("policy/", "value/", "ratio/", "advantage/"))
        return ("broken" if computed else "unknown"), f"{value} is no number: it was not computed, or the computation broke.", ""
    if row is None:
        return "unknown", "Its level depends on the task; only its course says something.", ""
    why = row.means(value)
    low, high = row.usual
    bound = f"{number(low)} or more" if math.isinf(high) else f"{number(low)} to {number(high)}"
    return _NORMAL[row.side(value)], f"{bound} is usual{_here(row.given)}. {why}".strip(), row.source


def _here(given: Circumstances) -> str:
    words = [w for w in (given.method, given.framework, given.weights) if w]
    return f" ({', '.join(w.replace('_', ' ') for w in words)})" if words else ""


def _value(curve: Curve) -> str:
    """The value, or how it went from the first row to the last."""
    finite = curve.value[np.isfinite(curve.value)]
    last = float(curve.value[-1])
    shown = number(last) if math.isfinite(last) else str(last)
    if finite.size < 2 or not math.isfinite(float(curve.value[0])) or float(curve.value[0]) == last:
        return shown
    return f"{number(float(curve.value[0]))} to {shown} ({curve.value.size} rows)"
