"""Records the GPUs of this machine until it is stopped, as CSV in nvidia-smi's layout or as Parquet.

Rows are always written as CSV first and handed to the operating system twice a second, so that a killed recorder loses less than a
second. For Parquet that file is a journal beside the file asked for (``gpu.parquet.csv``), packed when it is full and when recording
ends; what a kill left behind is read as it is and goes on when recording does. Times are UTC. A full file is renamed with a number and a
new one begun; the oldest are removed.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import TextIO

from rl_advisor.gpu.nvml import Reading, Source

HEADER = (
    "timestamp, index, power.draw [W], power.draw.instant [W], energy [mJ], utilization.gpu [%], utilization.memory [%], "
    "memory.used [MiB], memory.total [MiB], temperature.gpu, clocks.current.sm [MHz], clocks_event_reasons.active, processes"
)
FLUSH_SECONDS = 0.5
MISSING = "[N/A]"
PACKED = (".parquet", ".pq")


@dataclass(frozen=True)
class Rotation:
    """When a file is full, in bytes of CSV, and how many full ones are kept."""

    largest: int = 32 << 20
    keep: int = 64


def row(moment: float, reading: Reading) -> str:
    """A reading as a line of the file."""
    stamp = datetime.fromtimestamp(moment, UTC).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    held = reading.processes
    cells = (
        *map(_cell, (reading.power_w, reading.instant_w, reading.energy_mj, reading.utilization, reading.memory_activity)),
        *map(_cell, (reading.used_mib, reading.total_mib, reading.temperature, reading.sm_clock)),
        MISSING if reading.throttle is None else f"0x{reading.throttle:016x}",
        MISSING if held is None else ";".join(f"{pid}:{mib}" for pid, mib in held) or "-",
    )
    return ", ".join((stamp, str(reading.index), *cells))


def _cell(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def record(source: Source, out: Path, *, every: float = 0.1, seconds: float = float("inf"), rotation: Rotation = Rotation()) -> int:
    """Write the source's readings to ``out`` every ``every`` seconds for so many ``seconds``; the number of rows comes back.

    Stops cleanly on an interrupt.
    """
    rows, handed, journal = 0, time.monotonic(), journal_of(out)
    file = _begun(journal)
    try:
        for tick in _ticks(time.monotonic(), every, seconds):
            moment = time.time()
            readings = source()
            file.writelines(row(moment, reading) + "\n" for reading in readings)
            rows += len(readings)
            if tick - handed >= FLUSH_SECONDS:
                file.flush()
                handed = tick
                if file.tell() >= rotation.largest:
                    file.close()
                    _finished(journal, out)
                    _rotated(out, rotation.keep)
                    file = _begun(journal)
    except KeyboardInterrupt:
        pass
    finally:
        file.close()
        if journal != out:
            _rotated(out, rotation.keep)
            _finished(journal, out)
    return rows


def journal_of(out: Path) -> Path:
    """The file that rows are written to before they are packed; ``out`` itself where nothing is."""
    return out.with_name(out.name + ".csv") if out.suffix in PACKED else out


def _ticks(begin: float, every: float, seconds: float) -> Iterator[float]:
    """Moments ``every`` seconds apart, waited for; one that was missed, or nearly, is skipped, not caught up."""
    count = 0
    while (now := time.monotonic()) - begin < seconds:
        yield now
        count = max(count + 1, ceil((time.monotonic() - begin) / every + 0.5))
        time.sleep(max(begin + count * every - time.monotonic(), 0))


def _begun(journal: Path) -> TextIO:
    """The file opened to append, with the header when it is new and a new line where a kill left half of one."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    old = journal.read_bytes()[-1:] if journal.exists() else b""
    file = journal.open("a", buffering=1 << 16, encoding="ascii")
    file.write("" if old == b"\n" else "\n" if old else HEADER + "\n")
    file.flush()
    return file


def _finished(journal: Path, out: Path) -> None:
    """Pack the journal into ``out`` and remove it; half-written files never carry the name."""
    if journal == out:
        return
    draft = out.with_name(f".{out.name}.draft")
    pack(journal, draft)
    draft.replace(out)
    journal.unlink()


def pack(journal: Path, out: Path) -> None:
    """A journal's rows as Parquet, under its names and as they were written; lines that are no row are left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    texts = csv.ConvertOptions(column_types=dict.fromkeys(HEADER.split(","), pa.dictionary(pa.int32(), pa.string())))
    table = csv.read_csv(journal, parse_options=csv.ParseOptions(invalid_row_handler=lambda _: "skip"), convert_options=texts)
    pq.write_table(table, out, compression="zstd")


def _rotated(out: Path, keep: int) -> None:
    """Move the full file out of the way and remove the oldest beyond ``keep``."""
    if not out.exists():
        return
    older = sorted(out.parent.glob(f"{out.stem}.[0-9][0-9][0-9][0-9][0-9]{out.suffix}"))
    number = int(older[-1].suffixes[-2][1:]) + 1 if older else 1
    out.rename(out.with_name(f"{out.stem}.{number:05d}{out.suffix}"))
    for path in older[: max(len(older) + 1 - keep, 0)]:
        path.unlink()
