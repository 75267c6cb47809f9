"""Checks of settings against each other, a row of ``checks.toml`` or a file: what it relates, why, what in a log would confirm it."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from rl_advisor.discovery import modules
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import manual_page
from rl_advisor.run import Run
from rl_advisor.settings.conditions import View, Written
from rl_advisor.settings.given import NOT_GIVEN, CheckOutcome, CheckSaid, Settings, said
from rl_advisor.vocabulary import Link

HEADINGS = ("Relates", "Why", "Confirmed by", "Source")
ORDER = ("fault", "note", "fine", "not_given")


@dataclass(frozen=True)
class Check:
    """One check: what it is and how to ask."""

    name: str
    link: Link
    check: Callable[[Settings], CheckSaid]
    text: str
    """The manual page."""

    @property
    def page(self) -> dict[str, str]:
        """The manual page by its headings."""
        return manual_page(self.text, HEADINGS)


@cache
def registered() -> Mapping[str, Check]:
    """Every check by its name."""
    rows = tomllib.loads((Path(__file__).parent / "checks.toml").read_text(encoding="utf-8"))
    found = [Check(name, Link(row["link"]), partial(_of_row, row=row), row["page"]) for name, row in rows.items()]
    own = modules("rl_advisor.settings.checks", "LINK", "check")
    found += [Check(module.__name__.rpartition(".")[2], module.LINK, module.check, module.__doc__ or "") for module in own]
    return {check.name: check for check in sorted(found, key=lambda check: check.name)}


def run(settings: Settings | Run) -> list[CheckOutcome]:
    """What every check says of the settings of a run, faults first; all are ``not_given`` where the run has no settings."""
    asked = settings if isinstance(settings, Settings) else Settings(settings)
    found = [_outcome(check, asked) for check in registered().values()]
    return sorted(found, key=lambda o: (ORDER.index(o.outcome), not o.confirmed))


def proven(settings: Settings | Run) -> list[CheckOutcome]:
    """The faults that the settings prove, those first that the log shows already."""
    return [o for o in run(settings) if o.outcome == "fault"]


def told(outcome: CheckOutcome) -> dict[str, Any]:
    """The outcome as plain JSON."""
    return asdict(outcome) | {"keys": list(outcome.keys), "link": outcome.link.value}


def _of_row(s: Settings, row: Mapping[str, Any]) -> CheckSaid:
    """What a row says of the settings: its first case that holds."""
    view, keys = View(s.run), s.keys(*row["keys"])
    if "of" in row and not _holds(view, row["of"]):
        return NOT_GIVEN
    for case in row["cases"]:
        if _holds(view, case["when"]):
            confirmed = _holds(view, case.get("confirmed", ()))
            return CheckSaid(case["outcome"], view.says(case["says"]), keys, view.says(case.get("do", "")), confirmed)
    fine = view.says(row["fine"]) if "fine" in row else f"{said(s.given(name) for name in row['keys'])}."
    return CheckSaid("fine", fine, keys) if keys else NOT_GIVEN


def _holds(view: View, written: Written) -> bool:
    try:
        return view.true(written) is True
    except TooFewPoints:
        return False


def _outcome(check: Check, settings: Settings) -> CheckOutcome:
    try:
        found = check.check(settings)
    except Exception as error:  # noqa: BLE001  one check that fails takes no answer with it
        found = CheckSaid("not_given", f"This check failed on these settings ({type(error).__name__}); nothing is said of them.")
    statement = found.statement or "Not given: nothing in the settings that was read tells."
    confirm = check.page["Confirmed by"]
    return CheckOutcome(check.name, found.outcome, statement, found.keys, confirm, found.do, check.link, found.confirmed)
