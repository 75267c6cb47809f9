"""The order in which both reports tell the findings: what broke first, then what followed."""

from rl_advisor.answers.story.chain import chain
from rl_advisor.assessment import Assessment, FindingView


def in_order(a: Assessment, outcome: str) -> list[FindingView]:
    """The findings of one outcome in the order in which to read them: the first break, then as they began, those without a date last."""

    def place(f: FindingView) -> tuple[bool, float]:
        return not is_first(f, a), f.onset["step"] if f.onset else float("inf")

    return sorted((f for f in a.findings if f.outcome == outcome), key=place)


def foremost(a: Assessment) -> list[FindingView]:
    """The present findings as the story tells them: the cause, its effects, what is open, then the rest."""
    told = chain(a)
    known = [f for f in (told.cause, *told.effects, *told.open) if f is not None]
    return known + [f for f in in_order(a, "present") if f not in known]


def is_first(f: FindingView, a: Assessment) -> bool:
    """Whether a finding is the first break: on that link, with that very onset."""
    onset = a.onset.model_dump() if a.onset else None
    return f.outcome == "present" and f.link == a.first_broken_link and onset is not None and f.onset == onset
