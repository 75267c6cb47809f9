"""TensorBoard: event files with the judgement as text, the curves it speaks of, and a dot on each at every mark.

All of it goes into one folder of our own, ``NAME.rl-advisor``, in the folder that is named, or beside the run. The next judgement
of the run replaces it. Its files end in ``.rl-advisor``, by which our own reader knows that they are no run.
"""

import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote.bounds import client
from rl_advisor.reading.run_folder import OURS
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
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.plugins.text.summary_v2 import text_pb

    said = float(note.tags["step"]), text_pb(f"{PREFIX}/judgement", note.text)
    curves = replace(note, marks={}).rows()
    _events(folder / "judgement", [said, *((step, scalar_pb(name, x)) for step, row in curves for name, x in row.items())])
    for name, step in note.marks.items():
        # TensorBoard keeps one point a step and smooths lines, so a line across the chart would be bent.
        dots = [(step, scalar_pb(curve.raw, np.interp(step, *curve.finite()))) for curve in note.curves]
        _events(folder / f"{name.removeprefix(f'{PREFIX}/').replace('_', ' ')} at step {step:.0f}", dots or [said])


def _events(folder: Path, values: Iterable[tuple[float, Any]]) -> None:
    """Write an event file: summaries with the step of each."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    folder.mkdir()
    now = time.time()
    with (folder / f"events.out.tfevents.{now:.0f}{OURS}").open("xb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=now, file_version="brain.Event:2").SerializeToString())
        for step, summary in values:
            writer.write(Event(wall_time=now, step=int(step), summary=summary).SerializeToString())
        writer.flush()
