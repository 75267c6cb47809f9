"""Checks of settings against each other, each one file: what it relates, why, and which evidence in a log would confirm it."""

import re
from dataclasses import asdict
from types import ModuleType
from typing import Any

from rl_advisor.discovery import modules
from rl_advisor.run import Run
from rl_advisor.settings.given import CheckOutcome, CheckSaid, Settings

HEADINGS = ("Relates", "Why", "Confirmed by", "Source")
ORDER = ("fault", "note", "fine", "not_given")


def registered() -> tuple[ModuleType, ...]:
    """Every check of the folder."""
    return modules("rl_advisor.settings.checks", "LINK", "check")


def name_of(module: ModuleType) -> str:
    """The check's name: its file's."""
    return module.__name__.rpartition(".")[2]


def run(settings: Settings | Run) -> list[CheckOutcome]:
    """What every check says of the settings of a run, faults first; all are ``not_given`` where the run has no settings."""
    asked = settings if isinstance(settings, Settings) else Settings(settings)
    found = [_outcome(module, asked) for module in registered()]
    return sorted(found, key=lambda o: (ORDER.index(o.outcome), not o.confirmed))


def proven(settings: Settings | Run) -> list[CheckOutcome]:
    """The faults that the settings prove, those first that the log shows already."""
    return [o for o in run(settings) if o.outcome == "fault"]


def told(outcome: CheckOutcome) -> dict[str, Any]:
    """The outcome as plain JSON."""
    return asdict(outcome) | {"keys": list(outcome.keys), "link": outcome.link.value}


def manual_page(module: ModuleType) -> dict[str, str]:
    """The headings of a check's docstring: Relates, Why, Confirmed by, Source."""
    text = re.sub(r"\s+", " ", module.__doc__ or "")
    parts = re.split(rf"({'|'.join(HEADINGS)}): ", text)
    return {"Title": parts[0].strip()} | {head: body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}


def _outcome(module: ModuleType, settings: Settings) -> CheckOutcome:
    try:
        said: CheckSaid = module.check(settings)
    except Exception as error:  # noqa: BLE001  one check that fails takes no answer with it
        said = CheckSaid("not_given", f"This check failed on these settings ({type(error).__name__}); nothing is said of them.")
    statement = said.statement or "Not given: nothing in the settings that was read tells."
    page = manual_page(module)
    return CheckOutcome(name_of(module), said.outcome, statement, said.keys, page["Confirmed by"], said.do, module.LINK, said.confirmed)
