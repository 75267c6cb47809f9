"""What lies in a run folder: the files worth a look and the checkpoints, in a bounded walk that never leaves the folder."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rl_advisor.discovery import table
from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import beginning
from rl_advisor.run import Checkpoint, Gap

ENTRY_LIMIT = 20_000
DEPTH_LIMIT = 8
MOST_FILES = 2_000
"""Files of a run that are read: a file a step of a long run, not one for each of its samples."""
OURS = ".rl-advisor"
"""Ends the name of a folder that we wrote for a tracker to show: a judgement, no run."""
_SKIPPED = {".git", "__pycache__", "node_modules", ".venv", "venv", "site-packages", ".cache", ".ipynb_checkpoints"}
_KEPT_HIDDEN = {".hydra", ".summary"}
_CHECKPOINT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:checkpoint|ckpt|best_global_step|global_step|step|iter|iteration|checkpoint_epoch|actor_step|model_step|weights_step|update|it)[-_]?(\d+)(?:_hf)?(?:\.(?:pt|pth|ckpt|safetensors|zip|bin))?",
        r"(?:\w+_)?rl_model_(\d+)_steps(?:\.zip)?",
        r"(?:model|agent)[-_](\d+)\.(?:pt|pth|ckpt|zip)",
        r"[\w ]{1,60}-(\d+)\.onnx",
        r"epoch\d+epochstep\d+globalstep(\d+)",
        r"checkpoint_\d+_(\d+)\.pth",
    )
)
_README = re.compile(r"(?i)(?:readme|results|notes)\w{0,20}\.(?:md|txt|rst)")
README_LIMIT = 65_536
UNREAD = tuple(table(__file__, "unread.toml")["endings"])
_WEIGHTS = (".zip", ".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".onnx")
_LOGS = (".jsonl", ".parquet", ".csv", ".html", ".log")
"""Endings in a folder that is merely named like a checkpoint (``iteration_000010`` of a cookbook, ``step_5`` of dumps)."""
IN_CHECKPOINT = ("trainer_state.json", "training_args.json")
"""What is read of a checkpoint's inside."""


@dataclass
class Found:
    """What a walk saw: files worth a look and checkpoints relative to the root, and what it did not look into."""

    files: list[Path] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    entries: int = 0
    gaps: list[Gap] = field(default_factory=list)


class Entry(NamedTuple):
    """What lies in a folder, as far as a walk asks."""

    name: str
    is_folder: bool = False
    is_file: bool = True


def walk(root: Path) -> Found:
    """The files of a folder, nearest first, and its checkpoints; at most 20,000 entries and 8 levels are looked at.

    Links that lead out of the folder are not followed, and of a checkpoint's inside only its trainer state is taken.
    """
    out: list[str] = []
    found = walked(lambda folder: _entries(root, folder, out))
    found.gaps += [Gap(link, "a link that leads out of the run folder; not followed") for link in out]
    return found


def walked(below: Callable[[Path], Iterable[Entry]]) -> Found:
    """As ``walk``, wherever the folder lies: ``below`` says what lies in it, and in each folder that was said to lie in it."""
    found = Found()
    queue = [(Path(), 0)]
    while queue:
        folder, depth = queue.pop(0)
        room = ENTRY_LIMIT - found.entries
        entries = list(islice(below(folder), room + 1))
        found.entries += len(entries)
        for entry in sorted(entries[:room], key=lambda e: _natural(e.name)):
            path, step = folder / entry.name, checkpoint_step(entry.name)
            if step is None and folder.name == "checkpoints" and re.fullmatch(r"\d{4,12}", entry.name):
                step = int(entry.name)
            inside = [held.name for held in islice(below(path), 1_000)] if entry.is_folder and step is not None else []
            if step is not None and (path.suffix in _WEIGHTS if not entry.is_folder else not all_logs(inside)):
                found.checkpoints.append(Checkpoint(step, str(path)))
                found.files += [path / name for name in IN_CHECKPOINT if name in inside]
            elif not entry.is_folder:
                found.files += [path] if entry.is_file else []
            elif not is_skipped(entry.name) and depth < DEPTH_LIMIT:
                queue.append((path, depth + 1))
            elif not is_skipped(entry.name):
                found.gaps.append(Gap(str(path), "nested too deep; not looked into"))
        if len(entries) > room:
            why = f"the walk stopped after {ENTRY_LIMIT:,} entries, in {folder.name}; name a smaller folder to see the rest"
            found.gaps, queue = [Gap(".", why), *found.gaps], []
    found.checkpoints.sort(key=lambda c: (c.step, c.path))
    return found


def all_logs(names: Sequence[str]) -> bool:
    """Whether there are files and all of them are logs, so that their folder is merely named like a checkpoint."""
    return bool(names) and all(name.endswith(_LOGS) or "tfevents" in name for name in names)


def _entries(root: Path, folder: Path, out: list[str]) -> Iterator[Entry]:
    """What lies in a folder on this machine; what a link stands for is met elsewhere, unless it leads out."""
    with suppress(OSError), confined_files.listed(root / folder) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield Entry(entry.name, entry.is_dir(), entry.is_file())
            elif not _inside(root, root / folder / entry.name):
                out.append(str(folder / entry.name))


def checkpoint_step(name: str) -> int | None:
    """The step in a checkpoint's name; None for any other name."""
    match = next((m for m in (pattern.fullmatch(name) for pattern in _CHECKPOINT) if m), None)
    return int(match.group(1)) if match and len(match.group(1)) <= 15 else None


def is_skipped(folder: str) -> bool:
    """Whether folders of that name hold no logs: caches, environments, hidden ones, and what we wrote ourselves."""
    return folder in _SKIPPED or folder.endswith(OURS) or (folder.startswith(".") and folder not in _KEPT_HIDDEN)


def readme_of(root: Path) -> str:
    """What the authors say of a run beside it: the beginning of the texts named README or RESULTS in its folder; no instruction."""
    names = sorted(e.name for e in islice(_entries(root, Path(), []), ENTRY_LIMIT) if e.is_file and _README.fullmatch(e.name))
    return "\n".join(beginning(root / name, README_LIMIT) for name in names[:3])


def _inside(root: Path, path: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() and len(part) < 18 else (-1, part) for part in re.split(r"(\d+)", name)]


def thinned(files: Sequence[Path]) -> tuple[list[Path], list[Gap]]:
    """The files, of very many those at equal distances; each ending has its fair share of what is read, and each folder of its ending's."""
    kept = set(_fair(files, MOST_FILES, (lambda path: path.suffix, lambda path: path.parent)))
    often = Counter(path.suffix for path in files).most_common(1)
    gaps = [
        Gap(".", f"{len(files):,} files, most of them {s or 'without an ending'}: {len(kept):,} at equal distances were read")
        for s, _ in often
    ]
    return [path for path in files if path in kept], gaps if len(kept) < len(files) else []


def _fair(files: Sequence[Path], most: int, by: Sequence[Callable[[Path], object]]) -> Sequence[Path]:
    """At most so many of the files, of each group as many as of any other that has as many, the first and the last among them."""
    if len(files) <= most:
        return files
    groups: dict[object, list[Path]] = {}
    for path in files if by else ():
        groups.setdefault(by[0](path), []).append(path)
    if not 0 < len(groups) <= most:
        return [files[i * (len(files) - 1) // max(1, most - 1)] for i in range(most)]
    kept: list[Path] = []
    for number, held in enumerate(sorted(groups.values(), key=len)):
        kept += _fair(held, (most - len(kept)) // (len(groups) - number), by[1:])
    return kept
