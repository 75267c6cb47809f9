"""The conversation on disk, one line a turn, so that nothing that was paid for is asked twice after a crash."""

import os
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.advisors.model.turns import Entry
from rl_advisor.output.errors import UsageError

SCHEMA = "rl-advisor/transcript/1"
_LARGEST, _BEGINS = 64_000_000, b'{"schema":'


def resume(path: Path, about: dict[str, Any]) -> list[Entry]:
    """The entries of a conversation that was begun about the same thing; empty, with the file begun, when there is none.

    A last line that was not written to its end is dropped.

    Raises:
        NoSuchChoice: the file is about something else, or is no transcript.
    """
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the transcript in")
    lines = _whole_lines(path) if path.exists() else []
    if not lines:
        append(path, {"schema": SCHEMA, **about})
        return []
    other = [key for key, value in about.items() if lines[0].get(key) != value]
    if other:
        raise UsageError(f"the transcript {path.name} is of another {' and '.join(other)}; name another file or remove it")
    return lines[1:]


def append(path: Path, entry: Entry) -> None:
    """Write one line to the disk itself before coming back."""
    with path.open("ab") as file:
        file.write(orjson.dumps(entry) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _whole_lines(path: Path) -> list[Entry]:
    """The lines of the file; a torn last one is cut off the file."""
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"{path.name} is too large for a transcript")
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    try:
        lines: list[Entry] = [dict(orjson.loads(line)) for line in whole.splitlines()]
    except (ValueError, TypeError):
        lines = [{}]
    if not (lines[0].get("schema") == SCHEMA if lines else _BEGINS.startswith(data[: len(_BEGINS)])):
        raise UsageError(f"{path.name} is no transcript of this tool, or it is damaged; name another file")
    os.truncate(path, len(whole))
    return lines
