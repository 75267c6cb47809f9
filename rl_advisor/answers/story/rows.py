"""The curves of a run as rows of numbers under common steps: what an expert looks at before he believes a verdict or takes another."""

from collections.abc import Iterator, Sequence

import numpy as np

from rl_advisor.answers.story.quantities import TOLD, label, outcome_curves, unit_of
from rl_advisor.finding import FindingView
from rl_advisor.judgement.at_odds import is_machinery
from rl_advisor.output.wording import raw, tick
from rl_advisor.run import Curve, Floats, Run

STRETCHES, SIDE, MOST, NEWEST = 24, 2, 12, 8
"""Stretches of an outcome, how many of them make one of another curve, the curves beside it, and newest points given one by one."""
BESIDE = (
    *("eval/score/", *TOLD, "exploration/rate", "value/loss", "value/explained_variance"),
    *("policy/grad_norm", "response/truncated", "reward/"),
)
"""What speaks for or against a verdict about the outcome, in the order in which to look at it."""
LONG = 1e5
"""From this step on steps are rounded to three digits."""
ROLES = {"kl/ref": " (KL to the reference)", "kl/old": " (KL to the old policy)"}
"""What a curve is, where its name alone does not say it."""


def rows(run: Run, findings: Sequence[FindingView] | None = None) -> dict[str, str]:
    """Steps, then by the name that the run gave it each outcome in stretches with the scatter in each; with findings what stands beside."""
    main = outcome_curves(run)
    beside = list(_beside(run, findings, main)) if findings is not None else []
    steps = [c.finite()[0] for c in main or beside]
    if not steps:
        return {}
    # Evaluations set the steps where there are enough of them: nothing is logged more rarely.
    at = next((s for s in steps if s.size >= 2 * STRETCHES // 3), max(steps, key=len))
    ends = np.array([part[-1] for part in np.array_split(at, min(STRETCHES, at.size))])
    told = {"steps": _steps(ends)} | {label(c): _row(c, ends, single=True) for c in main}
    if beside and ends.size > STRETCHES // SIDE:
        ends = ends[::-1][::SIDE][::-1]
        told["steps of what follows"] = _steps(ends)
    return told | {label(c) + ("" if c.name == label(c) else ROLES.get(c.name, "")): _row(c, ends) for c in beside}


def _beside(run: Run, findings: Sequence[FindingView], main: Sequence[Curve]) -> Iterator[Curve]:
    """The curves of what was found, other scores and what usually explains one, then what has no meaning, what moved first; none twice."""
    cited = [run.family(str(e["metric"])) for f in findings if f.outcome == "present" for e in f.evidence]
    moved = {name for name, *_ in run.unmapped_moved()}
    unknown = [c for c in run.curves.values() if not (c.mapped or c.guessed or is_machinery(c.raw))]
    seen = list(main)
    for curve in (
        *(c for found in (*cited, *map(run.family, BESIDE)) for c in found.values()),
        *sorted(unknown, key=lambda c: c.raw not in moved),
    ):
        again = any(np.array_equal(curve.value, c.value, equal_nan=True) for c in seen)
        if curve.varies and not again and len(seen) < len(main) + MOST:
            seen.append(curve)
            yield curve


def _steps(ends: Floats) -> str:
    return " ".join(f"{s:.0f}" if ends[-1] < LONG else tick(float(f"{s:.3g}")) for s in ends.tolist())


def _row(curve: Curve, ends: Floats, *, single: bool = False) -> str:
    """The mean in each stretch, ``-`` where there is none; the scatter in it and what single points did, where there are more of them."""
    step, x = curve.finite()
    if not np.ptp(x):
        return f"{raw(x[0], unit_of(curve))} {'throughout' if x.size > 1 else f'once, at step {step[0]:.0f}'}"
    told, at = [], np.minimum(np.searchsorted(ends, step), ends.size - 1)
    for part in (x[at == i] for i in range(ends.size)):
        scatter = f"±{raw(part.std(), unit_of(curve))}" if single and part.size > 2 else ""
        told.append(raw(part.mean(), unit_of(curve)) + scatter if part.size else "-")
    if single and x.size > ends.size:
        ways = ((int(x.argmin()), "lowest"), (int(x.argmax()), "highest"))
        told += ["|", ", ".join(f"{way} {raw(x[i], unit_of(curve))} at step {step[i]:.0f}" for i, way in ways)]
        told += [f"| last of {x.size}:", *(raw(v, unit_of(curve)) for v in x[-NEWEST:].tolist())]
    return " ".join(told)
