"""A Run -> its findings, outside-in along the loop, with those that could not be answered said so."""

import numpy as np

from rl_advisor.curves.task import task
from rl_advisor.detectors import Detector, patterns
from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Finding, Role, not_logged, unclear
from rl_advisor.output.progress import report_progress
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Link

ORDER = {link: place for place, link in enumerate(Link)}
FOREIGN = table(__file__, "foreign.toml")
"""Kind of training -> what only the other kind logs: where that is missing, nothing is missing; of a kind that nothing tells, of both."""
FOREIGN_TO_BOTH = tuple(name for names in FOREIGN.values() for name in names)
MACHINE = (Link.NUMERICS, Link.SYSTEMS)
"""Links that break in any training."""


def role_of(pattern: str) -> Role:
    """What a pattern is when it is there."""
    return patterns()[pattern].role


def with_role(role: Role) -> tuple[str, ...]:
    """The patterns of a role that speak at least so strongly: the strongest first, then outside-in."""
    found = ((name, p.weight) for name, p in patterns().items() if p.role is role)
    return tuple(name for name, _ in sorted(found, key=lambda item: -item[1]))


def has(run: Run, need: str) -> bool:
    """Whether the run holds what a detector needs: a metric, a family of metrics, rollouts, telemetry or events."""
    if need in ("rollouts", "telemetry", "events"):
        return len(getattr(run, need)) > 0
    if need.endswith("/*"):
        return bool(run.family(need[:-1]))
    curve = run.curves.get(need)
    return curve is not None and bool(np.isfinite(curve.value).any())


def missing(run: Run, needs: tuple[str, ...]) -> list[str]:
    """The needs that the run cannot meet; alternatives are joined by ``|``."""
    return [need for need in needs if not any(has(run, option) for option in need.split("|"))]


def own(need: str, base: str) -> list[str]:
    """The options of a need that this kind of training may log."""
    return [option for option in need.split("|") if not option.startswith(tuple(FOREIGN.get(base, () if base else FOREIGN_TO_BOTH)))]


def _spell(need: str, base: str) -> str:
    """A need in words, so that a reader knows what to log."""
    told = [(o, METRICS[o].meaning.rstrip(".").lower() if o in METRICS else o) for o in own(need, base)]
    return " or ".join(f"{name} ({words})" if name != words else name for name, words in told)


def run_detector(detector: Detector, run: Run) -> Finding:
    """The detector's finding; ``not_logged`` when its needs are not met, ``unclear`` when the run is too short for it."""
    lacking = [_spell(need, task(run).base) for need in missing(run, detector.needs)]
    try:
        said: Answer = not_logged(f"Not logged: {'; '.join(lacking)}.") if lacking else detector.detect(run)
    except TooFewPoints as short:
        said = unclear(f"Too few points: {short}")
    except Exception as error:  # noqa: BLE001  one detector that fails takes no answer with it
        said = unclear(f"Looking for this failed on this run ({type(error).__name__}); nothing is said of it.")
    return Finding(detector.name, said.link or detector.link, said.outcome, said.statement, said.onset, said.measures, said.evidence)


def asked_of(run: Run) -> list[Detector]:
    """The detectors that a kind of training is asked: those that name it, and those that need nothing which only other kinds log.

    Of training that earns no reward it is asked what says that it fits, and what breaks in any machine.
    """
    kind = task(run)
    names, all_of = {"any", kind.kind, kind.base}, (kind.by_reward, True)
    fitting = [d for d in patterns().values() if names & {*d.kinds} or (not d.kinds and all_of[d.link in MACHINE])]
    return [d for d in fitting if all(own(need, kind.base) for need in missing(run, d.needs))]


def diagnose(run: Run) -> tuple[Finding, ...]:
    """Every finding of the detectors that this kind of training is asked, in the order of the loop."""
    asked, findings = asked_of(run), []
    for number, detector in enumerate(asked, 1):
        report_progress("looking for pattern", number, len(asked))
        findings.append(run_detector(detector, run))
    return tuple(findings)
