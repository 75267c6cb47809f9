"""The order in which both reports tell the findings: what broke first, then what followed."""

from rl_advisor.assessment import Assessment, FindingView


def in_order(a: Assessment, outcome: str) -> list[FindingView]:
    """The findings of one outcome in the order in which to read them: the first break, then as they began, those without a date last."""

    def place(f: FindingView) -> tuple[bool, float]:
        return not is_first(f, a), f.onset["step"] if f.onset else float("inf")

    return sorted((f for f in a.findings if f.outcome == outcome), key=place)


def is_first(f: FindingView, a: Assessment) -> bool:
    """Whether a finding is the first break: on that link, with that very onset."""
    onset = a.onset.model_dump() if a.onset else None
    return f.outcome == "present" and f.link == a.first_broken_link and onset is not None and f.onset == onset
