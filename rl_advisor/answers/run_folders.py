"""Run folders on disk: whether a path exists and what is near it, whether its files changed, and where runs lie below a folder."""

import difflib
import hashlib
import os
import re
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor.output.run_reference import split_reference
from rl_advisor.output.wording import listed

if TYPE_CHECKING:
    from rl_advisor.reading.remote.listing import File

MOST_ENTRIES, MOST_NAMED, MOST_NEAR, HEAD = 20_000, 8, 5_000, 65_536
_SERIES = re.compile(rb"\[\s*(?:\{|\[|-?[\d.]+(?:[eE][-+]?\d+)?\s*,)|\"\d+\"\s*:")
"""Rows, numbers in a list, or numbers by their step."""


def existing(path: str | Path) -> Path:
    """The path.

    Raises:
        FileNotFoundError: nothing is there; the message names the nearest that is.
    """
    wanted = Path(path)
    try:
        if split_reference(wanted)[0].exists():
            return wanted
    except (OSError, ValueError):
        raise FileNotFoundError("that is no path") from None
    raise FileNotFoundError(f"{wanted} does not exist; {_nearby(wanted)}")


def _nearby(wanted: Path) -> str:
    """What is there instead of ``wanted``."""
    parent = wanted.parent
    if not parent.is_dir():
        return f"nor does the folder {parent}"
    names = sorted(e.name for e in islice(os.scandir(parent), MOST_NEAR) if not e.name.startswith("."))
    near = difflib.get_close_matches(wanted.name, names, MOST_NAMED, 0.4)
    return f"{parent} holds {listed([*dict.fromkeys((*near, *names))], MOST_NAMED) or 'nothing'}"


def fingerprint(path: Path) -> "tuple[File, ...]":
    """Every file of the run with its size and time of change; equal as long as nothing was written."""
    from rl_advisor.answers.run_places import below
    from rl_advisor.reading.remote.listing import File

    path = split_reference(path)[0]
    if not path.is_dir():
        status = path.stat()
        return (File("", status.st_size, status.st_mtime),)
    return tuple(sorted(below(path, MOST_ENTRIES).everything()))


def changed(path: Path) -> str:
    """When the newest file of the run was written, in UTC; empty for a folder without files."""
    newest = max((e.changed for e in fingerprint(path)), default=0)
    return datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%d %H:%M") if newest else ""


def holds_metrics(file: Path) -> bool:
    """Whether a format of metrics claims a file: not one that says how a run was set up, and no JSON without rows or lists of numbers."""
    from rl_advisor.reading import format_of
    from rl_advisor.reading.parsing.bytes_in import head

    try:
        found = format_of(file)
        if file.suffix.lower() == ".json" and not _SERIES.search(head(file, HEAD)):
            return False
    except (OSError, EOFError, ValueError, OverflowError, MemoryError):
        return False
    return found is not None and not getattr(found, "BESIDE", False)


def runs_below(root: Path, *, by_names: bool = False) -> list[Path]:
    """The runs below ``root`` (or itself), newest first; ``by_names`` opens no file to find them."""
    from rl_advisor.answers.run_places import below, runs_of

    listing = below(root, MOST_ENTRIES)
    found = runs_of(listing, lambda inner: not by_names and holds_metrics(root / inner))
    newest = {run.path: max((f.changed for f in run.everything()), default=0.0) for run in found}
    return [root / path for path in sorted(newest, key=lambda path: (newest[path], path), reverse=True)]


def digest(run: Path, aside: Path | None) -> str:
    """Sizes and times of all files but one in one word; empty when they changed while being looked at."""
    try:
        files = tuple(e for e in fingerprint(run) if aside is None or Path(e.path).name != aside.name)
        return hashlib.sha256(repr(files).encode("utf-8", "replace")).hexdigest()
    except OSError:
        return ""
