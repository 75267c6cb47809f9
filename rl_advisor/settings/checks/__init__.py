"""Checks of settings against each other, a row of ``checks.toml`` or a file: what it relates, why, what in a log would confirm it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from rl_advisor.discovery import modules, table
from rl_advisor.finding import Answer, Cause, Finding, absent, manual_page, not_logged
from rl_advisor.run import Run
from rl_advisor.settings.conditions import SAYS, View
from rl_advisor.settings.given import Settings, said
from rl_advisor.vocabulary import Link

HEADINGS = ("Relates", "Why", "Confirmed by", "Source")
ORDER = tuple(SAYS.values())


@dataclass(frozen=True)
class Check:
    """One check: what it is and how to ask."""

    name: str
    link: Link
    check: Callable[[Settings], Answer]
    text: str
    """The manual page."""

    @property
    def page(self) -> dict[str, str]:
        """The manual page by its headings."""
        return manual_page(self.text, HEADINGS)


@cache
def registered() -> Mapping[str, Check]:
    """Every check by its name."""
    found = [Check(name, Link(row["link"]), partial(_of_row, row=row), row["page"]) for name, row in table(__file__, "checks.toml").items()]
    own = modules("rl_advisor.settings.checks", "LINK", "check")
    found += [Check(module.__name__.rpartition(".")[2], module.LINK, module.check, module.__doc__ or "") for module in own]
    return {check.name: check for check in sorted(found, key=lambda check: check.name)}


def run(settings: Settings | Run) -> list[Finding]:
    """What every check says of the settings of a run, faults first; all are not logged where the run has no settings."""
    asked = settings if isinstance(settings, Settings) else Settings(settings)
    found = [_finding(check, asked) for check in registered().values()]
    return sorted(found, key=lambda f: (ORDER.index(f.outcome), not f.confirmed))


def proven(settings: Settings | Run) -> list[Finding]:
    """The faults that the settings prove, those first that the log shows already."""
    return [f for f in run(settings) if f.there]


def told(f: Finding) -> dict[str, Any]:
    """A check's finding as plain JSON."""
    outcome = next(word for word, outcome in SAYS.items() if outcome is f.outcome)
    cause = f.causes[0]
    own = {"keys": list(f.about), "confirm_by": cause.because, "do": cause.tell_apart, "link": f.link.value, "confirmed": f.confirmed}
    return {"check": f.pattern, "outcome": outcome, "statement": f.statement} | own


def _of_row(s: Settings, row: Mapping[str, Any]) -> Answer:
    """What a row says of the settings: its first case that holds."""
    view, keys = View(s.run), s.keys(*row["keys"])
    answer, _ = view.answer(row)
    if answer is not None:
        return replace(answer, about=keys)
    fine = view.says(row["fine"]) if "fine" in row else f"{said(s.given(name) for name in row['keys'])}."
    return absent(fine, about=keys) if keys and view.so(row.get("of", [[]])) else not_logged("")


def _finding(check: Check, settings: Settings) -> Finding:
    try:
        found = check.check(settings)
    except Exception as error:  # noqa: BLE001  one check that fails takes no answer with it
        found = not_logged(f"This check failed on these settings ({type(error).__name__}); nothing is said of them.")
    statement = found.statement or "Not given: nothing in the settings that was read tells."
    causes = (Cause(check.link, statement, check.page["Confirmed by"], found.do),)
    return Finding(
        check.name, check.link, found.outcome, statement, seen_in="settings", causes=causes, about=found.about, confirmed=found.confirmed
    )
