"""Small files that cost much: each ends in an answer or a refusal within a minute of processor time and 1 GB, in a worker or outside."""

import gzip
import json
import sqlite3
import struct
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rl_advisor.reading import READER_FAILED, UnreadableRun, read_run
from rl_advisor.reading.formats import arrays, mlflow_sqlite
from rl_advisor.reading.parsing import sqlite_tables
from rl_advisor.reading.parsing.config.yaml_in import load_yaml
from rl_advisor.tools.workers import Limits, in_worker, isolated

LIMITS = Limits(cpu_s=60, memory=1 << 30, wall_s=600)
"""Each takes seconds at most; what grows faster than its file would take hours."""
VERL = "".join(f"step:{i} - actor/entropy:0.6 - critic/rewards/mean:{i}\n" for i in range(5))
RSL = "".join(f"Learning iteration {i}/9\nMean reward: {i}.5\nMean entropy loss: 0.{i}\n" for i in range(5))
DICT = "".join(f"{{'loss': 0.{i}, 'reward': 0.5, 'epoch': 0.{i}}}\n" for i in range(1, 6))
TABLE = "".join(f"| rollout/ | |\n| ep_rew_mean | {i} |\n| total_timesteps | {i} |\n{'-' * 30}\n" for i in range(5))
EPISODES = "".join(f"Episode {i}/9, Reward: {i}.5\n" for i in range(5))


def log(text):
    return lambda folder: (folder / "train.log").write_text(text)


def yaml_maps(folder):
    """Twelve names for the level below, nine levels deep, with leaves that are too long to keep."""
    leaves = ",".join("1" * 25)
    levels = "".join(f"a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(12))}}}\n" for i in range(1, 10))
    (folder / "config.yaml").write_text(f"a0: &a0 {{x: [{leaves}]}}\n{levels}")


def yaml_merges(folder):
    """Nine times the level below merged, ten levels deep."""
    merged = "".join(f"a{i}: &a{i}\n  <<: [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 11))
    (folder / "config.yaml").write_text(f"a0: &a0 {{x: 1}}\n{merged}")


def same_text(folder):
    """One text of a hundred thousand characters, twenty thousand times."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 100_000]))
    table = pa.table({"step": pa.array(np.ones(20_000, np.int64)), "completion": text, "reward": pa.array(np.zeros(20_000))})
    pq.write_table(table, folder / "completions_00001.parquet", compression="zstd", dictionary_pagesize_limit=8 << 20)


def named_rows(folder):
    """Metrics with a column in which one long text stands in every row."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int32)), pa.array(["x" * 50_000]))
    numbers = pa.array(np.arange(200_000.0))
    pq.write_table(pa.table({"step": numbers, "loss": numbers, "reward": numbers, "note": text}), folder / "metrics.parquet")


def constants(folder):
    """Three million rows of twenty constants."""
    same = pa.array(np.zeros(100_000))
    table = pa.table({"step": same} | {f"m{i}": same for i in range(20)})
    with pq.ParquetWriter(folder / "metrics.parquet", table.schema, compression="zstd") as out:
        for _ in range(32):
            out.write_table(table)


def leaf_again_and_again(folder):
    """A database in which the inner pages of a table name one leaf as all of their children."""
    path = folder / "mlflow.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan)")
        base.execute("CREATE TABLE params (key, value, run_uuid)")
        base.executemany("INSERT INTO metrics VALUES ('r', 0.5, 1, 'a', ?, 0)", [(i,) for i in range(3000)])
    base.close()
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    root = next(at for at in range(0, len(data), size) if data[at + (100 if not at else 0)] == 5)
    cells = struct.unpack(">H", data[root + 3 : root + 5])[0]
    child = data[root + struct.unpack(">H", data[root + 12 : root + 14])[0] :][:4]
    for n in range(cells):
        at = root + struct.unpack(">H", data[root + 12 + 2 * n : root + 14 + 2 * n])[0]
        data[at : at + 4] = child
    path.write_bytes(data)


def many_bytes(folder):
    """Three arrays of bytes that take eight times as much as numbers."""
    with zipfile.ZipFile(folder / "evaluations.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("timesteps", "results", "ep_lengths"):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(file, {"descr": "|i1", "fortran_order": False, "shape": (250 << 20,)})
                for _ in range(250):
                    file.write(bytes(1 << 20))


def many_objects(folder):
    (folder / "trainer_state.json").write_text('{"log_history": [' + "{}," * 20_000_000 + "{}]}")


def packed(name, rows, blank):
    def make(folder):
        with (folder / name).open("wb") as file:  # members one behind the other are one packed file
            file.write(gzip.compress(rows.encode()) + gzip.compress(b"\n" * (1 << 20)) * (blank >> 20))

    return make


BOMBS = {
    "verl, a long number": log(f"{VERL}step:6 - a:{'1' * 60_000}x\n"),
    "rsl_rl, a long number": log(f"{RSL}Mean x: {'1' * 60_000}x\n"),
    "dict, a long number": log(f"{DICT}{{'loss': {'1' * 60_000}x, 'reward': 1}}\n"),
    "lines, a thousand long numbers": log(f"{EPISODES}{('a' + '1' * 1990 + 'x' + chr(10)) * 1000}"),
    "lines, a thousand lines of words": log(f"{EPISODES}{('reward ' * 280 + chr(10)) * 1000}"),
    "table, a wide cell": log(f"{TABLE}|a{' ' * 300_000}b\n"),
    "a key that never ends": log(f"{DICT}RuntimeError: {'eyJ_' * 10_000}\n"),
    "YAML, maps of aliases": yaml_maps,
    "YAML, merged maps": yaml_merges,
    "YAML, deeper than the parser's stack": lambda f: (f / "config.yaml").write_text("a: " + "[" * 1_000_000),
    "parquet, one text": same_text,
    "parquet, one long name": named_rows,
    "parquet, constants": constants,
    "sqlite, one leaf": leaf_again_and_again,
    "npz, bytes": many_bytes,
    "JSON, empty objects": many_objects,
    "gzip, blank lines": packed(
        "metrics.jsonl.gz", "".join(json.dumps({"step": i, "loss": i, "reward": i}) + "\n" for i in range(5)), 1 << 28
    ),
    "gzip, blank lines in a log": packed("train.log.gz", VERL, 1 << 28),
    "blank lines": lambda f: (f / "train.log").write_text(VERL + "\n" * 50_000_000),
    "digits": lambda f: (f / "metrics.jsonl").write_text(f'{{"step": 1, "reward": {"1" * 500_000}}}\n' * 20),
    "JSON, deep in a line": lambda f: (f / "metrics.jsonl").write_text('{"step": 1, "a": ' + '{"a":' * 400_000),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_end_in_an_answer_or_a_refusal(tmp_path, bomb):
    """None of them meets a limit, and no reader fails on one."""
    BOMBS[bomb](tmp_path)
    try:
        said = str(in_worker(isolated.answer, {"verb": "load_run", "run": str(tmp_path)}, limits=LIMITS, raises=(isolated.Refused,)))
    except isolated.Refused as refused:
        said = str(refused)
    assert READER_FAILED not in said


@pytest.mark.parametrize("text", ["a: &a [*a, *a]", "a: &a {b: *a}", "[" * 200, "x: &x [1]\ny: [" + "*x, " * 60_000 + "]"])
def test_yaml_that_repeats_itself_is_refused(text):
    """References are counted with all that they stand for, also those to themselves."""
    with pytest.raises(ValueError, match="configuration"):
        load_yaml(text.encode())


def test_yaml_with_a_few_references_is_read():
    """Anchors and merges as people write them stay."""
    assert load_yaml(b"base: &b {lr: 1, n: 2}\nrun:\n  <<: *b\n  n: 3\n")["run"] == {"lr": 1, "n": 3}


def test_a_header_that_ends_early_is_a_gap(tmp_path):
    """An array whose header is cut once ended the reading with a ``TokenError``."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,"
    with zipfile.ZipFile(tmp_path / "evaluations.npz", "w") as archive:
        for name in ("timesteps", "results"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    assert "damaged" in arrays.read(tmp_path / "evaluations.npz").gaps[0].why


def test_empty_names_of_runs_are_no_traceback(tmp_path):
    """An ordinary table with some empty cells in its columns of runs is read."""
    rows = [((i % 2 and "a") or ("" if i % 7 == 0 else "b"), i % 2, i, i / 9) for i in range(60)]
    pd.DataFrame(rows, columns=["run", "seed", "step", "reward"]).to_csv(tmp_path / "progress.csv", index=False)
    run = read_run(tmp_path)
    assert run.curves
    assert not [g for g in run.gaps if READER_FAILED in g.why]


def test_a_reader_that_fails_costs_one_file(tmp_path, monkeypatch):
    """The other files of the run are read, and the gap names what happened."""
    monkeypatch.setattr(arrays, "read", lambda *_: 1 / 0)
    with zipfile.ZipFile(tmp_path / "evaluations.npz", "w") as archive:
        archive.writestr("x", b"x")
    with pytest.raises(UnreadableRun, match=f"{READER_FAILED} \\(ZeroDivisionError\\)"):
        read_run(tmp_path)


def logged_store(folder):
    """A store whose last rows still stand in its log, as a running server leaves it."""
    path = folder / "mlflow.db"
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA wal_autocheckpoint = 0")
    base.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan)")
    base.execute("CREATE TABLE params (key, value, run_uuid)")
    base.commit()
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for i in range(50):
        base.execute("INSERT INTO metrics VALUES ('reward', ?, 1, 'a', ?, 0)", (i / 50, i))
        base.commit()
    return path, base


def test_rows_of_a_write_ahead_log_are_read_and_nothing_is_made(tmp_path):
    """Reading a store that is being written leaves no file beside it, and sees all that was committed."""
    path, base = logged_store(tmp_path)
    (tmp_path / "mlflow.db-shm").unlink()
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    found = mlflow_sqlite.read(path)
    assert len(found.curves["reward"].value) == 50
    assert before == {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    base.close()


def test_a_damaged_write_ahead_log_counts_up_to_the_damage(tmp_path):
    """What was committed before a damaged frame is seen; a log that is none changes nothing."""
    path, base = logged_store(tmp_path)
    log_file = tmp_path / "mlflow.db-wal"
    data = bytearray(log_file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / "mlflow.db"
    copy.write_bytes(path.read_bytes())
    (tmp_path / "copy" / "mlflow.db-wal").write_bytes(data)
    assert 10 < len(list(sqlite_tables.rows(copy, "metrics", "step"))) < 45
    (tmp_path / "copy" / "mlflow.db-wal").write_bytes(b"no log at all" * 40)
    assert not list(sqlite_tables.rows(copy, "metrics", "step"))
    base.close()
