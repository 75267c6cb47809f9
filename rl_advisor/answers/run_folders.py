"""Run folders on disk: whether a path exists and what is near it, whether its files changed, and where runs lie below a folder."""

import difflib
import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rl_advisor.run_reference import split_reference

MOST_ENTRIES, DEEPEST, MOST_NAMED, MOST_NEAR = 20_000, 6, 8, 5_000
MOST_OPENED = 4
"""Files of a folder that are opened to see whether it is a run."""
_WITH_ROWS = (".csv", ".tsv", ".json", ".npy", ".npz", ".parquet", ".txt", ".out", ".md", ".gz")
_MARKS = (
    "trainer_state.json",
    "progress.csv",
    "progress.json",
    "progress.txt",
    "result.json",
    "monitor.csv",
    "metrics.jsonl",
    "evaluations.npz",
    "train.log",
)
_MARK_ENDS = (".monitor.csv", ".wandb", ".jsonl", ".log", ".db")
_INSIDE_A_RUN = ("checkpoint", "global_step", "completions", "rollout", "tensorboard", "logs", "runs")


class Entry(NamedTuple):
    """A file at one moment."""

    path: str
    size: int
    changed_ns: int


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
    near = difflib.get_close_matches(wanted.name, names, MOST_NAMED, 0.4) or names[:MOST_NAMED]
    more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
    return f"{parent} holds {', '.join(near)}{more}" if near else f"{parent} is empty"


def fingerprint(path: Path) -> tuple[Entry, ...]:
    """Every file of the run with its size and time of change; equal as long as nothing was written."""
    path = split_reference(path)[0]
    if not path.is_dir():
        status = path.stat()
        return (Entry("", status.st_size, status.st_mtime_ns),)
    return tuple(sorted(_entries(path)))


def _entries(path: Path) -> Iterator[Entry]:
    """Files below ``path``, symbolic links not followed into other folders, bounded in depth and number."""
    left, queue = MOST_ENTRIES, [(path, 0)]
    while queue and left:
        folder, depth = queue.pop()
        with os.scandir(folder) as listing:
            for entry in listing:
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEPEST:
                        queue.append((Path(entry.path), depth + 1))
                    continue
                status = entry.stat(follow_symlinks=False)
                yield Entry(os.path.relpath(entry.path, path), status.st_size, status.st_mtime_ns)
                if not left:
                    return


def changed(path: Path) -> str:
    """When the newest file of the run was written, in UTC; empty for a folder without files."""
    newest = max((e.changed_ns for e in fingerprint(path)), default=0)
    return datetime.fromtimestamp(newest / 1e9, UTC).strftime("%Y-%m-%d %H:%M") if newest else ""


def is_run(path: Path, *, by_names: bool = False) -> bool:
    """Whether a folder looks like a run: it holds a file of a kind that trainers write, by its name or (else) by what stands in it."""
    for folder in (path, path / "tensorboard"):
        try:
            names = [e.name for e in islice(os.scandir(folder), MOST_ENTRIES) if not e.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if any(n in _MARKS or "events.out.tfevents" in n or n.endswith(_MARK_ENDS) for n in names):
            return True
        if "meta.yaml" in names and (folder / "metrics").is_dir():  # MLflow's store of files
            return True
        likely = [n for n in names if n.lower().endswith(_WITH_ROWS)]
        if not by_names and any(holds_metrics(folder / n) for n in likely[:MOST_OPENED]):
            return True
    return False


def holds_metrics(file: Path) -> bool:
    """Whether a format of metrics claims a file: not one that only says how a run was set up."""
    from rl_advisor.reading import format_of

    try:
        found = format_of(file)
    except (OSError, EOFError, ValueError, OverflowError, MemoryError):
        return False
    return found is not None and not getattr(found, "BESIDE", False)


def runs_below(root: Path, *, by_names: bool = False) -> list[Path]:
    """Folders below ``root`` (or itself) that look like runs, newest first; folders inside a run are not runs."""
    from rl_advisor.reading.run_folder import OURS

    found: list[Path] = []
    queue, left = [(root, 0)], MOST_ENTRIES
    while queue and left > 0:
        folder, depth = queue.pop()
        if is_run(folder, by_names=by_names):
            found.append(folder)
            continue
        try:
            inside = [e for e in islice(os.scandir(folder), MOST_ENTRIES) if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")]
        except OSError:
            continue
        left -= len(inside)
        if depth < DEEPEST:
            kept = [e for e in inside if not e.name.endswith(OURS) and (not e.name.startswith(_INSIDE_A_RUN) or depth == 0)]
            queue += [(Path(e.path), depth + 1) for e in kept]
    return sorted(found, key=lambda p: (changed(p), str(p)), reverse=True)


def digest(run: Path, aside: Path | None) -> str:
    """Sizes and times of all files in one word; empty when they changed while being looked at."""
    try:
        stem = aside.stem if aside is not None else None
        files = tuple(e for e in fingerprint(run) if stem is None or not Path(e[0]).name.lstrip(".").startswith(f"{stem}."))
        return hashlib.sha256(repr(files).encode("utf-8", "replace")).hexdigest()
    except OSError:
        return ""
