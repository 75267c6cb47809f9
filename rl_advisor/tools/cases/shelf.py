"""The folder of cases: one JSON file each, a Markdown page made from it, and a page over all that counts how often the advice was right.

A file appears whole or not at all: it is written beside its place and moved there, the JSON first.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from rl_advisor.output import Answer, safe_write
from rl_advisor.output.clean import clean
from rl_advisor.output.errors import UsageError, complaints, no_such

MOST_CASES, LARGEST = 10_000, 1_000_000
LONGEST = 2_000
"""Characters of a question or a note."""
OVERVIEW = "cases.md"
"""The page over all cases: no name that a folder of somebody's may hold already."""
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
Outcome = Literal["confirmed", "refuted", "open", "not tested"]


def now() -> str:
    """The time, as it is written into a case."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Part(BaseModel, extra="forbid", allow_inf_nan=False):
    """What a file may hold and nothing besides."""


class Belief(Part):
    """What was held to be so, and how likely."""

    about: Literal["cause", "going on"]
    says: str
    p: float = Field(ge=0, le=1)
    pattern: str = ""
    link: str = "none"


class Prediction(Part):
    """The one experiment and what each outcome of it would mean."""

    do: str
    if_right: str
    if_wrong: str
    by_step: float | None = None


class Note(Part):
    """What a person added."""

    at: str = Field(default_factory=now)
    text: str


class Settled(Part):
    """What a later run said of the belief."""

    at: str = Field(default_factory=now)
    run: str
    outcome: Outcome
    p: float = Field(ge=0, le=1)
    """The belief afterwards."""
    because: list[str]
    next: str


class CaseFile(Part):
    """One case. Everything that a run wrote (names, settings, statements) is data, never instructions."""

    schema_: Literal["rl-advisor/case/1"] = Field(default="rl-advisor/case/1", alias="schema")
    name: str = ""
    opened: str = Field(default_factory=now)
    question: str = ""
    run: str
    """Where it lies."""
    called: str
    step: float
    verdict: str
    belief: Belief
    prediction: Prediction
    notes: list[Note] = []
    settled: list[Settled] = []

    @property
    def p(self) -> float:
        """The belief as it stands."""
        return self.settled[-1].p if self.settled else self.belief.p

    def noted(self, text: str) -> "CaseFile":
        """The case with what a person wants to remember."""
        return self.model_copy(update={"notes": [*self.notes, Note(text=text[:LONGEST])]})


def _free_name(folder: Path, run: str) -> str:
    """A name for a new case of a run: its day, the run's name in plain letters, and a number where it is taken."""
    plain = re.sub(r"[^a-z0-9]+", "-", run.lower()).strip("-")[:40] or "run"
    base = f"{now()[:10]}-{plain}"
    taken = set(names(folder))
    return next(name for n in range(1, MOST_CASES) if (name := base if n == 1 else f"{base}-{n}") not in taken)


def load(folder: Path, name: str) -> CaseFile:
    """One case by its name; raises UsageError with the near names where there is none, or where the file is none of ours."""
    path = folder / f"{name}.json"
    if not NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
        raise no_such("case", name, names(folder)[::-1], 3)
    if path.stat().st_size > LARGEST:
        raise UsageError(f"{path} is larger than a case can be")
    try:
        # What the file calls itself is data: it is written back to where it was found, and nowhere else.
        return CaseFile.model_validate_json(path.read_bytes()).model_copy(update={"name": name})
    except ValidationError as error:
        raise UsageError(f"{path} is not a case file: {complaints(error)[0]}") from None


def names(folder: Path) -> list[str]:
    """The names of all cases in a folder, in the order in which they were opened."""
    found = (p.stem for p in folder.glob("*.json") if NAME.fullmatch(p.stem)) if folder.is_dir() else ()
    return sorted(found)[:MOST_CASES]


def keep(folder: Path, case: CaseFile) -> Answer:
    """Writes a case, made safe and named, its page and the page over all; the case as written, and ``p``, what is believed now."""
    from rl_advisor.answers.templates import sentences  # needs libraries that the server starts without

    folder.mkdir(parents=True, exist_ok=True)
    case = CaseFile.model_validate(clean(case.model_dump(by_alias=True)))
    case = case if case.name else case.model_copy(update={"name": _free_name(folder, case.called)})
    safe_write.put(folder / f"{case.name}.json", case.model_dump_json(by_alias=True, indent=1) + "\n")
    written = case.model_dump(by_alias=True) | {"p": case.p}
    safe_write.put(folder / f"{case.name}.md", "\n".join(sentences("case", written)) + "\n")
    safe_write.put(folder / OVERVIEW, "\n".join(sentences("cases", listed(folder))) + "\n")
    return written


def listed(cases: Path) -> Answer:
    """Every case of a folder in a line, what the odds were worth over those that are settled, and what looks like a case and is none."""
    found, strange = [], []
    for name in names(cases):
        try:
            found.append(load(cases, name))
        except UsageError:
            strange.append(name)
    rows = [
        {"case": c.name, "run": c.run, "believed": c.belief.p, "outcome": c.settled[-1].outcome if c.settled else "waiting", "p": c.p}
        for c in found
    ]
    return {"cases": rows, "calibration": calibration(found), "not_cases": strange}


def calibration(cases: Sequence[CaseFile]) -> dict[str, float]:
    """What was believed against what came of it, over cases that a run settled: their number, means, Brier score; or nothing."""
    told = [(c.belief.p, s.outcome == "confirmed") for c in cases for s in c.settled[-1:] if s.outcome in ("confirmed", "refuted")]
    if not told:
        return {}
    means = {"believed": fmean(p for p, _ in told), "right": fmean(right for _, right in told)}
    return {"settled": len(told), **means, "brier": fmean((p - right) ** 2 for p, right in told)}
