"""Curves that are not logged and that samples or other curves tell: ``response/truncated*`` is the logged one, or what stands for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.gpu.look import look
from rl_advisor.gpu.steps import step_of
from rl_advisor.run import Curve, Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.reward_check import flat_groups, groups
from rl_advisor.samples.rows import of_samples


def derived(run: Run, name: str) -> Curve | None:
    """The logged curve of a name, or what else tells it; None where nothing does."""
    logged = run.curves.get(name)
    return logged if logged is not None and logged.numbers.size else next((c for of in DERIVED[name] if (c := of(run)) is not None), None)


def all_at(run: Run, end: str) -> float | None:
    """The share of groups whose responses all earn the ``best`` or the ``worst``, in the latest fifth of the steps with samples."""
    table = measured(run)
    if not len(table) or not table["reward"].max() > table["reward"].min():
        return None
    steps = np.unique(table["step"])
    last = groups(table[table["step"] >= min(steps[-1], steps[-1 - steps.size // 5] + 1e-9)])
    return float(last[f"share_all_{end}"]) if last else None


def _cut(run: Run) -> Curve | None:
    """The share of cut responses at each step with samples, as flagged or where lengths pile up."""
    table = measured(run) if len(run.rollouts) else run.rollouts
    return _of_samples(table.groupby("step")["truncated"].mean().dropna()) if "truncated" in table else None


@of_samples
def _flat(run: Run) -> Curve | None:
    """The share of groups without spread at each step with samples."""
    table = measured(run)
    return _of_samples(flat_groups(table)) if len(table) else None


def _of_samples(share: object) -> Curve | None:
    steps, values = np.asarray(share.index, np.float64), np.asarray(share, np.float64)  # type: ignore[attr-defined]
    return Curve("rollouts", "share", "rollouts", steps, values, mapped=True) if values.size else None


def _at_cap(run: Run) -> Curve | None:
    """Ones and zeros where the mean response is as long as the longest, step by step at one and the same length; None if it never is."""
    mean, longest = run.curves.get("response/length"), run.curves.get("response/length_max")
    if mean is None or longest is None or mean.step.size != longest.step.size or not longest.numbers.size:
        return None
    cap = float(np.nanmax(longest.value))
    full = (mean.value >= 0.995 * cap).astype(np.float64)
    return Curve("response/length", mean.raw, mean.source, mean.step, full, mapped=True) if full.any() and cap > 1 else None


def _margin(run: Run) -> Curve | None:
    """How much higher preferred answers are scored than rejected ones, where both are logged at the same steps."""
    chosen, rejected = run.curves.get("pairs/chosen"), run.curves.get("pairs/rejected")
    if chosen is None or rejected is None or not np.array_equal(chosen.step, rejected.step):
        return None
    return replace(chosen, name="pairs/margin", value=chosen.value - rejected.value)


@of_samples
def _prompts(run: Run) -> Curve | None:
    """The mean words of a prompt at each step with samples."""
    if not len(run.rollouts) or "prompt" not in run.rollouts:
        return None
    rows = run.rollouts.drop_duplicates(["step", "prompt"])
    words = rows.assign(words=[len(str(prompt).split()) for prompt in rows["prompt"]])
    return _of_samples(words.groupby("step")["words"].mean())


def _memory(run: Run) -> Curve | None:
    """The highest memory of each step, of telemetry."""
    if not len(run.telemetry):
        return None
    seen = look(run)
    if "memory_gib" not in seen.ticks.value or len(seen.steps.spans) < 8:
        raise TooFewPoints("needs memory telemetry over 8 steps with known ends")
    place = step_of(seen.steps, seen.ticks.time)
    highest = np.full(len(seen.steps.spans), np.nan)
    np.fmax.at(highest, place[place >= 0], seen.ticks.value["memory_gib"][place >= 0])
    return Curve("telemetry", "memory", "telemetry", seen.steps.number, highest, mapped=True)


DERIVED: Mapping[str, tuple[Callable[[Run], Curve | None], ...]] = {
    "response/truncated": (_cut, _at_cap),
    "reward/flat_groups": (_flat,),
    "memory/allocated": (_memory,),
    "prompt/length": (_prompts,),
    "pairs/margin": (_margin,),
}
"""What tells a curve that is not logged, the surest first."""
