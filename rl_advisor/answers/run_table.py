"""Several runs in one folder or file as a table: a row for each, worst first, none of them merged and none chosen in silence."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor.output import Answer
from rl_advisor.output.progress import report_progress
from rl_advisor.output.run_reference import split_reference
from rl_advisor.output.wording import WORDS

if TYPE_CHECKING:
    from rl_advisor.finding import Assessment
    from rl_advisor.run import Run

MOST_ROWS, LONGEST_S = 100, 90.0
"""Runs that are read one by one, and seconds of processor time after which the rest are only named."""


def places_of(asked: Path, run: "Run") -> list[str]:
    """Where each of several runs lies, below the folder or as ``file#run``; empty for one run, or where one was asked for by name."""
    if not run.others or split_reference(asked)[1]:
        return []
    return list(dict.fromkeys((run.place, *run.others)))


def rows_of(asked: Path, places: Sequence[str], read: Callable[[Path], "Run"], row: Callable[["Run"], Answer]) -> list[Answer]:
    """What ``row`` says of each run; of one that cannot be read, or comes too late, why."""
    base = asked if asked.is_dir() else asked.parent
    out, began = list[Answer](), time.process_time()
    for number, place in enumerate(places, 1):
        report_progress("run", number, len(places))
        if number > MOST_ROWS or time.process_time() - began > LONGEST_S:
            out.append({"run": place, "error": "not looked at: too many runs for one table; name it to read it"})
            continue
        try:
            out.append({"run": place, **row(read(base / place))})
        except (ValueError, LookupError, OSError) as error:
            out.append({"run": place, "error": str(error)[:200].replace(str(base), ".")})
    return out


def judged(run: "Run", a: "Assessment") -> Answer:
    """What a table of judgements says of a run."""
    from rl_advisor.answers.story.rows import rows

    return {
        "verdict": a.verdict,
        "confidence": a.confidence,
        "call": a.call,
        "p": a.p_continue_pays,
        "cause": a.first_broken_link,
        "best_checkpoint": a.best_checkpoint.step,
        "step": a.step,
        "planned_steps": a.planned_steps,
        **_outcome(run),
        "curve": rows(run),
        "error": None,
    }


def held(run: "Run") -> Answer:
    """What a table of contents says of a run."""
    steps = {"first": run.first_step, "last": run.last_step, "planned": run.planned_steps, "unit": run.step_unit}
    known = sum(c.explained for c in run.curves.values())
    return {"frameworks": run.frameworks, "steps": steps, "metrics": known, "files": len(run.files), **_outcome(run), "error": None}


def worst_first(rows: Sequence[Answer]) -> list[Answer]:
    """Rows in the order in which to look at them: what could not be read last."""
    return sorted(rows, key=_urgency)


def _urgency(row: Answer) -> tuple[int, float, str]:
    worst = {verdict: place for place, verdict in enumerate(WORDS["verdict"])}
    return worst.get(str(row.get("verdict")), len(worst)), -(row.get("p") or 0.0), str(row["run"])


def _outcome(run: "Run") -> Answer:
    """The run's own name of its outcome, with its last value; and that it was guessed."""
    from rl_advisor.curves import outcomes

    curve = outcomes.outcome(run)
    if curve is None or not curve.numbers.size:
        return {"outcome": None}
    value = curve.numbers
    return {"outcome": curve.raw, "last": float(value[-1]), **({"guessed": True} if run.outcome_guess else {})}
