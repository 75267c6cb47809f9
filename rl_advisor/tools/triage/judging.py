"""What the table says of one run: the judgement in few fields, its outcome as a small curve, its settings, and what it costs."""

from pathlib import Path
from typing import Any

from rl_advisor import tools
from rl_advisor.answers import run_table
from rl_advisor.answers.comparable import logged
from rl_advisor.answers.judgement import judgement
from rl_advisor.curves import outcomes
from rl_advisor.curves.logged import best_level
from rl_advisor.features.bins import reduce
from rl_advisor.finding import BROKEN
from rl_advisor.gpu.steps import seconds_a_step
from rl_advisor.output.clean import aliased, clean
from rl_advisor.output.names import names_of_run
from rl_advisor.run import Run
from rl_advisor.settings.given import settings_of
from rl_advisor.tools.advisors import builtin
from rl_advisor.tools.triage.row import Row

POINTS, MOST_SETTINGS, LONGEST_VALUE, LONGEST_SAID, MOST_GPUS = 40, 200, 60, 240, 1_000_000


def read_and_judged(path: str, goal: float | None = None) -> Row:
    """The row of the run at this path; where several lie there, ``several`` names those below it, and the row is that of what is left."""
    place = Path(path)
    whole = tools.as_asked(place, goal=goal)
    names = run_table.places_of(place, whole)
    if place.is_file():
        names = [name.removeprefix(place.name) for name in names]
    inner = [name for name in names if name not in ("", ".")]
    return {"several": inner} if len(inner) == len(names) > 0 else judged(whole) | ({"several": inner} if inner else {})


def judged(run: Run) -> Row:
    """The row of a run, made safe."""
    a = builtin.assess(run)
    shown = judgement(run, a)
    told, best, onset = shown["story"]["facts"], a.best_checkpoint, a.onset.step if a.onset else None
    errors = run.curves.get("episode/errors")  # of the policy none: a share of episodes that the infrastructure lost
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
        "episodes_lost": float(errors.numbers.mean()) if errors is not None and errors.numbers.size else None,
        "cost": cost(run, onset if a.verdict in BROKEN else None),
        "finished": bool(a.planned_steps and a.step >= a.planned_steps) or a.call_reason == "finished",
    }
    return aliased(clean(row), names_of_run(run))  # type: ignore[no-any-return]


def outcome(run: Run) -> Row | None:
    """The curve that says how good the policy is: its own name, start, best and last, and at most 40 points; None where there is none."""
    curve = outcomes.outcome(run)
    if curve is None or not curve.numbers.size:
        return None
    (step, value), shape = curve.finite(), outcomes.course_or_none(curve)
    bins = reduce(step, value, min(POINTS, step.size))
    points = {"x": [float(f"{x:.6g}") for x in bins.step.tolist()], "y": [float(f"{y:.4g}") for y in bins.median.tolist()]}
    levels = {"start": shape.start, "best": best_level(run, run.curves.get(curve.name, curve))[0], "last": shape.last} if shape else {}
    return {"name": curve.name, "raw": curve.raw, "start": None, "best": None, "last": None, **levels, "newest": float(value[-1]), **points}


def settings(run: Run) -> dict[str, Any]:
    """Settings by their own keys, values that fit a cell; what only the log tells (a learning rate) under our name."""
    first = logged(run)
    measured = {c.raw for c in run.curves.values()} | {c.raw.rpartition("/")[2] for c in run.curves.values()}
    given = {key: value for key, value in {**first, **run.settings, **run.config}.items() if key not in measured or key in first}
    short = {k: v for k, v in given.items() if isinstance(v, bool | int | float) or (isinstance(v, str) and 0 < len(v) <= LONGEST_VALUE)}
    return {str(k)[:100]: short[k] for k in list(short)[:MOST_SETTINGS]}


def cost(run: Run, broke_at: float | None) -> dict[str, Any]:
    """``gpus``, ``hours`` so far, ``hours_after_break``, ``hours_left`` to the planned end, all in GPU hours too; None where not logged."""
    count, pace, last = gpus(run), seconds_a_step(run), run.last_step
    steps = {
        "hours": last - run.first_step,
        "hours_after_break": None if broke_at is None else last - broke_at,
        "hours_left": run.planned_steps - last if run.planned_steps else None,
    }
    hours = {name: None if n is None or pace is None else pace * max(0.0, n) / 3600 for name, n in steps.items()}
    return {"gpus": count, **hours, **{f"gpu_{name}": None if h is None or not count else h * count for name, h in hours.items()}}


def gpus(run: Run) -> int | None:
    """How many GPUs the run has: those in the telemetry, or what the settings say; None where neither tells."""
    if len(run.telemetry):
        return int(run.telemetry["gpu"].nunique())
    settings = settings_of(run)
    known = (settings.number(key) or 0.0 for key in ("num_gpus", "world_size", "n_gpus", "num_processes"))
    each, nodes = settings.number("n_gpus_per_node") or 0.0, settings.number("nnodes") or 1.0
    count = next((n for n in known if n > 0), each * nodes)
    return int(count) if 0 < count < MOST_GPUS else None
