"""Files that say little with many bytes, or much with few: each reader's own bound, with a sound neighbour that is read."""

import gzip
import json
import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rl_advisor.reading import format_of, part_of
from rl_advisor.reading.formats import mlflow_sqlite
from rl_advisor.reading.measurable import measurable
from rl_advisor.reading.parsing import parquet_in, sqlite_tables, unpacked
from rl_advisor.reading.parsing.request import Request

HOLLOW = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0" + b"\0" * 8


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        (gzip.compress(b"ab") + gzip.compress(b"cd"), b"abcd"),
        (gzip.compress(b"ab") + b"\0" * 50_000 + gzip.compress(b"cd") + b"\0" * 50_000, b"abcd"),
        (HOLLOW * 50 + gzip.compress(b"ab"), b"ab"),
        (b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * 300_000 + b"\0" + gzip.compress(b"ab")[10:], b"ab"),
        (HOLLOW * 200, OSError),
        (gzip.compress(b"ab") + b"no member", zlib.error),
        (gzip.compress(b"ab")[:-3], EOFError),
        (gzip.compress(b"a" * (1 << 20)), OSError),
    ],
    ids=["two members", "padded", "empty ones first", "a long name", "empty ones alone", "something behind", "torn", "too much"],
)
def test_members_of_gzip_are_counted(tmp_path, monkeypatch, packed, said):
    """Members and zeros between them are as ``gzip`` reads them, until there are too many, or too much comes out."""
    monkeypatch.setattr(unpacked, "MOST_MEMBERS", 100)
    monkeypatch.setattr(unpacked, "_PACKED_FROM", 1 << 10)
    (tmp_path / "x.gz").write_bytes(packed)
    with unpacked.unzipped(tmp_path / "x.gz") as file:
        if isinstance(said, bytes):
            assert file.read() == said
        else:
            with pytest.raises(said):
                file.read()


METRICS = "metrics (key, value, timestamp, run_uuid, step, is_nan)"
VIEW = "CREATE VIEW v AS SELECT 1 AS rowid, 'reward' AS key, 1 AS value, 1 AS timestamp, 'a' AS run_uuid, 1 AS step, 0 AS is_nan"


@pytest.mark.parametrize(
    ("written", "claimed"),
    [
        ((f"CREATE TABLE {METRICS}",), True),
        ((f"CREATE TABLE {METRICS}", "CREATE TRIGGER t AFTER INSERT ON metrics BEGIN DELETE FROM params; END"), True),
        ((VIEW.replace("VIEW v", "VIEW metrics"),), False),
        ((VIEW, f"CREATE VIRTUAL TABLE {METRICS.replace('metrics', 'metrics USING fts5')[:-1]}, content='v')"), False),
        ((f"CREATE TABLE {METRICS.replace('value', 'value AS (hex(zeroblob(9)))')}",), False),
    ],
)
def test_only_plain_tables_of_a_database_are_read(tmp_path, written, claimed):
    """A view, a virtual table and a computed column would run what the file brings."""
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE params (key, value, run_uuid)")
        for order in written:
            base.execute(order)
        base.commit()
    assert (format_of(path) is mlflow_sqlite) == claimed


def test_rows_that_share_their_bytes_are_damage(tmp_path):
    """Rows are no longer than their file: an inner page that names one leaf again and again ends there."""
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA page_size = 4096")
        base.execute("CREATE TABLE t (a, b)")
        base.executemany("INSERT INTO t VALUES (?, ?)", [("x" * 100, i) for i in range(30)])
        base.commit()
    assert len(list(sqlite_tables.rows(path, "t", "a", "b"))) == 30
    data, many = bytearray(path.read_bytes()), 400
    cells = [struct.pack(">IBB", 3, 0x80 | i >> 7, i & 0x7F) for i in range(many)]
    ends = [4096 - 6 * (i + 1) for i in range(many)]
    inner = struct.pack(f">BHHHBI{many}H", 5, 0, many, ends[-1], 0, 3, *ends)
    page = bytearray(inner.ljust(4096, b"\0"))
    for at, cell in zip(ends, cells, strict=True):
        page[at : at + 6] = cell
    path.write_bytes(data[:28] + struct.pack(">I", 3) + data[32:4096] + page + data[4096:8192])
    with pytest.raises(OSError, match="longer than the file"):
        list(sqlite_tables.rows(path, "t", "a", "b"))


@pytest.mark.parametrize(
    ("start", "length", "columns"),
    [
        ("15 02 19 4c 35", 500, 4),
        ("15 02 19 fc ac 02", 5_000, 300),
        ("15 80 80 01 19 4c", 5_000, 4),
        ("19 4c 15 02", 5_000, 500),
        ("15 02 19 fc ff ff", 5_000, 500),
        ("", 70, 7),
    ],
)
def test_columns_are_counted_before_the_footer_is_taken_apart(start, length, columns):
    """As writers begin it, or else as many as there is room for."""
    assert parquet_in._columns(bytes.fromhex(start).ljust(length, b"\xff")) == columns


def test_a_header_of_too_many_columns_stays_closed(tmp_path, monkeypatch):
    """One column more than may be, and the file is not opened."""
    monkeypatch.setattr(parquet_in, "MOST_COLUMNS", 4)
    for count, most in ((3, True), (4, False)):
        path = tmp_path / f"{count}.parquet"
        pq.write_table(pa.table({f"c{i}": [1.0] for i in range(count)}), path)
        if most:
            assert len(parquet_in.described(path).schema) == count
        else:
            with pytest.raises(OSError, match="columns"):
                parquet_in.described(path)


SAME = "x" * 1000
NESTED = {
    "texts": pa.array([SAME] * 100),
    "lists of texts": pa.array([[SAME] * 10] * 10),
    "chats": pa.array([[{"role": "user", "content": SAME}] * 10] * 10),
    "maps": pa.array([[("a", SAME)] * 10] * 10, pa.map_(pa.string(), pa.string())),
    "lists of numbers": pa.array([[0] * 7_000], pa.list_(pa.int8())),
}


@pytest.mark.parametrize("kind", NESTED)
def test_what_columns_hold_is_counted_as_often_as_it_stands_there(tmp_path, monkeypatch, kind):
    """Texts that repeat, those in chats too, and the members of lists."""
    pq.write_table(pa.table({"a": NESTED[kind]}), tmp_path / "x.parquet")
    column = parquet_in.whole(tmp_path / "x.parquet")["a"]
    assert parquet_in.cells(column) == NESTED[kind].to_pylist()
    monkeypatch.setattr(parquet_in, "LONGEST_TEXTS", 99_000)
    with pytest.raises(OverflowError):
        parquet_in.cells(column)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (lambda wide: json.dumps({f"k{i}": [i, 2.5, 3] for i in range(wide)}), "the first 10,000 were read"),
        (lambda wide: json.dumps({f"k{i}": {"steps": [1, 2, 3], "values": [i, 0.5, 2]} for i in range(wide)}), "beyond the first 10,000"),
    ],
)
def test_a_document_of_more_columns_than_a_run_has_is_bounded(tmp_path: Path, text, kept: str) -> None:
    """Ten thousand are read, in the time that each takes and not in its square, and a gap says that there are more; fewer have no gap."""
    path = tmp_path / "metrics.json"
    path.write_text(text(10_050))
    part = measurable(part_of(path, Request(last_resort=True)))
    assert len(part.curves) in (9_999, 10_000)
    assert any(kept in gap.why for gap in part.gaps)
    path.write_text(text(50))
    assert not measurable(part_of(path, Request(last_resort=True))).gaps
