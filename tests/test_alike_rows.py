"""Cells of a table taken apart by numpy are what the table's text says, and rows that are not alike are left to slower readers."""

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rl_advisor.reading.formats import nvidia_smi, telemetry_parquet
from rl_advisor.reading.parsing import counters
from rl_advisor.reading.parsing.alike_rows import Cells, cells, line_blocks

NUMBERS = st.integers(0, 9_999_999).map(str) | st.tuples(st.integers(0, 9_999_999), st.integers(0, 99)).map(lambda p: f"{p[0]}.{p[1]:02d}")


def cut(text: str, width: int) -> Cells | None:
    """The cells of a text that fits into one block."""
    held, size = next(line_blocks(io.BytesIO(text.encode()), 1 << 16))
    return cells(held, size, width)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=50), st.sampled_from(["", " W", " MiB"]), st.sampled_from([",", ", "]))
def test_numbers_are_those_of_the_text(rows, unit, comma):
    """Whole and broken numbers of up to seven digits, with or without a unit, come out as Python reads them."""
    found = cut("".join(f"{a}{unit}{comma}{b}\n" for a, b in rows), 2)
    values, odd = found.numbers([0, 1])
    assert not odd.any()
    assert np.array_equal(values, np.array(rows, np.float64).T.astype(np.float32))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters=",\n\r\0"), max_size=30), min_size=1, max_size=40))
def test_texts_are_those_of_the_text(words):
    """Texts of any length are told apart, without the space around them."""
    codes, names = cut("".join(f"1, {word}\n" for word in words), 2).texts(1)
    assert [names[code] for code in codes] == [word.strip() for word in words]


@pytest.mark.parametrize("cell", ["", " W", "x W", "1e3 W", "-1 W", "123456789 W", "7", "7 GW", "7xW", "7.W.", "nan W", "1.5.2 W"])
def test_what_is_no_number_is_marked(cell):
    """A cell with no number, or a number that goes on otherwise than those of its column, is odd; its neighbours are not."""
    values, odd = cut(f"1 W\n{cell}\n2 W\n", 1).numbers([0])
    assert odd[0].tolist() == [False, True, False]
    assert values[0, [0, 2]].tolist() == [1, 2]


@pytest.mark.parametrize("text", ["1,2\n3\n", "1,2,3\n", "1\n2,3,4\n", "1,2\n3, 4\n", "\n"])
def test_rows_that_differ_are_left_alone(text):
    """Rows with other numbers of cells, or mixed spaces, give nothing."""
    assert cut(text, 2) is None


def test_blocks_hold_every_line_once():
    """Blocks of any size give back the bytes of the file, cut at line ends as far as lines fit."""
    text = b"".join(b"x" * (i * 7 % 50) + b"\n" for i in range(300)) + b"the rest"
    for size in (60, 64, 1000, 1 << 20):
        pieces = [bytes(held[:filled]) for held, filled in line_blocks(io.BytesIO(text), size)]
        assert b"".join(pieces) == text
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_fast_and_slow_rows_are_the_same(tmp_path, monkeypatch):
    """A log is the same whether its blocks are read by cells or, where one line is broken, cell by cell."""
    lines = [
        f"2026/11/20 23:{k // 600 % 60:02d}:{k // 10 % 60:02d}.{k % 10}00, GPU-{g:08x}-aaaa, {k % 101} %, "
        f"{70 + k * g % 600}.{k % 100:02d} W, {'[N/A]' if k % 50 == g else f'{k} MiB'}, 0x{k % 5:016x}"
        for k in range(2000)
        for g in range(3)
    ]
    names = "timestamp, uuid, utilization.gpu [%], power.draw [W], memory.used [MiB], clocks_event_reasons.active"
    path = tmp_path / "gpu.csv"
    path.write_text("\n".join([names, *lines, ""]))
    monkeypatch.setattr(nvidia_smi, "BLOCK", 10_000)
    fast = nvidia_smi.read(path)
    monkeypatch.setattr(nvidia_smi, "cells", lambda *_: None)
    slow = nvidia_smi.read(path)
    assert fast.gaps == slow.gaps == ()
    assert len(fast.telemetry) == len(lines)
    assert fast.telemetry.astype({"gpu": str}).equals(slow.telemetry.astype({"gpu": str}))


def test_rows_beyond_the_limit_are_told(tmp_path, monkeypatch):
    """Of a file with more rows than are held the first are read, and a gap says so, in text and in Parquet."""
    import pyarrow.parquet as pq

    for module in (counters, nvidia_smi, telemetry_parquet):
        monkeypatch.setattr(module, "ROW_LIMIT", 1000)
    monkeypatch.setattr(nvidia_smi, "BLOCK", 1 << 13)
    rows = [f"2026/11/20 {k // 3600:02d}:{k // 60 % 60:02d}:{k % 60:02d}.000, 0, {k % 100} %" for k in range(20_000)]
    (tmp_path / "gpu.csv").write_text("\n".join(["timestamp, index, utilization.gpu [%]", *rows, ""]))
    pq.write_table(pa.table({"time": np.arange(200_000.0), "gpu": ["0"] * 200_000, "power_w": np.ones(200_000)}), tmp_path / "gpu.parquet")
    for module, name, most in ((nvidia_smi, "gpu.csv", 2000), (telemetry_parquet, "gpu.parquet", 70_000)):
        run = module.read(tmp_path / name)
        assert 1000 < len(run.telemetry) < most
        assert ["1,000 rows" in gap.why for gap in run.gaps] == [True]
