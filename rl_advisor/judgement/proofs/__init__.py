"""What lines already prove, be there one of them or a thousand: rows of ``rows.toml``, a Finding each, faults first.

A Finding that is absent says that what somebody might take for a fault is as it should be.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rl_advisor.detectors import patterns
from rl_advisor.discovery import table
from rl_advisor.finding import Cause, Finding, Outcome, number, unclear
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.settings_to_change import learning_rate, slower, usual_value
from rl_advisor.output.wording import plain, sentence
from rl_advisor.run import Run
from rl_advisor.settings.conditions import View
from rl_advisor.settings.priors import Prior, prior
from rl_advisor.vocabulary import Link

FEW = 8
"""Rows below which each is read for itself: they show no course."""
CLEARLY = 2.0
"""How many times beyond what is usual a value proves something by itself."""
SLOWER = ("large_steps", "drift", "growing", "broken_policy")
"""Causes that a smaller learning rate tells from the others."""


def proofs(run: Run) -> list[Finding]:
    """Everything that the lines prove, faults first."""
    found = [finding for name, row in table(__file__, "rows.toml").items() for finding in _asked(run, name, row)]
    told = {name for f in found for name in f.about}
    return sorted([*found, *(f for f in values(run, CLEARLY) if f.about[0] not in told)], key=lambda f: not f.there)


def values(run: Run, times: float = 1.0) -> Iterator[Finding]:
    """What single values are a sign of where a run has a few rows: those so many times beyond what is usual, or beyond what is possible."""
    rows = Rows(run)
    for pattern, name, sides in ((d.name, *sign) for d in patterns().values() for sign in d.sign.items()) if rows.count < FEW else ():
        level, row = rows.level(name), prior(name, rows.around)
        if row is None or level is None or _side(row, level, times) not in sides.split("|"):
            continue
        says = f"{run.curves[name].raw} is {number(level)}: {row.says(level)}"
        link, page, to_set = patterns()[pattern].link, patterns()[pattern].page, usual_value(run, name).replace(" (not given)", "")
        test = f"{to_set}." if to_set else sentence(page["Next test"])
        yield Finding(
            pattern, link, Outcome.PRESENT, says, seen_in="rows", causes=(Cause(link, plain(pattern), says, test, pattern),), about=(name,)
        )


def _side(row: Prior, level: float, times: float) -> str:
    """Whether a value stands below or above what is usual, so many times over; empty where not."""
    side, (low, high) = row.side(level), row.usual
    beyond = (
        level > times * high
        if level > high >= 0
        else level < low / times
        if level < low and low > 0
        else times == 1 and not low <= level <= high
    )
    return side.removeprefix("far_") if beyond or side.startswith("far") else ""


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
        try:
            said, case = View(run, it, fewest=1).answer(row)
        except Exception as error:  # noqa: BLE001  one row that fails takes no answer with it
            said, case = unclear(f"This row failed on these lines ({type(error).__name__}); nothing is said of it."), {}
        if said is not None:
            causes = tuple(cause(run, c) for c in case.get("causes", ()))
            about, ask = tuple(n for n in (it, *row.get("about", ())) if n), tuple(map(question, case.get("ask", ())))
            link = causes[0].link if causes else Link.EVALUATION
            yield Finding(name, link, said.outcome, said.statement, seen_in="rows", causes=causes, about=about, ask=ask)
