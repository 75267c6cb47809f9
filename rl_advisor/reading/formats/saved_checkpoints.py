"""``checkpoints.jsonl`` of the Tinker cookbook: one line for each checkpoint, which itself lies with the service."""

from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, byte_lines, json_object
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Checkpoint, Gap, Run

FORMAT = "saved_checkpoints"
LIMIT = 10_000
"""Checkpoints that are read."""


def claims(path: Path, _ask: Request = WHOLE) -> bool:
    """Whether the file has that name."""
    return bare_name(path) == "checkpoints.jsonl"


def read(path: Path, _ask: Request = WHOLE) -> Run:
    """The checkpoints with their batch as the step; lines without a batch are counted in a gap."""
    found: list[Checkpoint] = []
    bad = 0
    for _, line in zip(range(LIMIT), byte_lines(path), strict=False):
        row = json_object(line)
        step = row.get("batch", row.get("step"))
        if isinstance(step, int) and step >= 0:
            found.append(Checkpoint(step, str(row.get("state_path") or row.get("sampler_path") or row.get("name", ""))[:300]))
        else:
            bad += 1
    gaps = (Gap("", f"{bad} lines name no checkpoint with a batch"),) if bad else ()
    return Run(checkpoints=tuple(found), gaps=gaps)
