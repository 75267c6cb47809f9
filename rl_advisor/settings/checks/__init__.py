"""Checks of settings against each other, rows of ``checks.toml``: what it relates, why, what in a log would confirm it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from rl_advisor.discovery import table
from rl_advisor.finding import Cause, Finding, absent, manual_page, not_logged
from rl_advisor.run import Run
from rl_advisor.settings.conditions import SAYS, View
from rl_advisor.settings.given import Settings, said
from rl_advisor.vocabulary import Link

HEADINGS = ("Relates", "Why", "Confirmed by", "Source")
ORDER = tuple(SAYS.values())


@cache
def registered() -> Mapping[str, Mapping[str, Any]]:
    """The row of every check by its name."""
    return dict(sorted(table(__file__, "checks.toml").items()))


def page(name: str) -> dict[str, str]:
    """The manual page of a check by its headings."""
    return manual_page(registered()[name]["page"], HEADINGS)


def run(started: Run) -> list[Finding]:
    """What every check says of the settings of a run, faults first; all are not logged where the run has no settings."""
    settings = Settings(started)
    return sorted((_finding(name, settings) for name in registered()), key=lambda f: (ORDER.index(f.outcome), not f.confirmed))


def proven(started: Run) -> list[Finding]:
    """The faults that the settings prove, those first that the log shows already."""
    return [f for f in run(started) if f.there]


def told(f: Finding) -> dict[str, Any]:
    """A check's finding as plain JSON."""
    outcome = next(word for word, outcome in SAYS.items() if outcome is f.outcome)
    cause = f.causes[0]
    own = {"keys": list(f.about), "confirm_by": cause.because, "do": cause.tell_apart, "link": f.link.value, "confirmed": f.confirmed}
    return {"check": f.pattern, "outcome": outcome, "statement": f.statement} | own


def _finding(name: str, s: Settings) -> Finding:
    """What a row says of the settings: its first case that holds."""
    row, view, keys = registered()[name], View(s.run), tuple[str, ...]()
    try:
        keys = s.keys(*row["keys"])
        found, _ = view.answer(row)
        if found is None and keys and view.so(row.get("of", [[]])):
            found = absent(view.says(row["fine"]) if "fine" in row else f"{said(s.given(key) for key in row['keys'])}.")
    except Exception as error:  # noqa: BLE001  one check that fails takes no answer with it
        found = not_logged(f"This check failed on these settings ({type(error).__name__}); nothing is said of them.")
    found, link = found or not_logged("Not given: nothing in the settings that was read tells."), Link(row["link"])
    causes = (Cause(link, found.statement, page(name)["Confirmed by"], found.do),)
    return Finding(name, link, found.outcome, found.statement, seen_in="settings", causes=causes, about=keys, confirmed=found.confirmed)
