"""TensorBoard: event files with the judgement as text, the curves it speaks of, and a dot on each at every mark.

All of it goes into one folder of our own, ``NAME.rl-advisor``, in the folder that is named, or beside the run. The next judgement
of the run replaces it. Its files end in ``.rl-advisor``, by which our own reader knows that they are no run.
"""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote.bounds import client
from rl_advisor.reading.run_folder import OURS
from rl_advisor.run import Curve
from rl_advisor.tools.trackers import PREFIX, Note

WHERE = "tensorboard[:FOLDER]"


def write(note: Note, where: str, run: str | Path) -> str:
    """The folder that was written; ``where`` is one that exists, else it stands beside the run.

    Raises:
        NoSuchChoice: there is no such folder, or something that is not ours stands where the new one goes.
    """
    client("tensorboard", "tensorboard")
    if not where and "://" in str(run):
        raise UsageError("a run in a store has no place beside it on this machine; name a folder: tensorboard:FOLDER")
    base = Path(where) if where else Path(run).absolute().parent
    if not base.is_dir():
        raise UsageError(f"there is no folder {base} to write event files into")
    target = base / f"{note.run}{OURS}"
    if target.is_symlink() or (target.exists() and not _is_ours(target)):
        raise UsageError(f"{target} holds something else; name another folder")
    if target.exists():
        shutil.rmtree(target)
    target.mkdir()
    _fill(note, target)
    return str(target)


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but event files of ours, one level deep."""
    return folder.is_dir() and all(
        part.is_dir() and not part.is_symlink() and all(file.name.endswith(OURS) for file in part.iterdir()) for part in folder.iterdir()
    )


def _fill(note: Note, folder: Path) -> None:
    """The judgement and its curves in one run of TensorBoard's, each mark in one of its own, so that the legend names it."""
    _events(folder / "judgement", [_text(note), *(value for curve in note.curves for value in _points(curve))])
    for mark in note.marks:
        # TensorBoard keeps one point a step and smooths lines, so a line across the chart would be bent.
        dots = [_point(curve, mark.step, np.interp(mark.step, *curve.finite())) for curve in note.curves]
        _events(folder / mark.name, dots or [_text(note)])


def _events(folder: Path, values: Iterable[tuple[Any, float, float]]) -> None:
    """Write an event file: summaries with the step and the time of each."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    folder.mkdir()
    with (folder / f"events.out.tfevents.{time.time():.0f}{OURS}").open("xb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())
        for summary, step, at in values:
            writer.write(Event(wall_time=at, step=int(step), summary=summary).SerializeToString())
        writer.flush()


def _text(note: Note) -> tuple[Any, float, float]:
    from tensorboard.plugins.text.summary_v2 import text_pb

    return text_pb(f"{PREFIX}/judgement", note.text), float(note.tags["step"]), time.time()


def _points(curve: Curve) -> Iterable[tuple[Any, float, float]]:
    """The curve as it was logged, under the name by which it was logged."""
    times = curve.time if curve.time is not None else np.full(curve.step.size, np.nan)
    for step, value, at in zip(curve.step, curve.value, times, strict=True):
        if np.isfinite(value):
            yield _point(curve, step, value, at)


def _point(curve: Curve, step: float, value: float, at: float = np.nan) -> tuple[Any, float, float]:
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb

    return scalar_pb(curve.raw, value), float(step), float(at) if np.isfinite(at) else time.time()
