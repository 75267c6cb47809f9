"""Reads what ``nvidia-smi --query-gpu=... --format=csv`` prints, with or without units.

Its times carry no zone. They are read as UTC; the profile finds the offset against the run's step clock and says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.alike_rows import Cells, cells, line_blocks
from rl_advisor.reading.parsing.bytes_in import open_bytes
from rl_advisor.reading.parsing.counters import (
    INSTANT,
    MIB,
    OTHER,
    PERCENT,
    ROW_LIMIT,
    THROTTLE,
    first_line,
    numbers,
    other_memory,
    plain_name,
    table,
    telemetry,
    too_long,
)
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "nvidia_smi"
APPENDED = "table"
"""How a growing file goes on, so that what was appended can be read alone."""

COLUMNS: Mapping[str, tuple[str, float]] = {
    "power.draw": ("power_w", 1.0),
    "power.draw.average": ("power_w", 1.0),
    "power.draw.instant": (INSTANT, 1.0),
    "utilization.gpu": ("utilization", PERCENT),
    "utilization.memory": ("memory_activity", PERCENT),
    "memory.used": ("memory_gib", MIB),
    "memory.total": ("memory_total_gib", MIB),
    "temperature.gpu": ("temperature", 1.0),
    "clocks.sm": ("sm_clock", 1.0),
    "clocks.current.sm": ("sm_clock", 1.0),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", 1.0),
}
MASKS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
PROCESSES = "processes"
"""What our own recorder adds: processes and the MiB each holds."""
NAMES = ("index", "gpu_uuid", "uuid", "pci.bus_id", "gpu_bus_id", "serial", "gpu_serial")
TEXTS = {*MASKS, *NAMES, PROCESSES}
MISSING = {"", "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "[GPU is lost]", "[Not Found]", "ERR!"}
PLAIN = bytes.maketrans(b"/" + bytes(range(128, 256)), b"-" + b"?" * 128)
"""Dates as ISO 8601 writes them, and ASCII only."""
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}")
STAMP = len("2026/11/20 23:49:21.923")
MARKS = {4: "/", 7: "/", 10: " ", 13: ":", 16: ":", 19: "."}
"""Where what stands in such a time."""
DIGITS = [i for i in range(STAMP) if i not in MARKS]
BLOCK = 1 << 19
"""Bytes parsed at once: what stays in a core's own cache."""
LONGEST_LINE = 1 << 16
_DAY_S = 86_400.0
Columns = dict[str, Any]
"""Seconds since the epoch, numbers in the tool's units, and texts as codes and what they stand for, by the tool's names."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the first line is the header of such a query."""
    names = _header(path)
    return "timestamp" in names and any(name in COLUMNS for name in names)


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file; lines that are no row are counted in a gap."""
    names = _header(path)
    parts: list[Columns] = []
    total = bad = 0
    with open_bytes(path) as file:
        header = file.readline(LONGEST_LINE)
        for held, size in line_blocks(file, BLOCK):
            rows = _rows(cells(held, size, len(names)), names)
            if rows is None:
                rows, skipped = _loose_rows(bytes(held[:size]).replace(header, b""), names)
                bad += skipped
            parts.append(rows)
            total += len(rows.get("timestamp", ()))
            if total > ROW_LIMIT:
                break
    gaps = [Gap(path.name, f"{bad} lines are no row of the table")] if bad else []
    return telemetry(path, FORMAT, _ours(parts, names), [*gaps, *too_long(path, total)])


def _header(path: Path) -> list[str]:
    return [plain_name(cell) for cell in first_line(path).split(",")]


def _rows(found: Cells | None, names: list[str]) -> Columns | None:
    """The rows of a block; None where some line or cell is not what it should be."""
    times = found and _times(found, names.index("timestamp"))
    if found is None or times is None:
        return None
    numeric = [names.index(name) for name in COLUMNS if name in names]
    values, odd = found.numbers(numeric)
    for i in np.flatnonzero(odd.any(axis=1)):
        if not MISSING.issuperset(found.texts(numeric[i], np.flatnonzero(odd[i]))[1]):
            return None
        values[i, odd[i]] = np.nan
    columns: Columns = {"timestamp": times} | dict(zip((names[i] for i in numeric), values, strict=True))
    return columns | {name: found.texts(names.index(name)) for name in TEXTS.intersection(names)}


def _times(found: Cells, column: int) -> npt.NDArray[np.float64] | None:
    """Seconds since the epoch where every cell is a time; None otherwise. The GPUs of one sample share its time."""
    changes = found.changes(column, STAMP)
    if changes is None:
        return None
    text, which = changes
    clock = text[:, DIGITS] - ord("0")
    if (clock > 9).any() or (text[:, list(MARKS)] != np.frombuffer("".join(MARKS.values()).encode(), np.uint8)).any():
        return None
    days = np.flatnonzero(np.r_[True, (text[1:, :10] != text[:-1, :10]).any(axis=1)])
    try:
        dates = np.array([text[day, :10].tobytes().decode().replace("/", "-") for day in days], "datetime64[D]").astype(np.float64)
    except ValueError:
        return None
    seconds = clock[:, 8:] @ np.array([36_000, 3_600, 600, 60, 10, 1, 0.1, 0.01, 0.001])
    whole = np.repeat(dates, np.diff(np.r_[days, len(text)])) * _DAY_S + seconds
    return np.asarray(np.round(whole, 3)[which], np.float64)


def _loose_rows(block: bytes, names: list[str]) -> tuple[Columns, int]:
    """The block's rows where some cell is not what it should be, such cells being missing; and how many lines were no row."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv

    wanted = [n for n in dict.fromkeys(names) if n == "timestamp" or n in COLUMNS or n in TEXTS]
    skipped: list[int] = []

    def skip(row: csv.InvalidRow) -> str:
        skipped.append(row.actual_columns)
        return "skip"

    try:
        rows = csv.read_csv(
            pa.BufferReader(block.translate(PLAIN) or b"\n"),
            csv.ReadOptions(column_names=_distinct(names), block_size=2 * BLOCK, use_threads=False),
            csv.ParseOptions(invalid_row_handler=skip, quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.string()), include_columns=wanted, strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return {}, block.count(b"\n") + 1
    columns: Columns = {}
    for name in wanted:
        text = rows[name].to_pandas().str.strip()
        if name in TEXTS:
            codes, words = pd.factorize(text)
            columns[name] = codes, list(words)
        else:
            columns[name] = _seconds(text) if name == "timestamp" else numbers(text).to_numpy(np.float32)
    return columns, len(skipped)


def _seconds(text: pd.Series[str]) -> npt.NDArray[np.float64]:
    """Seconds since the epoch of times in any form of ISO 8601, NaN where it is none."""
    import pandas as pd

    times = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
    return np.asarray((times - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds(), np.float64)


def _distinct(names: list[str]) -> list[str]:
    """The names with the second and later use of one numbered, as the parser wants them."""
    return [name if names.index(name) == i else f"{name}#{i}" for i, name in enumerate(names)]


def _ours(parts: list[Columns], names: list[str]) -> pd.DataFrame:
    """The rows as a telemetry table."""
    import pandas as pd

    parts = [part for part in parts if part]
    if not parts:
        return pd.DataFrame()
    columns: Columns = {"time": np.concatenate([part["timestamp"] for part in parts])}
    for name in names:
        if name in COLUMNS and (ours := COLUMNS[name][0]) not in columns:
            columns[ours] = np.concatenate([part[name] for part in parts])
            columns[ours] *= np.float32(COLUMNS[name][1])
    texts = {name: _united([part[name] for part in parts]) for name in names if name in TEXTS}
    for name in (n for n in MASKS if n in texts):
        columns[THROTTLE] = _decoded(texts[name])
    label = next((n for n in NAMES if n in texts), None)
    gpu = texts[label] if label else "0"
    if PROCESSES in texts and label:
        columns[OTHER] = other_memory(pd.Series(texts[PROCESSES]), gpu)
    return table(columns, gpu)


def _united(parts: list[tuple[npt.NDArray[np.intp], list[str]]]) -> pd.Categorical[Any]:
    """The texts of all parts, the words for nothing being missing."""
    import pandas as pd

    places = dict.fromkeys(MISSING, -1)
    words = [word for word in dict.fromkeys(word for _, found in parts for word in found) if word not in places]
    places |= {word: i for i, word in enumerate(words)}
    codes = [np.array([places[word] for word in found], np.int32)[which] for which, found in parts if found]
    return pd.Categorical.from_codes(np.concatenate(codes) if codes else [], pd.Index(words, dtype=str))


def _decoded(masks: pd.Categorical[Any]) -> npt.NDArray[np.float32]:
    """Hexadecimal bit masks as numbers."""
    values = [int(mask, 16) if HEXADECIMAL.fullmatch(mask) else np.nan for mask in masks.categories]
    return np.asarray(np.array([*values, np.nan])[masks.codes], np.float32)
