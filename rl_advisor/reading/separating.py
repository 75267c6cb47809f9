"""Two runs in one folder are told apart, so that their numbers are never mixed."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from rl_advisor.reading.joining import agree, settle
from rl_advisor.reading.translating import recognise
from rl_advisor.run import Curve, Run

_EVALUATION = re.compile(r"(?i)(?:^|[_-])(?:eval|evaluation|evaluator|test|val|validation)(?:$|(?=[_-]))")
_TRAINING = re.compile(r"(?i)(?:^|[_-])(?:train|training|actor|environment_loop)(?:$|(?=[_-]))")
_RL = re.compile(r"(?i)rew|return|score|advantage|kl\b|entropy|rollout|clip|critic|episode|response|completion")
PART_LIMIT = 100
"""Parts compared with each other; beyond that the folder is surely a collection, and only what lies with the run is the run's."""

GAP_PACES = 4
"""Logging intervals that a run which goes on may leave out between two files."""


def path_of(part: Run) -> PurePosixPath:
    """Where the first of a part's files lies."""
    return PurePosixPath(part.files[0])


def foreign_folders(parts: Sequence[Run]) -> list[str]:
    """The subfolders and files of other runs than the largest one, each given relative to the root; runs within them stand one by one."""
    return sorted(set(_other_runs([part for part in parts if part.curves])))


def _other_runs(files: Sequence[Run]) -> list[str]:
    out = []
    for folder in _foreign(files):
        inside = [f for f in files if path_of(f).is_relative_to(folder)]
        within = _other_runs(inside)
        own = [f for f in inside if not any(path_of(f).is_relative_to(w) for w in within)]
        out += [place_of(own) or str(folder), *within] if within else [str(folder)]
    return out


def _foreign(files: Sequence[Run]) -> list[PurePosixPath]:
    """The folders and files that the largest run is not in, as few as possible.

    What lies nearest to the largest file is looked at first, so that of two runs that both go with it, it gets its neighbour.
    """
    ranked = sorted(files, key=lambda f: (f.axis != "step", not _is_rl(f), -sum(c.step.size for c in f.curves.values()), path_of(f)))
    largest = path_of(ranked[0]).parent if ranked else PurePosixPath()
    found: list[PurePosixPath] = []
    members: list[Run] = []
    firm: list[PurePosixPath] = []
    for count, file in enumerate(sorted(ranked, key=lambda f: _levels(largest, path_of(f)))):
        path = path_of(file)
        if any(path.is_relative_to(folder) for folder in found):
            continue
        if not _is_other(file, members, count):
            if on_the_way(path, largest) or any(_is_copy(m, file) for m in members):
                firm.append(path)
            members.append(file)
            continue
        # The outermost folder on the way that holds nothing which surely is the run's, or the file itself.
        found.append(next((f for f in reversed(path.parents) if not any(place.is_relative_to(f) for place in firm)), path))
        members = [m for m in members if not path_of(m).is_relative_to(found[-1])]
    return found


def _is_other(file: Run, members: Sequence[Run], count: int) -> bool:
    """Whether a file contradicts one of the run; of a collection so large that it is not looked at, whether it lies elsewhere."""
    if count >= PART_LIMIT:
        return not any(on_the_way(path_of(file), path_of(m).parent) for m in members)
    return any(_may_differ(file, m) and _other_run(m, file) for m in members)


def _levels(folder: PurePosixPath, place: PurePosixPath) -> int:
    """How far one has to go up from a folder to find a place below."""
    return next(i for i, above in enumerate((folder, *folder.parents)) if place.is_relative_to(above))


def with_evaluations(parts: Sequence[Run]) -> list[Run]:
    """The parts, with ``eval/`` before the names of an evaluation (eval.csv, or a folder) that lies beside the training (train.csv)."""
    training = {_beside(part, _TRAINING) for part in parts if part.curves} - {None}
    return [_as_evaluation(part) if _beside(part, _EVALUATION) in training else part for part in parts]


def _beside(part: Run, word: re.Pattern[str]) -> tuple[PurePosixPath, str, tuple[str, ...]] | None:
    """Folder, format and name without the word: what a training file, or folder, has in common with its evaluation."""
    stem = path_of(part).name.split(".", 1)[0]
    if word.search(stem):
        return path_of(part).parent, word.sub("", stem), part.formats
    folder = next((parent for parent in path_of(part).parents if word.fullmatch(parent.name)), None)
    return None if folder is None else (folder.parent, "", part.formats)


def _as_evaluation(part: Run) -> Run:
    plain = all(re.match(r"(?i)(eval|evaluation|test|val)", name) is None for name in part.curves)
    return (
        replace(part, curves={f"eval/{n}": replace(c, name=f"eval/{n}", raw=f"eval/{c.raw}") for n, c in part.curves.items()})
        if plain
        else part
    )


def place_of(parts: Sequence[Run]) -> str:
    """The folder (or the one file) that holds every curve of these parts, relative to the root."""
    places = [path_of(part) for part in parts if part.curves]
    if len(places) <= 1:
        return str(places[0].parent if places[0].parent != PurePosixPath() else places[0]) if places else ""
    folder = places[0].parent
    while not all(place.is_relative_to(folder) for place in places):
        folder = folder.parent
    return "" if folder == PurePosixPath() else str(folder)


def on_the_way(path: str | PurePosixPath, place: str | PurePosixPath) -> bool:
    """Whether a file lies in, above or below a place, and not in another branch."""
    file = PurePosixPath(path)
    return file.is_relative_to(place) or PurePosixPath(place).is_relative_to(file.parent)


def _may_differ(a: Run, b: Run) -> bool:
    """Whether two files may be of different runs: they lie in different branches, or side by side in one format."""
    one, two = path_of(a).parent, path_of(b).parent
    return a.formats == b.formats if one == two else not one.is_relative_to(two) and not two.is_relative_to(one)


def _other_run(a: Run, b: Run) -> bool:
    """Whether the metrics both have are mostly different, and it is not the same run going on after a restart."""
    if "row" in (a.axis, b.axis):
        return False
    shared = a.curves.keys() & b.curves.keys()
    alike = 2 * len(shared) >= min(len(a.curves), len(b.curves))
    written_by = {dialect.name for dialect in (recognise(a.curves), recognise(b.curves)) if dialect}
    if not alike and len(written_by) > 1 and path_of(a).parent != path_of(b).parent:
        return True
    if not shared:  # of a process's own log it is known what all of it was about
        return a.formats == b.formats and any("console" in f for f in a.formats) and _is_rl(a) != _is_rl(b)
    pairs = _pairs(a, b)
    if not pairs or (alike and all(_goes_on(x, y) or _goes_on(y, x) for x, y in pairs)):
        return False
    results = [agree(x, y) for x, y in pairs]
    different = sum(not same or count == 0 for count, same in results)
    return different * 2 >= len(results)


def _is_copy(a: Run, b: Run) -> bool:
    """Whether most of the metrics that both have are the same numbers."""
    results = [agree(x, y) for x, y in _pairs(a, b)] if a.axis == b.axis == "step" else []
    return sum(same and count > 0 for count, same in results) * 2 > len(results)


def _pairs(a: Run, b: Run) -> list[tuple[Curve, Curve]]:
    """The metrics that two files have both, as far as they say anything: equal constants (a learning rate) do not."""
    shared = [(a.curves[n], b.curves[n]) for n in a.curves.keys() & b.curves.keys()]
    pairs = [(settle(x)[0], settle(y)[0]) for x, y in shared if x.varies or y.varies]
    return [(x, y) for x, y in pairs if x.step.size and y.step.size]


def _is_rl(part: Run) -> bool:
    """Whether any name speaks of reinforcement learning; supervised training logs losses, rates and times alone."""
    return any(_RL.search(name) for name in part.curves)


def _goes_on(first: Curve, later: Curve) -> bool:
    """Whether the second starts where, or shortly before, the first ends, and later in time; without times at the first one's pace."""
    if first.time is None or later.time is None:
        paces = [np.median(np.diff(c.step)) for c in (first, later) if c.step.size > 1]
        return bool(0 < later.step[0] - first.step[-1] <= GAP_PACES * min(paces, default=np.inf))
    return bool(np.nanmin(later.time) > np.nanmin(first.time) and first.step[0] < later.step[0])
