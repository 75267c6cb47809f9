"""A Run -> its findings, outside-in along the loop, with those that could not be answered said so."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np

from rl_advisor.discovery import modules
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Finding, Role, not_logged, unclear
from rl_advisor.judgement.one_thread import OneThread
from rl_advisor.output.progress import report_progress
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Link

ORDER = {link: place for place, link in enumerate(Link)}


def detectors() -> tuple[ModuleType, ...]:
    """Every detector of the folder, outside-in."""
    found = modules("rl_advisor.detectors", "LINK", "NEEDS", "detect")
    return tuple(sorted(found, key=lambda m: (ORDER[m.LINK], m.__name__)))


def pattern_of(module: ModuleType) -> str:
    """The name of the pattern that a detector looks for: its file's name."""
    return module.__name__.rpartition(".")[2]


@dataclass(frozen=True)
class Pattern:
    """What a detector declares of the pattern that it looks for."""

    link: Link
    role: Role
    weight: float
    """How strongly it speaks when it is present: 1 speaks, 2 strongly, 3 all but settles (natural log of the odds)."""
    brings: frozenset[str]
    """The patterns that it tends to bring about."""
    change: tuple[tuple[str, str], ...]
    """What to turn in an experiment: a setting in our words, and the value or the share of the present one (empty: a switch)."""
    speaks: Mapping[str, float]
    """Verdict -> what it adds to the logarithm of its odds, where that is not what its role says."""


@cache
def patterns() -> Mapping[str, Pattern]:
    """Every pattern by its name, with what its detector declares."""
    return {
        pattern_of(m): Pattern(
            m.LINK,
            m.ROLE,
            getattr(m, "WEIGHT", 1.0),
            frozenset(getattr(m, "BRINGS", ())),
            tuple(getattr(m, "CHANGE", ())),
            getattr(m, "SPEAKS", {}),
        )
        for m in detectors()
    }


def role_of(pattern: str) -> Role:
    """What a pattern is when it is there."""
    return patterns()[pattern].role


def with_role(role: Role, least: float = 0.0) -> tuple[str, ...]:
    """The patterns of a role that speak at least so strongly: the strongest first, then outside-in."""
    found = ((name, p.weight) for name, p in patterns().items() if p.role is role and p.weight >= least)
    return tuple(name for name, _ in sorted(found, key=lambda item: -item[1]))


def has(run: Run, need: str) -> bool:
    """Whether the run holds what a detector needs: a metric, a family of metrics, rollouts, telemetry or events."""
    if need == "rollouts":
        return len(run.rollouts) > 0
    if need == "telemetry":
        return len(run.telemetry) > 0
    if need == "events":
        return bool(run.events)
    if need.endswith("/*"):
        return bool(run.family(need[:-1]))
    curve = run.curves.get(need)
    return curve is not None and bool(np.isfinite(curve.value).any())


def missing(run: Run, needs: tuple[str, ...]) -> list[str]:
    """The needs that the run cannot meet; alternatives are joined by ``|``."""
    return [need for need in needs if not any(has(run, option) for option in need.split("|"))]


def _spell(need: str) -> str:
    """A need in words, so that a reader knows what to log."""
    options = [METRICS[o].meaning.rstrip(".").lower() if o in METRICS else o for o in need.split("|")]
    return " or ".join(f"{name} ({words})" if name != words else name for name, words in zip(need.split("|"), options, strict=True))


def run_detector(module: ModuleType, run: Run) -> Finding:
    """The detector's finding; ``not_logged`` when its needs are not met, ``unclear`` when the run is too short for it."""
    lacking = missing(run, module.NEEDS)
    try:
        said: Answer = not_logged("Not logged: " + "; ".join(map(_spell, lacking)) + ".") if lacking else module.detect(run)
    except TooFewPoints as short:
        said = unclear(f"Too few points: {short}")
    return Finding(pattern_of(module), said.link or module.LINK, said.outcome, said.statement, said.onset, said.measures, said.evidence)


@OneThread()
def diagnose(run: Run) -> tuple[Finding, ...]:
    """Every detector's finding, in the order of the loop."""
    asked, findings = detectors(), []
    for number, module in enumerate(asked, 1):
        report_progress("looking for pattern", number, len(asked))
        findings.append(run_detector(module, run))
    return tuple(findings)
