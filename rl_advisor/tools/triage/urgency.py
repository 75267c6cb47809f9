"""Which run to look at first: what is dead and still burns, then what is gamed, what degrades, what is dead, undecided, sound, unread."""

import time
from typing import TYPE_CHECKING

from rl_advisor.tools.triage.row import CONTRACT, Row
from rl_advisor.tools.triage.work import inside

if TYPE_CHECKING:
    from rl_advisor.tools.triage.looking import Place

SAID = {
    "burning": "dead and still running",
    "gamed": "reward gamed",
    "degrading": "getting worse",
    "dead": "dead, no longer running",
    "undecided": "cannot be told yet",
    "sound": "sound or finished",
    "unread": "could not be judged",
}
CLASSES = list(SAID)
_GETTING_WORSE = ("degrading", "unstable")
LIVE_S = 1800.0
"""Seconds without a new line after which a run counts as no longer running; where its steps take longer, five of them."""


def whole(row: Row, place: "Place", now: float | None = None) -> Row:
    """The row with its name and all fields of the contract, how long ago it was written, and its urgency."""
    age = max(0.0, (time.time() if now is None else now) - place.changed) if place.changed else None
    found = {**dict.fromkeys(CONTRACT), **row, "run": place.run}
    found |= {
        "where": inside(place.where, place.inner),
        "key": place.key,
        "age_s": None if age is None else round(age),
        "running": _runs(row, age),
    }
    found["urgency"] = _class(found)
    cost, stops = row.get("cost", {}), found["running"] and (found["call"] == "stop" or found["urgency"] == "burning")
    # What stopping now would save; None unless stopping is advised and the run goes on.
    return found | {f"saves_{unit}": cost.get(f"{unit}_left") if stops else None for unit in ("gpu_hours", "hours")}


def _runs(row: Row, age: float | None) -> bool:
    """Whether it still trains, by its plan and by when it was last written."""
    if age is None or row.get("error") or row.get("finished"):
        return False
    cost, steps = row.get("cost", {}), (row.get("step") or 0)
    pace = 3600 * cost["hours"] / steps if cost.get("hours") and steps else 0.0
    return age < max(LIVE_S, 5 * pace)


def _class(row: Row) -> str:
    verdict, stop = row["verdict"], row["call"] == "stop"
    if row["error"] or verdict is None:
        return "unread"
    if verdict == "reward_hacking":
        return "gamed"
    dead = verdict in ("collapsed", "not_learning") or (verdict in _GETTING_WORSE and stop and row.get("call_reason") in ("broken", "dead"))
    if dead:
        return "burning" if row["running"] else "dead"
    if verdict in _GETTING_WORSE:
        return "degrading"
    return "undecided" if verdict == "undecidable" else "sound"


def order(row: Row) -> tuple[int, float, float, str]:
    """What to sort rows by: the most urgent first, of one kind those that cost most, then the surest."""
    cost = row.get("cost", {})
    burnt = row.get("saves_gpu_hours") or row.get("saves_hours") or cost.get("gpu_hours_after_break") or 0.0
    return CLASSES.index(row["urgency"]), -float(burnt), -float(row.get("p") or 0.0), str(row["run"])
