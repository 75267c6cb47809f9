"""Where runs lie below a root, told from names alone wherever names tell: no file of thousands of runs is opened to find them.

A folder that holds logs is a run. Folders below it are parts of it (``eval``, ``tensorboard``, ``rank_0``), or runs of their own when two
or more of them hold files of the same names. What names cannot tell is left to the reader, which tells runs apart by their numbers.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.remote.listing import File
from rl_advisor.reading.run_folder import IN_CHECKPOINT, all_logs, checkpoint_step, is_skipped

DEEPEST, MOST_ENTRIES = 8, 5_000_000
FLAT = 60
"""Logs side by side in one folder from which each is taken for a run; fewer are told apart by the reader."""
MOST_OPENED = 4
"""Files of a folder that are opened where no name says that it is a run."""
_SAYS_SO = (
    r"(?:.*[_.-])?(?:logs?|history|stats|metrics|results?|train(?:ing)?|eval(?:uation)?|curves?|rewards?|returns?|episodes?|scores?|run)"
)
_SURE = re.compile(
    r"(?i)trainer_state\.json|progress\.(?:csv|json|txt)|result\.json|.*tfevents.*|.*(?:monitor\.csv|\.wandb|\.jsonl|\.log|\.db)"
    rf"|{_SAYS_SO}[\w.-]{{0,40}}\.(?:csv|tsv|npz|parquet)(?:\.gz)?"
)
_LIKELY = re.compile(rf"(?i).*\.(?:csv|tsv|npz|parquet)(?:\.gz)?|{_SAYS_SO}[\w-]{{0,40}}\.(?:json|txt|out)(?:\.gz)?")
_PERHAPS = re.compile(r"(?i).*\.(?:json|npy|txt|out|md|gz|ipynb)")
_SHARD = re.compile(
    r"(?i)\d+|.*monitor|.*tfevents.*|.*(?:rollout|sample|completion|generation|trajector|telemetry|gpu|rank|worker|env)\w{0,40}"
)
_PART = re.compile(
    r"(?i)(?:(?:train(?:ing)?|eval(?:uation|uator)?|test|val(?:idation)?|logs?|log_dir|tensorboard|tb|tb_logs|events|metrics|stats|monitors?"
    r"|rollouts?|completions?|samples|generations|trajectories|checkpoints?|ckpts?|wandb|files|media|telemetry|gpu|system|actor|critic"
    r"|learner|environment_loop|videos?|console|stdout|outputs?|rank|worker|env|process|node|replica|shard)s?(?:[-_]?\d+|_(?:logs?|data|dir|dump))?)"
)
"""Folders that hold a part of the run above them."""


@dataclass
class Folder:
    """A folder as its listing shows it: names, sizes and times."""

    path: str = ""
    files: list[File] = field(default_factory=list)
    folders: list["Folder"] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its own name."""
        return PurePosixPath(self.path).name

    def everything(self) -> Iterator[File]:
        """Its files and those below it."""
        yield from self.files
        for folder in self.folders:
            yield from folder.everything()


Opens = Callable[[str], bool]
"""Whether the file at that path, below the root, holds metrics."""


def below(root: Path, most: int = MOST_ENTRIES) -> Folder:
    """The listing of a folder on this machine; links are not followed, and at most 8 levels and so many entries are looked at."""
    found, queue, left = list[File](), [("", 0)], most
    while queue and left > 0:
        path, depth = queue.pop()
        with suppress(OSError), confined_files.listed(root / path) as entries:
            for entry in islice(entries, left):
                left -= 1
                inner = f"{path}/{entry.name}" if path else entry.name
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found += [File(f"{inner}/", 0, 0.0)] if checkpoint_step(entry.name) is not None else []
                    queue += [(inner, depth + 1)] if depth < DEEPEST and not is_skipped(entry.name) else []
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append(File(inner, status.st_size, status.st_mtime))
    return tree(sorted(found))


def tree(files: Iterable[File]) -> Folder:
    """The folder that a flat listing of paths describes."""
    known = {"": Folder()}

    def at(path: str) -> Folder:
        if path not in known:
            known[path] = Folder(path)
            at(path.rpartition("/")[0]).folders.append(known[path])
        return known[path]

    for file in files:
        at(file.path.rpartition("/")[0]).files.append(file)
    return _pruned(known[""])


def _pruned(folder: Folder) -> Folder:
    """The folder without what holds no logs; of checkpoints only that they are there, and their state files."""
    kept = []
    for inner in folder.folders:
        names = [PurePosixPath(f.path).name for f in inner.files if not f.path.endswith("/")]
        if checkpoint_step(inner.name) is not None and not all_logs(names):
            states = (f for f in inner.files if PurePosixPath(f.path).name in IN_CHECKPOINT)
            folder.files += [File(f"{inner.path}/", 0, 0.0), *states]
        elif not is_skipped(inner.name):
            kept.append(_pruned(inner))
    folder.folders = kept
    return folder


def likely(path: str) -> bool:
    """Whether a name alone says that a file may be a log, for who cannot open it."""
    return _LIKELY.fullmatch(PurePosixPath(path).name) is not None or not path.endswith((".md", ".txt", ".json", ".gz"))


def runs_of(folder: Folder, opens: Opens) -> list[Folder]:
    """The runs in a folder, each as the folder (or a single file of it) that holds it."""
    kin = [(kid, run) for kid in folder.folders for run in runs_of(kid, opens)]
    others = [run for kid, run in kin if not _is_part(kid)]
    own = _logs(folder, opens, alone=not others)
    if "meta.yaml" in {PurePosixPath(f.path).name for f in folder.files} and any(kid.name == "metrics" for kid in folder.folders):
        return [folder]  # a run of MLflow's store of files
    if not kin:
        return [folder] if 0 < len(own) < FLAT else [Folder(f.path, [f]) for f in own]
    if (own and not _alike(others)) or (not others and all(run is kid for kid, run in kin)):
        return [folder]
    return [run for _, run in kin]


def _is_part(folder: Folder) -> bool:
    return _PART.fullmatch(folder.name) is not None or checkpoint_step(folder.name) is not None


def _alike(runs: list[Folder]) -> bool:
    """Whether two runs or more hold logs of the same names, as runs of one collection do and parts of one run do not."""
    if len(runs) >= FLAT:
        return True
    kinds = [{_kind(f.path) for f in run.files} - {""} for run in runs]
    return any(kind & other for n, kind in enumerate(kinds) for other in kinds[:n])


def _kind(path: str) -> str:
    """The name of a log without its numbers, of event files always the same; empty for what says nothing of a run."""
    name = PurePosixPath(path).name
    if "tfevents" in name:
        return "tfevents"
    tells = (_SURE.fullmatch(name) or _LIKELY.fullmatch(name)) and not _SHARD.fullmatch(PurePosixPath(name).stem)
    return re.sub(r"\d+", "0", name) if tells else ""


def _logs(folder: Folder, opens: Opens, *, alone: bool) -> list[File]:
    """The files of a folder that say how a training went; where no name says so, the first few are opened.

    Beside runs the pages and notebooks of a project are not asked: what they quote of a training is no run.
    """
    named = [(PurePosixPath(f.path).name, f) for f in folder.files if not f.path.endswith("/")]
    sure = [f for name, f in named if _SURE.fullmatch(name)]
    likely = [f for name, f in named if _LIKELY.fullmatch(name)]
    many = [f for f in (*sure, *likely) if not _SHARD.fullmatch(PurePosixPath(f.path).stem)]
    if len(many) >= FLAT:
        return list(dict.fromkeys(many))
    if sure:
        return sure[: FLAT - 1]
    tried = [*likely, *(f for name, f in named if alone and _PERHAPS.fullmatch(name) and f not in likely)]
    return [f for f in tried[:MOST_OPENED] if opens(f.path)]
