"""What sound runs of others measured: quantiles by metric, group and phase (``bank.json``, made by ``evals/world/bank.py``)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor.output.wording import value as said

if TYPE_CHECKING:
    from rl_advisor.settings.priors import Circumstances

FILE = Path(__file__).parent / "bank.json"
EARLY = 0.1
"""Share of a run that is its early phase."""
ACRONYM = 4
"""Letters up to which the name of a method is an acronym."""
ENOUGH = 12
"""Sound runs from which on they say what is usual; fewer are too alike."""
Bank = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class Usual:
    """What is usual for a metric among runs like this one."""

    runs: int
    repositories: int
    group: str
    phase: str
    low: float
    high: float
    """Between these lie nine of ten."""
    least: float
    most: float
    """Beyond these a value is not usual."""

    @property
    def among(self) -> str:
        """Which runs they are."""
        method, _, framework = self.group.partition("/")
        stage = {"early": " in their first tenth", "late": " after their first tenth"}.get(self.phase, "")
        name = method.upper() if len(method) <= ACRONYM else method.replace("_", " ")
        return f"{self.runs} sound {name} runs{f' of {framework}' if framework else ''}{stage}"

    def says(self, value: float) -> str:
        """Where a value lies among them, in one sentence."""
        beyond = value >= self.least, value >= self.low, value > self.high, value > self.most
        words = "below nearly all", "among the lowest", "within nine of ten", "among the highest", "above nearly all"
        where = words[sum(beyond)]
        return f"{said(value)} is {where} of {self.among} (nine of ten: {said(self.low)} to {said(self.high)})."


def groups(known: "Circumstances") -> tuple[str, ...]:
    """The groups that a run belongs to, the narrowest first."""
    from rl_advisor.settings.priors import wider

    methods = tuple(wider(known.method)) if known.method else ()
    own = (f"{methods[0]}/{known.framework}",) if methods and known.framework else ()
    return (*own, *methods)


def usual(metric: str, known: "Circumstances") -> Usual | None:
    """What is usual for a metric among runs of the same method, of the same framework where it is known; None where nothing is known.

    A method that nobody ran is not answered for by the others of its kind.
    """
    phase = "early" if known.phase == "start" else known.phase or ""
    found = usual_of(_bank(), metric, same(groups(known)), phase)
    return found if found is not None and found.runs >= ENOUGH else None


def usual_of(bank: Bank, metric: str, among: Sequence[str], phase: str) -> Usual | None:
    """The same, of a bank."""
    row = bank.get(metric, {})
    for group in among:
        found = row.get(f"{group} {phase}".strip()) or row.get(group)
        if found:
            runs, repositories, least, low, _, high, most, *others = found
            least, most = others or (least, most) if "/" in among[0] and "/" not in group else (least, most)
            return Usual(int(runs), int(repositories), group, phase, low, high, least, most)
    return None


def known_groups(metric: str) -> list[Usual]:
    """What is usual for a metric in every group of runs, over all phases."""
    return [u for cell in _bank().get(metric, {}) if " " not in cell and (u := usual_of(_bank(), metric, (cell,), "")) is not None]


def same(among: Sequence[str]) -> Sequence[str]:
    """Of the groups of a run those that share its method."""
    return among[: 2 if among and "/" in among[0] else 1]


@cache
def _bank() -> Bank:
    found: Bank = json.loads(FILE.read_text(encoding="utf-8"))
    return found
