"""A run as a few rows of numbers: what is kept of it, and how it is built up again from that."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from rl_advisor.curves.task import task
from rl_advisor.run import Curve, Event, Floats, Guess, Run
from rl_advisor.settings.priors.circumstances import method

POINTS = 200
"""Points kept of a curve: what the judgement looks at of an outcome, twice over."""
DIGITS, LONGEST = 6, 80
"""Significant digits of a value; characters kept of a name."""
PLAIN = {"language": "llm", "control": "env"}
"""A kind of training -> a key of a configuration that tells it, where no metric of the run does."""
NAMED = {"actor_critic_replay": "sac", "ppo_language": "ppo"}
"""A method -> an algorithm that is one, where it is not called the same."""
Row = dict[str, Any]


def facts(run: Run) -> Row:
    """What is kept of a run besides its curves and where it came from."""
    guess = run.outcome_guess
    return {
        "frameworks": list(run.frameworks),
        "method": method(run),
        "kinds": sorted(task(run).traits),
        "planned_steps": run.planned_steps,
        "step_unit": run.step_unit,
        "last_step": float(run.last_step),
        "settings": json.dumps({k: v for k, v in run.settings.items() if isinstance(v, bool | int | float)}),
        "supervised": task(run).kind == "supervised",
        "guess": json.dumps([guess.name, guess.raw[:LONGEST], guess.runner_up[:LONGEST], guess.lower_is_better]) if guess else "",
        "events": json.dumps([[e.kind, e.step] for e in run.events]),
    }


def curves(run: Run) -> Iterator[Row]:
    """The curves whose meaning is known, each as one row; of the others those that would have had a known one."""
    for curve in run.curves.values():
        if (curve.mapped or curve.guessed or curve.spare) and curve.step.size:
            step, value = thinned(curve.step, curve.value)
            yield {
                "name": curve.name[:LONGEST],
                "raw": curve.raw[:LONGEST],
                "mapped": curve.mapped,
                "guessed": curve.guessed,
                "spare": curve.spare,
                "trailing": curve.trailing,
                "points": int(curve.step.size),
                "non_finite": int((~np.isfinite(curve.value)).sum()),
                "step": step,
                "value": value,
            }


def thinned(step: Floats, value: Floats) -> tuple[Floats, Floats]:
    """At most POINTS points: means of stretches of equal count; a stretch without a finite value keeps what it has instead."""
    if step.size > POINTS:
        parts = np.array_split(np.arange(step.size), POINTS)
        step, value = np.array([step[p].mean() for p in parts]), np.array([_middle(value[p]) for p in parts])
    return np.asarray(step, np.float64), np.array([float(f"{v:.{DIGITS}g}") for v in value])


def _middle(part: Floats) -> float:
    known = part[np.isfinite(part)]
    return float(known.mean() if known.size else part[0])


def rebuilt(name: str, told: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Run:
    """The run again, as far as it was kept."""
    built = {row["name"]: _curve(row) for row in rows}
    config = {PLAIN[kind]: True for kind in told["kinds"] if kind in PLAIN}
    method_ = "sft" if told["supervised"] else told["method"]
    return Run(
        name=name,
        curves=built,
        frameworks=tuple(told["frameworks"]),
        config=config | ({"algorithm": NAMED.get(method_, method_)} if method_ else {}),
        settings=json.loads(told["settings"]),
        planned_steps=None if told["planned_steps"] is None else int(told["planned_steps"]),
        step_unit=told["step_unit"],
        outcome_guess=Guess(*json.loads(told["guess"])) if told["guess"] else None,
        events=tuple(Event(kind, "", name, step) for kind, step in json.loads(told["events"])),
    )


def _curve(row: Mapping[str, Any]) -> Curve:
    return Curve(
        name=row["name"],
        raw=row["raw"],
        source="",
        step=np.asarray(row["step"], np.float64),
        value=np.asarray(row["value"], np.float64),
        mapped=row["mapped"],
        guessed=row["guessed"],
        spare=row["spare"],
        trailing=row["trailing"],
    )
