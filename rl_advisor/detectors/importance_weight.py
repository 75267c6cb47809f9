"""Importance weights leave one.

Looks for: the mean new-over-old ratio or the behaviour weight away from one beyond its scatter, or drifting away from it; with one update a
    batch, a ratio, a clip fraction or a KL to the sampling policy that is not what it must be by construction.
Means: with one mini-batch per batch the ratio must be exactly one: anything else is an inconsistency between trainer and sampler (or
    a mixture of experts routing differently). With more mini-batches it says that the policy moves too far within a batch; for the
    behaviour weight, that the data is too old.
Not to be confused with: a ratio reported as distance from one; clipped ratios.
Next test: one mini-batch and deterministic kernels: is the ratio one now? Then a cap on the behaviour weight and a lower staleness.
Source: AReaL's guide (both weights stay very close to one; fewer mini-batches, cap 5, less off-policyness).
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Role, absent, not_logged, number, present
from rl_advisor.priors.circumstances import circumstances
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("ratio/mean|rollout/behave_weight|ratio/clip_fraction|kl/old",)
AT_ONCE = {"ratio/mean": (1.0, 0.005), "ratio/clip_fraction": (0.0, 0.002), "kl/old": (0.0, 0.001)}
"""What is measured within the first update of a batch: its value by construction, and how far rounding and precision may take it."""
CHANGE: tuple[tuple[str, str], ...] = (("minibatches", "1"), ("weight_cap", ""), ("deterministic", ""))


def detect(run: Run, away: float = 0.05) -> Answer:
    """Present when one of the two weights ends more than ``away`` from one, beyond its scatter, or leaves it at once."""
    measures: dict[str, float] = {}
    for name in ("ratio/mean", "rollout/behave_weight"):
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 3:
            continue
        late = segments.final(curve)
        level, error = float(np.mean(late)), float(np.std(late) / np.sqrt(late.size))
        measures[name] = level
        if abs(level - 1) > away + 2 * error:
            text = f"{name} is {number(level)} lately; it should be 1."
            where = (Evidence(name, float(curve.step[0]), float(curve.step[-1])),)
            return present(text, segments.began(curve), measures, where)
    off = _off_at_once(run) if circumstances(run).updates == "one" or _once(run) else None
    if off is not None:
        name, level = off
        step = run.curves[name].finite()[0]
        where = (Evidence(name, float(step[0]), float(step[-1])),)
        text = f"{name} has a median of {number(level)} although each batch gets one update: sampler and trainer disagree."
        return present(text, segments.around(step, float(step[0])), {**measures, name: level}, where)
    if not measures:
        return not_logged("No importance weight is logged, nor that each batch gets a single update.")
    text = ", ".join(f"{name} {number(level)}" for name, level in measures.items())
    return absent(f"Importance weights stay at one: {text}.", measures=measures)


def _once(run: Run) -> bool:
    """Whether the settings say that each batch is used for one update."""
    return run.settings.get("updates_per_batch", 1) == 1 and run.settings.get("minibatches") == 1


def _off_at_once(run: Run) -> tuple[str, float] | None:
    """The measure that must stand still within the first update of a batch and does not, with its level; None where none does."""
    for name, (right, least) in AT_ONCE.items():
        curve = run.curves.get(name)
        if curve is None or curve.finite()[1].size < 8:
            continue
        value = curve.finite()[1]
        # Three of four rows on the wrong side: a single batch may be rounded, averaged or resumed.
        if float(np.quantile(np.abs(value - right), 0.25)) > least:
            return name, float(np.median(value))
    return None
