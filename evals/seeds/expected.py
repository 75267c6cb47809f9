"""What an answer must and must not hold, and what is missing in one that was given."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from evals.seeds.drawing import Made
from rl_advisor.finding import Assessment

LANGUAGE = ("trl", "verl")
BROKEN = ("not_learning", "degrading", "collapsed", "reward_hacking", "unstable")


@dataclass(frozen=True)
class Expected:
    """What must hold of an answer; what is empty is not asked."""

    verdict: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    """Patterns of which one must be present."""
    not_present: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    confidence: tuple[str, ...] = ()
    do: str = ""
    """A regular expression that the next experiment must match."""
    names: tuple[str, ...] = ()
    """Metrics, settings or remedies (regular expressions) that the action or a finding that is present must name."""
    why: str = ""
    """A regular expression that the reason of the verdict must match."""
    never: tuple[str, ...] = ()
    """Regular expressions that nothing in the answer may match."""
    not_first: tuple[str, ...] = ()
    """Links that may not be blamed."""
    keeps: tuple[float, float] | None = None
    """Shares of the run between which the checkpoint to keep must lie."""

    @property
    def by_value(self) -> bool:
        """Whether it asks for a value of the answer, and not only that something is named or left unsaid."""
        return bool(self.verdict or self.link or self.present or self.not_present or self.call or self.do or self.keeps)


@dataclass(frozen=True)
class Situation:
    """A situation of the seeds: how it is made, in whose words, and its answer."""

    name: str
    make: Callable[[], Made]
    expected: Expected
    rows: tuple[str, ...]
    """The statements of the seeds that it stands for: ``002 walk 1``."""
    frameworks: tuple[str, ...] = LANGUAGE


ENOUGH = 0.9
"""Share of its drawings in which a situation must be answered as the seed says."""
SELDOM = 0.1
"""Share of its drawings above which an answer to the contrary is no accident, and below which a right one is."""


@dataclass(frozen=True)
class Score:
    """How a situation was answered."""

    right: dict[str, float]
    """Framework -> share of the drawings that were answered as expected."""
    others: float
    """Share of the other situations' answers, in the same frameworks, that would have passed as well: what is asked says little where it is large."""
    by_value: bool
    """Whether a value of the answer is asked for, and not only that something is named."""
    opposite: float = 0.0
    """Share of the drawings, in the worst framework, that were answered to the contrary."""

    @property
    def worst(self) -> float:
        """Share of the drawings that were answered as expected in the worst framework."""
        return min(self.right.values())


def claimed(a: Assessment) -> str:
    """What an answer claims of the run and asks for."""
    step = a.next_experiment
    return " \n".join([a.summary, a.why, a.risk, *a.at_odds, step.do, step.expect_if_right, step.expect_if_wrong, a.best_checkpoint.why])


def acted_on(a: Assessment) -> str:
    """What an answer found and what it says to do: not what it could not see, and none of its other words."""
    return " \n".join([a.next_experiment.do, *(f.statement for f in a.findings if f.outcome == "present")])


def contrary(a: Assessment, e: Expected) -> bool:
    """Whether an answer says the reverse of what is expected: on for stop, better for broken, a fault where none is, or any of these turned round."""
    call = bool(e.call) and a.call not in e.call and {a.call, *e.call} >= {"continue", "stop"}
    healthy, broken = "improving" in e.verdict, bool(e.verdict) and set(e.verdict) <= {*BROKEN, "plateaued"}
    verdict = (healthy and a.verdict in BROKEN and a.verdict not in e.verdict) or (broken and a.verdict == "improving")
    return call or verdict or any(f.outcome == "present" and f.pattern in e.not_present for f in a.findings)


def lacking(a: Assessment, e: Expected) -> list[str]:
    """What the answer lacks or says too much; empty when it is as expected."""
    seen, text = {f.pattern for f in a.findings if f.outcome == "present"}, acted_on(a)
    out = [
        *([f"verdict {a.verdict}"] if e.verdict and a.verdict not in e.verdict else []),
        *([f"link {a.first_broken_link}"] if e.link and a.first_broken_link not in e.link else []),
        *([f"blames {a.first_broken_link}"] if a.first_broken_link in e.not_first else []),
        *([f"none of {'|'.join(e.present)}"] if e.present and not seen & set(e.present) else []),
        *[f"has {p}" for p in e.not_present if p in seen],
        *([f"call {a.call}"] if e.call and a.call not in e.call else []),
        *([f"confidence {a.confidence}"] if e.confidence and a.confidence not in e.confidence else []),
        *([f"does: {a.next_experiment.do[:60]}"] if e.do and not re.search(e.do, a.next_experiment.do, re.IGNORECASE) else []),
        *([f"gives no reason /{e.why}/"] if e.why and not re.search(e.why, a.why, re.IGNORECASE) else []),
        *[f"names not /{p}/" for p in e.names if not re.search(p, text, re.IGNORECASE)],
        *[f"says /{p}/" for p in e.never if re.search(p, claimed(a), re.IGNORECASE)],
    ]
    if e.keeps is not None and (a.best_checkpoint.step is None or not e.keeps[0] <= a.best_checkpoint.step / max(1, a.step) <= e.keeps[1]):
        out.append(f"keeps {a.best_checkpoint.step}")
    return out
