"""The chain of events: the cause, what followed from it folded beneath it, and what else is open; each event once.

Findings of one event are told by the metric that moved, so that five patterns that rest on one curve make one phrase.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rl_advisor.answers.story.quantities import moved
from rl_advisor.detectors import marked, patterns
from rl_advisor.finding import Assessment, FindingView, Role
from rl_advisor.output.wording import plain, value
from rl_advisor.run import Run

DISTANT = 0.25
"""Share by which a metric must have moved for the move to be worth a phrase."""


@dataclass(frozen=True)
class Chain:
    """What broke, what came of it, and what stands beside it."""

    cause: FindingView | None
    effects: tuple[FindingView, ...]
    open: tuple[FindingView, ...]
    """Present, and neither the cause nor one of its effects."""


def chain(a: Assessment) -> Chain:
    """The chain that an assessment's findings form."""
    cause = cause_of(a)
    present = [f for f in _present(a) if f is not cause]
    if cause is None:
        return Chain(None, (), tuple(present))
    brought = _brought(cause.pattern)
    effects = [f for f in present if f.pattern in brought or _later(f, cause)]
    return Chain(cause, tuple(sorted(effects, key=_place)), tuple(f for f in present if f not in effects))


def cause_of(a: Assessment) -> FindingView | None:
    """The finding that the assessment names as the first break: on its link, with its onset; None where nothing in the log names it."""
    onset = a.onset.model_dump() if a.onset else None
    able = (f for f in _present(a) if f.link == a.first_broken_link and onset in (None, f.onset))
    return max(able, key=lambda f: patterns()[f.pattern].weight, default=None)


def _present(a: Assessment) -> list[FindingView]:
    """What is there and more than a symptom."""
    return [f for f in a.findings if f.outcome == "present" and patterns()[f.pattern].role is not Role.SYMPTOM]


def _brought(pattern: str) -> list[str]:
    """Everything that a pattern brings about, directly or through what it brings about."""
    found = [pattern]
    for name in found:  # it grows meanwhile
        found += [brought for brought in patterns()[name].brings if brought not in found]
    return found[1:]


def _later(f: FindingView, cause: FindingView) -> bool:
    """Whether a finding began no earlier than the cause."""
    return f.onset is not None and cause.onset is not None and f.onset["high"] >= cause.onset["low"]


def _place(f: FindingView) -> tuple[float, float]:
    return (f.onset["step"] if f.onset else float("inf")), -patterns()[f.pattern].weight


def moves(run: Run, found: Iterable[FindingView], at: float | None, told: Iterable[str] = ()) -> list[str]:
    """Findings in a few words each: how the metric moved that shows it, told once, or the pattern's name where none of the run's does."""
    seen, out = set(told), list[str]()
    for f in found:
        names = [str(e["metric"]) for e in f.evidence if str(e["metric"]) in run.curves]
        fresh = [n for n in names if n not in seen]
        seen |= set(names)
        moving = (m for n in fresh if (m := moved(run.curves[n], at)))
        far = next((said for a, b, said in moving if abs(b - a) > DISTANT * max(abs(a), abs(b))), None)
        if far is not None:
            out.append(far)
        elif not names:
            out.append(named(f))
    return out


def named(f: FindingView) -> str:
    """A finding's name, with the share it measured last where it measured one."""
    lately = (v for n, v in f.measures.items() if n.startswith(("latest ", "now ", "gpu_share ")) or n.endswith("share"))
    share = next((v for v in lately if v is not None and 0 < v <= 1), None) if f.pattern in marked("share") else None
    return plain(f.pattern) + (f" ({value(share, 'share')})" if share is not None else "")
