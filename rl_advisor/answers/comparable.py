"""Whether runs can be set side by side at all, and by which curve: same task, same evaluation, same thing measured.

What is not logged differs from nothing; but where nothing says that two frameworks' runs are of one task, they are not taken for it.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.curves.course import course
from rl_advisor.curves.task import task
from rl_advisor.features.aggregate import gap, improvement, rank_p
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.protocol import given, unlike

RISK = 0.05
"""How often luck alone may be called a difference, all pairs of variants together."""
NO_VARIANT = re.compile(
    r"(?i)seed|logging|wandb|"
    r"(?:^|[_./])(?:name|dir|path|id|host|user|time|date|port|tags?|notes|group|project|version|commit|(?:file)?root|folder|resume.*)$"
)
"""Settings that tell runs apart and make no other variant."""
LOGGED = {
    "policy/learning_rate": "learning_rate",
    "ratio/clip_range": "clip_range",
    "kl/ref_coef": "kl_coef",
    "entropy/coef": "entropy_coef",
}
"""Curves that are settings, where the configuration does not say them."""


def logged(run: Run) -> Answer:
    """Settings that only the log tells: the first value of a curve that is one."""
    found = {ours: run.curves[name].numbers for name, ours in LOGGED.items() if name in run.curves and ours not in run.settings}
    return {ours: float(f"{x[0]:.3g}") for ours, x in found.items() if x.size}


def grouped(telling: Mapping[str, Sequence[Any]], count: int) -> list[int]:
    """The variant of each run: one number for all that share every telling setting, the first one's 0."""
    known: dict[str, int] = {}
    return [known.setdefault(repr([values[i] for values in telling.values()]), len(known)) for i in range(count)]


def against(base: Hashable, levels: Mapping[Any, Floats]) -> list[Answer]:
    """Each variant's levels against those of one of them: difference, probability of improvement, p corrected for the number of pairs."""
    a, pairs = levels[base], len(levels) - 1
    return [
        {
            "a": base,
            "b": name,
            "b_minus_a": asdict(gap(a, b)),
            "probability_of_improvement": asdict(improvement(a, b)),
            "p": min(1.0, pairs * rank_p(a, b)),
        }
        for name, b in levels.items()
        if name != base
    ]


TASK = {"environment": "environment", "training data": "training_data"}
"""What names the task of a run -> the setting that gives it, of ``names.toml``."""
ENVIRONMENT = re.compile(r"([A-Z][a-z][A-Za-z0-9]{1,40})-v\d{1,2}(?!\d)")
"""An environment's name as Gym writes it; its version tells variants apart more often than tasks."""
APART = 0.1
"""Relative difference of two ends from which they are no longer called the same step."""
LEVEL = 0.5
"""Share of the longest run that all must have reached to be compared at a step that all reached."""


@dataclass(frozen=True)
class Common:
    """What runs are compared by."""

    refused: tuple[str, ...]
    """Why they cannot be compared, a sentence a reason; empty where they can."""
    notes: tuple[str, ...]
    curves: tuple[Curve | None, ...]
    """The curve of each run that stands in the comparison."""
    until: float
    """The step at which they are compared."""


def common(runs: Sequence[Run]) -> Common:
    """Whether and by which curve these runs compare."""
    curves, by = _curves(runs)
    parts = {part: values for part, values in unlike(runs).items() if part != "environment"}
    noise = [f"They were evaluated on unlike numbers of episodes ({parts.pop('episodes')})."] if "episodes" in parts else []
    other = listed([f"{part} ({values})" for part, values in parts.items()])
    refused = (
        _other_task(runs)
        or (f"They were not evaluated alike: {other}. Their scores do not compare." if other else "")
        or _other_measure(runs, curves)
    )
    until, late = _until(curves)
    untold = [] if any(_task(run) for run in runs) else ["The task is not logged; it is taken to be the same."]
    return Common((refused,) if refused else (), () if refused else (*by, *late, *noise, *untold), curves, until)


def _task(run: Run) -> dict[str, str]:
    """What names the task of a run: its settings, else an environment's name in its own."""
    told = {what: str(value) for what, name in TASK.items() if (value := given(run, name)) is not None}
    named = ENVIRONMENT.search(run.name) if not told and "language" not in task(run).traits else None
    return {"environment": named[1]} if named else told


def _other_task(runs: Sequence[Run]) -> str:
    tasks = [_task(run) for run in runs]
    for what in TASK:
        told = sorted({task[what] for task in tasks if what in task})
        if len(told) > 1:
            return f"These are different tasks ({what} {listed(told, 4)}), so their scores do not compare."
    of = sorted({", ".join(run.frameworks) or "unknown frameworks" for run in runs})
    if len(of) > 1 and not all(tasks):
        return f"Nothing in the logs says that these runs of {listed(of)} share a task, so their scores are not compared."
    return ""


def _curves(runs: Sequence[Run]) -> tuple[tuple[Curve | None, ...], list[str]]:
    """The held-out score where all log the same one, else the training reward where all log that; and a note where it had to be."""
    held = [outcomes.held_out(run) for run in runs]
    shared = set.intersection(*(set(run.family("eval/score/")) for run in runs))
    if shared:
        name = next((c.name for c in held if c is not None and c.name in shared), min(shared))
        return tuple(run.curves[name] for run in runs), []
    train = [run.curves.get(c.name, c) if (c := outcomes.training(run)) is not None else None for run in runs]
    note = ["Not all of them log the same held-out score, so the training reward is compared."] if any(c is not None for c in held) else []
    return tuple(train), note


def _other_measure(runs: Sequence[Run], curves: Sequence[Curve | None]) -> str:
    names = {c.name for c in curves if c is not None}
    if len(names) > 1:
        return f"They log different outcomes ({listed(sorted(names))}), so their levels do not compare."
    if not names:
        return "None of them logs a reward or a score."
    parts = {listed(sorted(n.rpartition("/")[2] for n in run.family("reward/component/"))) for run in runs} - {""}
    if names == {"reward/mean"} and len(parts) > 1:
        return f"Their rewards are made of different parts ({' against '.join(sorted(parts))}), so their levels do not compare."
    return ""


def _until(curves: Sequence[Curve | None]) -> tuple[float, list[str]]:
    """The last step that all reached, where that is far enough; else each run's own end, which is said."""
    ends = [step[-1] for c in curves if c is not None and (step := c.finite()[0]).size]
    first, last = min(ends, default=0.0), max(ends, default=0.0)
    if first >= (1 - APART) * last:
        return np.inf, []
    if first >= LEVEL * last:
        return first, [f"Compared at step {first:.0f}, the last that all of them reached."]
    return np.inf, [f"They end at very different steps ({first:.0f} to {last:.0f}); each is taken at its own end."]


def final(curve: Curve) -> float | None:
    """The level at which a curve ends, as its course says; None where it has no point."""
    found, value = course(curve), curve.numbers
    return found.last if found is not None else float(value[-1]) if value.size else None
