"""W&B's own run file (``run-ID.wandb``): LevelDB's log framing around protobuf records, decoded by hand."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import head, parse_json
from rl_advisor.reading.parsing.columns import Row, curves_of, flat
from rl_advisor.reading.parsing.gpu_counters import names_a_gpu
from rl_advisor.reading.parsing.metric_table import over_rows
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.wire import VARINT, fields, inside, varint
from rl_advisor.run import Gap, Named, Run

FORMAT = "wandb_run"
_MAGIC = b":W&B\xe1\xbe"
_START, _BLOCK, _HEAD = 7, 32_768, 7
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_LARGEST = 64 << 20
_HISTORY, _CONFIG, _STATS, _RUN = 2, 5, 7, 17


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it starts as W&B's run files do."""
    return path.suffix == ".wandb" and head(path, len(_MAGIC)) == _MAGIC


def read(path: Path, ask: Request = WHOLE) -> Run:
    """History on the trainer's own step where it is logged, configuration, and GPU statistics."""
    rows, counters, config, gaps, bad = list[Named](), list[Row](), Named(), list[Gap](), 0
    for record in _records(path, gaps):
        whole = 0, len(record)
        try:
            for place in inside(record, *whole, _HISTORY):
                rows.append(flat(_items(record, *place, 1)))
            for place in (*inside(record, *whole, _CONFIG), *inside(record, *whole, _RUN, 4)):
                config |= _items(record, *place, 1)
            for place in inside(record, *whole, _STATS):
                counters.append((len(counters), _clock(record, *place), _items(record, *place, 3)))
        except ValueError:
            bad += 1
    if bad:
        gaps.append(Gap("", f"{bad} damaged records were left out"))
    part = over_rows(rows, ask.run)
    return replace(
        part,
        curves={n: c for n, c in curves_of(counters).items() if names_a_gpu(n)} | dict(part.curves),
        config={k: v for k, v in config.items() if not k.startswith("_wandb")},
        gaps=(*gaps, *part.gaps),
    )


def _records(path: Path, gaps: list[Gap]) -> Iterator[bytes]:
    """Yield whole records; a torn one at the end and damaged blocks become gaps."""
    pieces: list[bytes] = []
    with confined_files.opened(path) as stream:
        at, base = _START, 0
        while block := stream.read(_BLOCK):
            for kind, piece in _pieces(block, at, base, gaps):
                if kind in (_FULL, _FIRST):
                    pieces = []
                pieces.append(piece)
                if kind in (_FULL, _LAST) and sum(map(len, pieces)) <= _LARGEST:
                    yield b"".join(pieces)
                    pieces = []
            at, base = 0, base + len(block)


def _pieces(block: bytes, at: int, base: int, gaps: list[Gap]) -> Iterator[tuple[int, bytes]]:
    while at + _HEAD <= len(block):
        _, size, kind = struct.unpack_from("<IHB", block, at)
        if kind == 0 and size == 0:
            return
        if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or at + _HEAD + size > len(block):
            why = "half-written" if len(block) < _BLOCK else "damaged"
            gaps.append(Gap("", f"{why}: bytes {base + at:,} to {base + len(block):,} could not be read"))
            return
        yield kind, block[at + _HEAD : at + _HEAD + size]
        at += _HEAD + size


def _items(record: bytes, at: int, end: int, wanted: int) -> Named:
    """Return the items of a history, configuration or statistics record: names and JSON values."""
    found: Named = {}
    for place in inside(record, at, end, wanted):
        name = [record[a:b].decode("utf-8", "replace") for part in (1, 2) for a, b in inside(record, *place, part)]
        found["/".join(name)] = next((parse_json(record[a:b]) for a, b in inside(record, *place, 16)), None)
    return found


def _clock(record: bytes, at: int, end: int) -> float:
    """Seconds since the epoch at which statistics were taken; NaN where they do not say it."""
    place = next(inside(record, at, end, 2), (0, 0))
    parts = {n: varint(record, c, d)[0] for n, w, c, d in fields(record, *place) if w == VARINT}
    return parts.get(1, math.nan) + parts.get(2, 0) * 1e-9
