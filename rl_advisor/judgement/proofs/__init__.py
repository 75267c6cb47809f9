"""What lines already prove, be there one of them or a thousand: rows of ``rows.toml``, a Finding each, faults first.

A Finding that is absent says that what somebody might take for a fault is as it should be.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rl_advisor.discovery import table
from rl_advisor.finding import Cause, Finding
from rl_advisor.judgement.settings_to_change import learning_rate, slower
from rl_advisor.run import Run
from rl_advisor.settings.conditions import View
from rl_advisor.vocabulary import Link

SLOWER = ("large_steps", "drift", "growing", "broken_policy")
"""Causes that a smaller learning rate tells from the others."""


def proofs(run: Run) -> list[Finding]:
    """Everything that the lines prove, faults first."""
    found = [finding for name, row in table(__file__, "rows.toml").items() for finding in _asked(run, name, row)]
    return sorted(found, key=lambda f: not f.there)


def cause(run: Run, name: str) -> Cause:
    """A likely cause by its name, with the value to set where it is known."""
    row = table(__file__, "causes.toml")[name]
    test = f"Set {slower(run)}. {row['tell_apart']}" if name in SLOWER and learning_rate(run) else row["tell_apart"]
    return Cause(Link(row["link"]), row["cause"], row["because"], test, name)


def question(name: str) -> tuple[str, str]:
    """What to ask back, and what the answer decides."""
    asks, decides = table(__file__, "questions.toml")[name]
    return asks, decides


def _asked(run: Run, name: str, row: Mapping[str, Any]) -> Iterator[Finding]:
    every = (run.family(n[:-1]) if n.endswith("/*") else [n] for n in row.get("each", [""]))
    for it in (n for names in every for n in names if not n or (n in run.curves and run.curves[n].value.size)):
        said, case = View(run, it, fewest=1).answer(row)
        if said is not None:
            causes = tuple(cause(run, c) for c in case.get("causes", ()))
            about, ask = tuple(n for n in (it, *row.get("about", ())) if n), tuple(map(question, case.get("ask", ())))
            link = causes[0].link if causes else Link.EVALUATION
            yield Finding(name, link, said.outcome, said.statement, seen_in="rows", causes=causes, about=about, ask=ask)
