"""What of an experiment is on record: what belongs there before, during and after training, and which of it is there."""

import re
from collections.abc import Callable, Mapping

from rl_advisor.discovery import table
from rl_advisor.output import Answer
from rl_advisor.run import Run

PARTS: Mapping[str, Mapping[str, Answer]] = table(__file__, "context.toml")
"""When -> what belongs on record then -> where it may stand."""


def on_record(run: Run) -> Callable[[Answer], bool]:
    """What tells whether something is on record: a table's row says by which patterns, of which names of the run."""
    config = [str(key) for key in run.config if not str(key).startswith("code.")]
    parts = {part: getattr(run, part) for part in ("rollouts", "checkpoints", "telemetry", "others")}
    parts |= {"curves": [c for c in run.curves.values() if c.source != "samples"]}
    names = {
        "config": config,
        "settings": [*config, *map(str, run.settings)],
        "code": [str(key).removeprefix("code.") for key in run.config if str(key).startswith("code.")],
        "files": [*run.files, *(gap.where for gap in run.ignored)],
        "metrics": list(run.curves),
        "parts": [name for name, part in parts.items() if len(part)] + ["planned_steps"] * (run.planned_steps is not None),
    }
    return lambda row: any(re.search(f"(?i){row[kind]}", name) for kind in names.keys() & row.keys() for name in names[kind])


def context(run: Run) -> dict[str, dict[str, list[str]]]:
    """For before, during and after training: what is there and what is missing."""
    there = on_record(run)
    return {
        when: {"there": [w for w in rows if there(rows[w])], "missing": [w for w in rows if not there(rows[w])]}
        for when, rows in PARTS.items()
    }


def unrecorded(found: Answer) -> str:
    """What a context lacks of that without which runs cannot be compared or taken up again, listed."""
    return ", ".join(w for when, part in found.items() for w in part["missing"] if PARTS[when][w].get("decides"))
