"""Two runs in one folder are told apart, so that their numbers are never mixed."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from rl_advisor.reading.joining import agree, settle
from rl_advisor.run import Curve, Run

_EVALUATION = re.compile(r"(?i)(?:^|[_-])(?:eval|evaluation|test|val|validation)(?:$|(?=[_-]))")
_TRAINING = re.compile(r"(?i)(?:^|[_-])(?:train|training)(?:$|(?=[_-]))")
PART_LIMIT = 400
"""Parts compared with each other; beyond that the folder is surely a collection."""


def foreign_folders(parts: Sequence[tuple[str, Run]]) -> list[str]:
    """The subfolders and files of another run than the largest one, each given relative to the root."""
    found: list[str] = []
    members: list[tuple[PurePosixPath, Run]] = []
    for path, part in sorted(parts, key=lambda p: (p[1].axis != "step", -sum(c.step.size for c in p[1].curves.values()), p[0]))[
        :PART_LIMIT
    ]:
        place = PurePosixPath(path)
        if any(place.is_relative_to(folder) for folder in found) or not part.curves:
            continue
        rival = next((other for other, run in members if _may_differ(place, part, other, run) and _other_run(run, part)), None)
        if rival is None:
            members.append((place, part))
        else:
            found.append(_branch(place, rival))
    return sorted(set(found))


def with_evaluations(parts: Sequence[tuple[str, Run]]) -> list[tuple[str, Run]]:
    """The parts, with ``eval/`` before the names of a file that is the evaluation beside a file of training (train.csv, eval.csv)."""
    training = {_beside(path, part, _TRAINING) for path, part in parts if part.curves and _TRAINING.search(_stem(path))}
    return [
        (path, _as_evaluation(part)) if _EVALUATION.search(_stem(path)) and _beside(path, part, _EVALUATION) in training else (path, part)
        for path, part in parts
    ]


def _beside(path: str, part: Run, word: re.Pattern[str]) -> tuple[PurePosixPath, str, tuple[str, ...]]:
    """Folder, format and the file's name without the word: what a training file has in common with its evaluation."""
    return PurePosixPath(path).parent, word.sub("", _stem(path)), part.formats


def _as_evaluation(part: Run) -> Run:
    plain = all(re.match(r"(?i)(eval|evaluation|test|val)", name) is None for name in part.curves)
    return (
        replace(part, curves={f"eval/{n}": replace(c, name=f"eval/{n}", raw=f"eval/{c.raw}") for n, c in part.curves.items()})
        if plain
        else part
    )


def _stem(path: str) -> str:
    return PurePosixPath(path).name.split(".", 1)[0]


def place_of(parts: Sequence[tuple[str, Run]]) -> str:
    """The folder (or the one file) that holds every curve of these parts, relative to the root."""
    places = [PurePosixPath(path) for path, part in parts if part.curves]
    if len(places) <= 1:
        return str(places[0].parent if places[0].parent != PurePosixPath() else places[0]) if places else ""
    folder = places[0].parent
    while not all(place.is_relative_to(folder) for place in places):
        folder = folder.parent
    return "" if folder == PurePosixPath() else str(folder)


def _may_differ(path: PurePosixPath, part: Run, other: PurePosixPath, run: Run) -> bool:
    """Whether two files may be of different runs: they lie in different branches, or side by side in one format."""
    a, b = path.parent, other.parent
    return part.formats == run.formats if a == b else not a.is_relative_to(b) and not b.is_relative_to(a)


def _branch(place: PurePosixPath, rival: PurePosixPath) -> str:
    """The folder (or file) on the way to ``place`` at which it parts from ``rival``."""
    same = sum(1 for _ in _common(place.parts, rival.parts))
    return str(PurePosixPath(*place.parts[: same + 1]))


def _common(a: Sequence[str], b: Sequence[str]) -> list[str]:
    out = []
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        out.append(x)
    return out


def _other_run(a: Run, b: Run) -> bool:
    """Whether the metrics both have are mostly different, and it is not the same run going on after a restart."""
    if a.axis == "row" or b.axis == "row":
        return False
    shared = [(a.curves[n], b.curves[n]) for n in a.curves.keys() & b.curves.keys()]
    pairs = [(settle(x)[0], settle(y)[0]) for x, y in shared if _varies(x) or _varies(y)]
    pairs = [(x, y) for x, y in pairs if x.step.size and y.step.size]
    alike = 2 * len(shared) >= min(len(a.curves), len(b.curves))
    if not pairs or (alike and all(_goes_on(x, y) or _goes_on(y, x) for x, y in pairs)):
        return False
    results = [agree(x, y) for x, y in pairs]
    different = sum(not same or count == 0 for count, same in results)
    return different * 2 >= len(results)


def _varies(curve: Curve) -> bool:
    """Whether it is no constant: equal constants (a learning rate) say nothing about being one run."""
    value = curve.value[np.isfinite(curve.value)]
    return bool(value.size) and bool(value.min() < value.max())


def _goes_on(first: Curve, later: Curve) -> bool:
    """Whether the second starts where, or shortly before, the first ends, and later in time."""
    after = first.time is None or later.time is None or bool(np.nanmin(later.time) > np.nanmin(first.time))
    if later.step[0] > first.step[-1]:
        return after
    return bool(after and first.time is not None and first.step[0] < later.step[0] <= first.step[-1])
