"""Texts of Parquet that are held once each, and what a damaged file says of them and of its sizes."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rl_advisor.reading.parsing import parquet_in
from rl_advisor.reading.parsing.compact import message
from rl_advisor.reading.parsing.wire import BadRecordError


@pytest.mark.parametrize("index", [2, -1])
def test_texts_that_are_not_there_are_damage(index: int) -> None:
    """An index outside the dictionary once ended the reader, or took a text from its end."""
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, index], pa.int32()), pa.array(["a", "b"]), safe=False)
    with pytest.raises(OSError, match="Parquet"):
        parquet_in.cells(pa.chunked_array([damaged]))


def test_sound_texts_are_read() -> None:
    """Missing cells stay missing."""
    sound = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int32()), pa.array(["a", "b"]))
    assert parquet_in.cells(pa.chunked_array([sound])) == ["a", None, "b"]


TABLE = pa.table(
    {
        "step": list(range(200)),
        "reward": [None if i % 9 == 0 else i / 8 for i in range(200)],
        "text": ["a" * (i % 7) for i in range(200)],
        "tokens": [[1] * (i % 5) for i in range(200)],
        "turn": [{"role": "user", "done": True} for _ in range(200)],
    }
)


def test_values_are_counted_as_the_library_counts_them(tmp_path: Path) -> None:
    """In every column, nested ones too, over several row groups."""
    file = tmp_path / "a.parquet"
    pq.write_table(TABLE, file, row_group_size=60)
    meta = pq.ParquetFile(file).metadata
    groups = [meta.row_group(g) for g in range(meta.num_row_groups)]
    assert len(groups) == 4
    assert parquet_in._counts(file) == [sum(g.column(i).num_values for g in groups) for i in range(meta.num_columns)]


DAMAGE = """
import random, sys
from pathlib import Path
from rl_advisor.reading.parsing import parquet_in
good, bad, told = Path(sys.argv[1]), Path(sys.argv[1]).with_name("bad.parquet"), 0
raw, dice = good.read_bytes(), random.Random(1)
foot = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
for _ in range(1500):
    data = bytearray(raw)
    for _ in range(dice.choice([1, 1, 2, 3])):
        data[dice.randrange(foot, len(raw) - 8)] = dice.randrange(256)
    bad.write_bytes(data)
    try:
        table = parquet_in.whole(bad)
        for column in table.columns:
            parquet_in.cells(column)
    except (OSError, OverflowError):
        told += 1
print(told)
"""


def test_a_damaged_footer_is_damage(tmp_path: Path) -> None:
    """The library once ended the process where a footer's counts do not suit each other."""
    file = tmp_path / "a.parquet"
    pq.write_table(TABLE.select(["step", "reward", "text", "tokens"]), file, row_group_size=60)
    done = subprocess.run([sys.executable, "-c", DAMAGE, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]
    assert 300 < int(done.stdout) < 1500


@pytest.mark.parametrize(
    "data", [b"", b"\x1c" * 40, b"\x15", b"\x19\xff\xff\xff\xff\x0f", b"\x18\x7f", b"\x1d", b"\x19"], ids=lambda b: b.hex() or "nothing"
)
def test_what_is_no_message_is_said(data: bytes) -> None:
    """A message without end, too deep, longer than its bytes, of an unknown kind."""
    with pytest.raises(BadRecordError):
        message(data)
