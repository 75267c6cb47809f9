"""How far two sets of answers agree beyond chance, and where they do not: every disagreement is a label to look at."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_advisor.evals.answers import Answer, read_answers
from rl_advisor.evals.scoring import kappa

ASKED = ("verdict", "link", "call")


def agreement(one: Path, other: Path) -> dict[str, Any]:
    """``{n, kappa: {verdict, link, call}, agreed: {...}, disagreements: [...]}`` over what both answer; kappa None where undefined.

    Raises:
        ValueError: the files have no run and cut in common.

    """
    a, b = read_answers(one), read_answers(other)
    both = sorted(a.keys() & b.keys())
    if not both:
        raise ValueError(f"{one.name} and {other.name} answer no run at the same cut")
    said = {what: [(getattr(a[k], what), getattr(b[k], what)) for k in both] for what in ASKED}
    kappas = {what: kappa([x for x, _ in pairs], [y for _, y in pairs]) for what, pairs in said.items()}
    return {
        "n": len(both),
        "kappa": {what: None if k != k else k for what, k in kappas.items()},  # noqa: PLR0124 - NaN is not itself
        "agreed": {what: sum(x == y for x, y in pairs) / len(both) for what, pairs in said.items()},
        "disagreements": [_pair(k, a[k], b[k]) for k in both if any(getattr(a[k], w) != getattr(b[k], w) for w in ASKED)],
    }


def _pair(about: tuple[str, float], one: Answer, other: Answer) -> Mapping[str, Any]:
    differing = {w: [getattr(one, w), getattr(other, w)] for w in ASKED if getattr(one, w) != getattr(other, w)}
    return {"run": about[0], "cut": about[1], **differing}
