"""The note beside a copy that was fetched from a store: what the copy leaves out, as counts, and checkpoints that stayed there."""

from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import document, parse_json
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Checkpoint, Gap, Run

FORMAT = "fetched"
BESIDE = True
"""Says how a run was set up, and is none."""
NOTE = "rl-advisor-fetched.json"
CHECKPOINTS = 10_000
_WHY = {
    "size": "{} files did not fit into what a copy may hold and stayed in the store",
    "count": "{} more files stayed in the store: a copy holds a bounded number",
    "name": "{} files were not fetched: no folder on this machine can hold their names",
    "failed": "{} files could not be fetched: the store refused them or broke off",
}


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the file has the note's name."""
    return path.name == NOTE


def read(path: Path, _: Request = WHOLE) -> Run:
    """The gaps of the copy, and the checkpoints that stayed in the store."""
    try:
        note = parse_json(document(path, 100_000))
        counts = {why: int(note["left_out"][why]) for why in _WHY if why in note["left_out"]}
        late = note.get("late") is True
        checkpoints = tuple(Checkpoint(int(step), str(where)[:300]) for step, where in note.get("checkpoints", ())[:CHECKPOINTS])
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError):
        return Run(gaps=(Gap("", "damaged: what this copy of a store leaves out is not known"),))
    said = [_WHY[why].format(f"{count:,}") for why, count in counts.items() if count > 0]
    said += ["the store was too slow: the copy holds what had come until the time was up"] if late else []
    return Run(gaps=tuple(Gap("the copy", why) for why in said), checkpoints=checkpoints)
