"""What the table says of one run: the judgement in few fields, its outcome as a small curve, its settings, and what it costs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rl_advisor.run import Run

Row = dict[str, Any]
CONTRACT = ("run", "verdict", "p", "cause", "call", "best_checkpoint", "step", "planned_steps", "error")
"""Fields that every row has, in this order."""
POINTS, MOST_SETTINGS, LONGEST_VALUE, LONGEST_SAID = 40, 200, 60, 240


def read_and_judged(path: str, goal: float | None = None) -> Row:
    """The row of the run at this path; where several lie there, ``several`` names those below it, and the row is that of what is left."""
    from rl_advisor import tools
    from rl_advisor.answers import run_table

    place = Path(path)
    whole = tools.as_asked(place, goal=goal)
    names = run_table.places_of(place, whole)
    if place.is_file():
        names = [name.removeprefix(place.name) for name in names]
    inner = [name for name in names if name not in ("", ".")]
    return {"several": inner} if len(inner) == len(names) > 0 else judged(whole) | ({"several": inner} if inner else {})


def judged(run: "Run") -> Row:
    """The row of a run, made safe."""
    from rl_advisor import tools
    from rl_advisor.answers.judgement import judgement
    from rl_advisor.finding import BROKEN
    from rl_advisor.output.clean import aliased, clean
    from rl_advisor.output.names import names_of_run
    from rl_advisor.tools.triage.cost import cost

    a = tools.advisor_named("builtin").assess(run)
    shown = judgement(run, a)
    told, best, onset = shown["story"]["facts"], a.best_checkpoint, a.onset.step if a.onset else None
    row = {
        **a.model_dump(include={"verdict", "call", "step", "planned_steps", "call_reason", "p_continue_pays", "confidence"}),
        "p": a.probabilities.get(a.verdict),
        "cause": a.first_broken_link,
        "best_checkpoint": best.step,
        "error": None,
        "best_checkpoint_path": best.path,
        "broke_at": onset,
        "patterns": [f.pattern for f in a.findings if f.outcome == "present"][:12],
        "why": (told.get("Cause") or told.get("Limits") or shown["why"])[:LONGEST_SAID],
        "do": told.get("Do now", "")[:LONGEST_SAID],
        "framework": ", ".join(run.frameworks),
        "unit": run.step_unit,
        "outcome": outcome(run),
        "settings": settings(run),
        "episodes_lost": lost(run),
        "cost": cost(run, onset if a.verdict in BROKEN else None),
        "finished": bool(a.planned_steps and a.step >= a.planned_steps) or a.call_reason == "finished",
    }
    return aliased(clean(row), names_of_run(run))  # type: ignore[no-any-return]


def lost(run: "Run") -> float | None:
    """The mean share of episodes that ended in an error or that the infrastructure lost; None where nothing says."""
    curve = run.curves.get("episode/errors")
    return float(curve.numbers.mean()) if curve is not None and curve.numbers.size else None


def shown(rows: Sequence[Row]) -> list[Row]:
    """The rows as they may stand in a terminal or another program's input: names of folders and of runs are text of strangers, too."""
    from rl_advisor.output.clean import aliased, aliases, clean

    parts = [re.split("[/#]", row["run"]) for row in rows]
    among = aliases(name for names in parts for name in names)
    return [aliased(clean(row), names, among) for row, names in zip(rows, parts, strict=True)]


def outcome(run: "Run") -> Row | None:
    """The curve that says how good the policy is: its own name, start, best and last, and at most 40 points; None where there is none."""
    from rl_advisor.curves import outcomes
    from rl_advisor.curves.logged import best_level
    from rl_advisor.features.bins import reduce

    curve = outcomes.outcome(run)
    if curve is None or not curve.numbers.size:
        return None
    (step, value), shape = curve.finite(), outcomes.course_or_none(curve)
    bins = reduce(step, value, min(POINTS, step.size))
    points = {"x": [float(f"{x:.6g}") for x in bins.step.tolist()], "y": [float(f"{y:.4g}") for y in bins.median.tolist()]}
    levels = {"start": shape.start, "best": best_level(run, run.curves.get(curve.name, curve))[0], "last": shape.last} if shape else {}
    return {"name": curve.name, "raw": curve.raw, "start": None, "best": None, "last": None, **levels, "newest": float(value[-1]), **points}


def settings(run: "Run") -> dict[str, Any]:
    """Settings by their own keys, values that fit a cell; what only the log tells (a learning rate) under our name."""
    from rl_advisor.answers.comparable import logged

    first = logged(run)
    measured = {c.raw for c in run.curves.values()} | {c.raw.rpartition("/")[2] for c in run.curves.values()}
    given = {key: value for key, value in {**first, **run.settings, **run.config}.items() if key not in measured or key in first}
    short = {k: v for k, v in given.items() if isinstance(v, bool | int | float) or (isinstance(v, str) and 0 < len(v) <= LONGEST_VALUE)}
    return {str(k)[:100]: short[k] for k in list(short)[:MOST_SETTINGS]}
