"""Reads what ``nvidia-smi --query-gpu=... --format=csv`` prints, with or without units.

Its times carry no zone. They are read as UTC; the profile finds the offset against the run's step clock and says so.
"""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rl_advisor.intake.bytes_in import open_bytes
from rl_advisor.intake.counters import (
    INSTANT,
    MIB,
    OTHER,
    PERCENT,
    THROTTLE,
    first_line,
    numbers,
    other_memory,
    plain_name,
    table,
    telemetry,
)
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    import pyarrow as pa

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
MISSING = ["", "[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "[GPU is lost]", "[Not Found]", "ERR!"]
PLAIN = bytes.maketrans(b"/" + bytes(range(128, 256)), b"-" + b"?" * 128)
"""Dates as ISO 8601 writes them, and ASCII only."""
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}")
UNITS = b"%WMiBHz\r\0"
"""Letters of the units; no cell that is read as text (times, masks, identifiers) has one of them."""
SPACED = UNITS + b" "
STAMP = len("2026-11-2023:49:21.923")
"""Characters of a time once the space in it has been taken out with the others."""
BLOCK = 1 << 20
"""Bytes parsed at once: what stays in a core's own cache."""
AT_ONCE = 2
LONGEST_LINE = 1 << 16
_DAY_S = 86_400.0


def claims(path: Path) -> bool:
    """Whether the first line is the header of such a query."""
    names = _header(path)
    return "timestamp" in names and any(name in COLUMNS for name in names)


def read(path: Path) -> Run:
    """The telemetry in the file; lines that are no row are counted in a gap."""
    import pyarrow as pa

    names = _header(path)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = list(pool.map(lambda block: _rows(block, names), _blocks(path)))
    bad = sum(skipped for _, skipped in parts)
    rows = pa.concat_tables([part for part, _ in parts]) if parts else None
    frame = _ours(rows, names) if rows is not None else pd.DataFrame()
    return telemetry(path, FORMAT, frame, [Gap(path.name, f"{bad} lines are no row of the table")] if bad else [])


def _header(path: Path) -> list[str]:
    return [plain_name(cell) for cell in first_line(path).split(",")]


def _blocks(path: Path) -> Iterator[bytes]:
    """Parts of the file, cut at line ends, without header lines."""
    with open_bytes(path) as file:
        header = file.readline(LONGEST_LINE)
        rest = b""
        while chunk := file.read(BLOCK):
            cut = chunk.rfind(b"\n") + 1
            yield _without_headers(rest + chunk[:cut], header)
            rest = chunk[cut:][-LONGEST_LINE:]
        yield _without_headers(rest, header)


def _without_headers(block: bytes, header: bytes) -> bytes:
    return block.replace(header, b"") if header in block else block


def _rows(block: bytes, names: list[str]) -> "tuple[pa.Table, int]":
    """The block's rows, names as written, and how many lines were none; dates become ISO 8601, units are taken off."""
    import pyarrow as pa

    numbers_ = {n: pa.float32() for n in names if n in COLUMNS}
    texts = {n: pa.dictionary(pa.int32(), pa.string()) for n in names if n in MASKS or n in NAMES or n == PROCESSES}
    try:
        rows, skipped = _parsed(block.translate(PLAIN, SPACED), names, {"timestamp": pa.string()} | numbers_ | texts)
        times = _times(rows["timestamp"])
        if times is not None:
            return rows.set_column(rows.schema.get_field_index("timestamp"), "timestamp", pa.array(times)), skipped
    except pa.ArrowInvalid:
        pass
    return _loose_rows(block.translate(PLAIN, UNITS), names, {"timestamp": pa.timestamp("us")} | numbers_, texts)


def _times(column: "pa.ChunkedArray") -> "np.ndarray[Any, np.dtype[np.float64]] | None":
    """Seconds since the epoch where every cell has digits in the places of a time; None otherwise.

    The GPUs of one sample share its time, so only rows that differ from the one before are looked at.
    """
    cells = column.combine_chunks()
    offsets, data = cells.buffers()[1:]
    width = np.diff(np.frombuffer(offsets, np.int32)[cells.offset :][: len(cells) + 1])
    if not len(cells) or cells.null_count or (width != STAMP).any():
        return None
    text = np.frombuffer(data, np.uint8)[: len(cells) * STAMP].reshape(-1, STAMP)
    new = np.ones(len(text), bool)
    new[1:] = (text[1:] != text[:-1]).any(axis=1)
    changed = text[new]
    digit = (changed - ord("0")).astype(np.float64)
    marks = changed[:, [4, 7, 12, 15, 18]] == np.frombuffer(b"--::.", np.uint8)
    if not marks.all() or (np.delete(digit, [4, 7, 12, 15, 18], axis=1) > 9).any():
        return None
    days = np.flatnonzero(np.r_[True, (changed[1:, :10] != changed[:-1, :10]).any(axis=1)])
    try:
        dates = changed[days, :10].copy().view("S10").ravel().astype("datetime64[D]").astype(np.float64)
    except ValueError:
        return None
    clock = digit[:, [10, 11, 13, 14, 16, 17, 19, 20, 21]] @ np.array([36_000, 3_600, 600, 60, 10, 1, 0.1, 0.01, 0.001])
    seconds = np.round(np.repeat(dates, np.diff(np.r_[days, len(changed)])) * _DAY_S + clock, 3)
    return np.asarray(seconds[np.cumsum(new) - 1], np.float64)


def _loose_rows(
    block: bytes, names: list[str], strict: "dict[str, pa.DataType]", texts: "dict[str, pa.DataType]"
) -> "tuple[pa.Table, int]":
    """The block's rows where some cell is not what it should be: such cells are missing."""
    import pyarrow as pa

    try:
        loose, skipped = _parsed(block, names, dict.fromkeys(strict, pa.string()) | texts)
    except pa.ArrowInvalid:
        types = strict | texts | {"timestamp": pa.float64()}
        return pa.table({name: pa.array([], kind) for name, kind in types.items()}), block.count(b"\n") + 1
    else:
        for name, kind in strict.items():
            column = _lenient(loose[name].to_pandas(), kind)
            if name == "timestamp":
                column = pa.array(column.cast("int64").to_numpy(zero_copy_only=False) / 1e6, from_pandas=True)
            loose = loose.set_column(loose.schema.get_field_index(name), name, column)
        return loose, skipped


def _lenient(column: "pd.Series[Any]", kind: "pa.DataType") -> "pa.Array":
    """The cells that are readable as that kind, the others missing."""
    import pyarrow as pa

    if kind == pa.timestamp("us"):
        times = pd.to_datetime(column.str.strip(), format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
        return pa.array(times.dt.floor("us"), kind, from_pandas=True)
    return pa.array(numbers(column).astype(np.float32), kind, from_pandas=True)


def _parsed(block: bytes, names: list[str], types: "dict[str, pa.DataType]") -> "tuple[pa.Table, int]":
    import pyarrow as pa
    from pyarrow import csv

    skipped: list[int] = []

    def skip(row: csv.InvalidRow) -> str:
        skipped.append(row.actual_columns)
        return "skip"

    bare = [m.encode().translate(PLAIN, unwanted).decode() for m in MISSING for unwanted in (UNITS, SPACED)]
    rows = csv.read_csv(
        pa.BufferReader(block or b"\n"),
        csv.ReadOptions(column_names=_distinct(names), block_size=2 * BLOCK, use_threads=False),
        csv.ParseOptions(invalid_row_handler=skip, quote_char=False),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=bare + [f" {m}" for m in bare], strings_can_be_null=True
        ),
    )
    return rows, len(skipped)


def _distinct(names: list[str]) -> list[str]:
    """The names with the second and later use of one numbered, as the parser wants them."""
    return [name if names.index(name) == i else f"{name}#{i}" for i, name in enumerate(names)]


def _ours(rows: "pa.Table", names: list[str]) -> pd.DataFrame:
    """The rows as a telemetry table."""
    columns: dict[str, Any] = {"time": rows["timestamp"].to_numpy()}
    for name in names:
        if name in COLUMNS and (ours := COLUMNS[name][0]) not in columns:
            columns[ours] = _scaled(rows[name], COLUMNS[name][1])
    for name in (n for n in names if n in MASKS):
        columns[THROTTLE] = _decoded(rows[name].to_pandas())
    label = next((n for n in NAMES if n in names), None)
    gpu = rows[label].to_pandas().map(str.strip, na_action="ignore") if label else "0"
    if PROCESSES in names and label:
        columns[OTHER] = other_memory(rows[PROCESSES].to_pandas().astype("string"), gpu)
    return table(columns, gpu)


def _scaled(column: "pa.ChunkedArray", scale: float) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """The numbers in our unit, in one new array and no second one: fresh memory costs more than the arithmetic."""
    values = column.to_numpy()
    if scale == 1.0:
        return np.asarray(values, np.float32)
    return np.asarray(np.multiply(values, np.float32(scale), out=values if values.flags.writeable else None), np.float32)


def _decoded(masks: "pd.Series[Any]") -> "pd.Series[Any]":
    """Hexadecimal bit masks as numbers."""
    value = {m: int(m.strip(" "), 16) if HEXADECIMAL.fullmatch(m.strip(" ")) else np.nan for m in masks.cat.categories}
    return masks.map(value).astype(np.float32)
