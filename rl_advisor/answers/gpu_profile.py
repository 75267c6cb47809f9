"""The profile of the GPUs with its point first: whether they stand idle, what for, and what to do; the figures come after."""

from rl_advisor.answers.templates import sentences
from rl_advisor.gpu.profile import profile
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed, percent
from rl_advisor.run import Run

IDLE = 0.15
"""Share of a step that is worth a sentence."""


def profiled(run: Run) -> Answer:
    """The contract's answer of ``gpu``."""
    found = profile(run)
    return {"says": says(found), **found}


def says(found: Answer) -> str:
    """The point of a profile; what of it cannot be told stands in ``cannot_tell``."""
    rows = {row["name"]: row for row in found["phases"]}
    busy = [rows[name] for name in ("generation", "training") if name in rows]
    idle = rows["waiting"] if rows.get("waiting", {"share": 0})["share"] >= IDLE else None
    places = [stretch.get("where", "") for stretch in found["idle"]]
    late = places.count("after the step before ended") > places.count("inside the step")
    figures = {
        "read": rows or found["gpus"],
        "idle": idle and {"share": percent(idle["share"]), "seconds": idle["seconds_per_step"], "of": found["step_period_s"]},
        "for": "late" if late else "reward" if places else "either",
        "busy": listed([f"{row['name']} {percent(row['share'])}" for row in busy]),
        "longest": max(busy, key=lambda row: row["share"], default=None),
        "interference": [event | {"span": event["end"] - event["start"]} for event in found["interference"]],
    }
    return " ".join(sentences("gpu", figures))
