"""Cutting a TRL run on disk at a step: what the folder would have held had the run been killed right after that step."""

import json
import re
import shutil
import struct
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event


def cut_run(run: Path, step: int, out: Path) -> Path:
    """A copy of the run folder without anything that was written after ``step``."""
    shutil.copytree(run, out)
    for checkpoint in out.glob("checkpoint-*"):
        if int(checkpoint.name.split("-")[1]) > step:
            shutil.rmtree(checkpoint)
    for rollouts in out.glob("completions/*.parquet"):
        if int(re.findall(r"\d+", rollouts.stem)[0]) > step:
            rollouts.unlink()
    state = json.loads((out / "trainer_state.json").read_text())
    state["log_history"] = [row for row in state["log_history"] if row["step"] <= step]
    (out / "trainer_state.json").write_text(json.dumps(state | {"global_step": step}))
    for events in out.glob("tensorboard/events*"):
        events.write_bytes(_events_until(events.read_bytes(), step))
    rows = sum("loss" in row for row in state["log_history"])
    (out / "train.log").write_text(_log_until((run / "train.log").read_text(), rows))
    return out


def _events_until(data: bytes, step: int) -> bytes:
    """TFRecord framing: length, its checksum, the record, its checksum."""
    kept, at = bytearray(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        record = data[at : at + 16 + size]
        if Event.FromString(record[12:-4]).step <= step:
            kept += record
        at += 16 + size
    return bytes(kept)


def _log_until(text: str, rows: int) -> str:
    """The log up to its training row number ``rows`` and the evaluation that follows it."""
    out, seen = [], 0
    for line in text.splitlines(keepends=True):
        seen += "{'loss'" in line
        if seen > rows:
            break
        out.append(line)
    return "".join(out)
