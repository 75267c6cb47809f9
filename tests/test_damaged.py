"""Damaged and odd files: a plain word about each, and everything readable beside them is kept."""

import gzip
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rl_advisor.reading import UnreadableRun, read_run

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
RUN = Path(__file__).parent / "data" / "golden" / "tinker_cookbook" / "rl_mismatch_driven"


@pytest.mark.parametrize("name", ["events.out.tfevents.1.host", "trainer_state.json", "completions_00001.parquet", "metrics.jsonl"])
def test_git_lfs_pointer_is_named(tmp_path: Path, name: str) -> None:
    """A pointer in place of any file is called one, with the command that fetches the file."""
    (tmp_path / name).write_bytes(POINTER)
    with pytest.raises(UnreadableRun, match="git lfs pull"):
        read_run(tmp_path)


@pytest.mark.parametrize("damage", ["empty", "cut", "magic", "noise"])
def test_damaged_parquet_is_a_gap(tmp_path: Path, damage: str) -> None:
    """Of two files of completions the damaged one is a gap, the other is read."""
    good, bad = tmp_path / "completions_00001.parquet", tmp_path / "completions_00002.parquet"
    rows = {"step": [1] * 64, "prompt": ["p"] * 64, "completion": [f"answer {i}" for i in range(64)], "advantage": [0.0] * 64}
    pq.write_table(pa.table({**rows, "reward": [1.0] * 64}), good)
    whole = good.read_bytes()
    noisy = whole[:4] + b"\xff" * 300 + whole[304:]
    bad.write_bytes({"empty": b"", "cut": whole[:-100], "magic": b"PAR1", "noise": noisy}[damage])
    run = read_run(tmp_path)
    assert len(run.rollouts) == 64
    assert [g.where for g in run.gaps if "completions_00002" in g.where] == [bad.name]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_encodings_of_windows_shells_are_read(tmp_path: Path, encoding: str) -> None:
    """Metrics written by a shell's redirection in UTF-16, or with a byte order mark, are the metrics."""
    text = (RUN / "metrics.jsonl").read_text()
    (tmp_path / "metrics.jsonl").write_text(text, encoding=encoding)
    plain = read_run(RUN / "metrics.jsonl")
    run = read_run(tmp_path)
    assert run.gaps == plain.gaps
    assert {n: c.value.tolist() for n, c in run.curves.items()} == {n: c.value.tolist() for n, c in plain.curves.items()}


def test_cut_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    """A packed log that ends too early gives the rows before its end."""
    packed = gzip.compress((RUN / "metrics.jsonl").read_bytes())
    (tmp_path / "metrics.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    assert 2 <= read_run(tmp_path).last_step < 29


def test_sparse_file_is_not_read(tmp_path: Path) -> None:
    """Ten gigabytes of hole cost nothing and are said."""
    shutil.copy(RUN / "metrics.jsonl", tmp_path)
    with (tmp_path / "train.log").open("wb") as file:
        file.truncate(10 << 30)
    run = read_run(tmp_path)
    assert run.last_step == 29
    assert [g.where for g in run.gaps] == ["train.log"]


def test_a_metric_without_a_name_is_read(tmp_path):
    """An empty tag of an event file, as damage leaves it, is a name like another."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    with (tmp_path / "events.out.tfevents.1.x").open("wb") as file:
        writer = RecordWriter(file)
        for i in range(60):
            values = [
                Summary.Value(tag="", simple_value=i / 60 + i % 5 / 20),
                Summary.Value(tag="x_loss", simple_value=1 - i / 90 + i % 4 / 20),
            ]
            writer.write(Event(wall_time=2.0 + i, step=i, summary=Summary(value=values)).SerializeToString())
        writer.flush()
    assert {curve.raw for curve in read_run(tmp_path).curves.values()} == {"", "x_loss"}
