"""A Run -> its findings, outside-in along the loop, with those that could not be answered said so."""

from types import ModuleType

import numpy as np

from rl_advisor.discovery import modules
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Finding, Outcome
from rl_advisor.progress import come_to
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


def symptoms() -> frozenset[str]:
    """Patterns that describe the outcome (reward, score), which something earlier in the loop must have caused."""
    return frozenset(pattern_of(m) for m in detectors() if getattr(m, "SYMPTOM", False))


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
    if lacking:
        return Finding(pattern_of(module), module.LINK, Outcome.NOT_LOGGED, "Not logged: " + "; ".join(map(_spell, lacking)) + ".")
    try:
        finding: Finding = module.detect(run)
    except TooFewPoints as short:
        return Finding(pattern_of(module), module.LINK, Outcome.UNCLEAR, f"Too few points to tell: {short}")
    return finding


def diagnose(run: Run) -> tuple[Finding, ...]:
    """Every detector's finding, in the order of the loop."""
    asked, findings = detectors(), []
    for number, module in enumerate(asked, 1):
        come_to("looking for pattern", number, len(asked))
        findings.append(run_detector(module, run))
    return tuple(findings)
