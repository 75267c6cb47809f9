"""What makes runs variants of each other: settings that differ by more than seeds, names and places; and one variant against another."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rl_advisor.features.aggregate import gap, improvement, rank_p
from rl_advisor.output import Answer
from rl_advisor.run import Floats, Run

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
    found = {ours: run.curves[name].finite()[1] for name, ours in LOGGED.items() if name in run.curves and ours not in run.settings}
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
