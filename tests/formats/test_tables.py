"""Tables as spreadsheets, locales, restarts and torn disks leave them: read where it is sure what they say, and said where it is not."""

import gzip
import zlib

import numpy as np
import pytest
from rl_advisor.answers.inventory import inventory
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.parsing.bytes_in import byte_lines, torn_said

HEADER = "time/total_timesteps,rollout/ep_rew_mean,train/entropy_loss"
ROWS = [(1_000 * i, 10.5 * i, -0.7 + 0.01 * i) for i in range(1, 13)]
PLAIN = "\n".join([HEADER, *(",".join(map(str, row)) for row in ROWS)]) + "\n"


def whys(run):
    return " | ".join(f"{gap.where}: {gap.why}" for gap in run.gaps)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("progress.csv", PLAIN.replace(",", ";").encode()),
        ("progress.csv", PLAIN.replace(",", "\t").encode()),
        ("progress.tsv", PLAIN.replace(",", "\t").encode()),
        ("progress.csv", PLAIN.replace(",", ";").replace(".", ",").encode()),
        ("progress.csv", PLAIN.replace("\n", "\r\n").encode()),
        ("progress.csv", PLAIN.replace("\n", "\r").encode()),
        ("progress.csv", b"\xef\xbb\xbf" + PLAIN.encode()),
        ("progress.csv", PLAIN.encode("utf-16")),
        ("progress.csv", PLAIN.replace(",", ", ").encode()),
        ("progress.csv", ("# a run, with comments\n# lr=0.1, seed=3\n" + PLAIN).encode()),
        ("progress.csv", PLAIN.replace("\n7000,", f"\n{HEADER}\n7000,").encode()),
        ("progress.csv.gz", gzip.compress(PLAIN.encode())),
        ("fortschritt_übung_强化.csv", PLAIN.encode()),
    ],
    ids=[
        "semicolons",
        "tabs",
        "tsv",
        "decimal commas",
        "CRLF",
        "CR",
        "mark",
        "UTF-16",
        "spaces",
        "comments",
        "header again",
        "gzip",
        "name",
    ],
)
def test_the_same_table_in_other_clothes(tmp_path, name, content):
    """The same numbers, whatever stands between them, how lines end, how the text is encoded, and where the header is repeated."""
    (tmp_path / name).write_bytes(content)
    run = read_run(tmp_path)
    assert run.frameworks == ("sb3",)
    assert list(run.curves["reward/mean"].step) == [row[0] for row in ROWS]
    assert run.curves["reward/mean"].value == pytest.approx([row[1] for row in ROWS])
    assert run.curves["entropy/mean"].value == pytest.approx([-row[2] for row in ROWS])
    assert not run.gaps


def test_columns_that_join_later_are_read_from_there(tmp_path):
    """A second header with one more column: the rows below it have that, too, and no number moves to another name."""
    head, tail = PLAIN.splitlines()[:6], PLAIN.splitlines()[6:]
    (tmp_path / "progress.csv").write_text("\n".join([*head, HEADER + ",time/fps", *(row + ",50" for row in tail)]) + "\n")
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value == pytest.approx([row[1] for row in ROWS])
    assert list(run.curves["throughput/env_steps"].step) == [row[0] for row in ROWS[5:]]


def test_rows_wider_than_the_header_are_left_out_and_said(tmp_path):
    """Nobody knows which name the new cell belongs to."""
    head, tail = PLAIN.splitlines()[:6], PLAIN.splitlines()[6:]
    (tmp_path / "progress.csv").write_text("\n".join([*head, *(row + ",0.5" for row in tail)]) + "\n")
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.size == 5
    assert "7 lines have more cells than the header has names" in whys(run)


@pytest.mark.parametrize(
    ("header", "cells", "name", "values"),
    [
        ("step,reward,loss", ['"1,000",0.5,1', '"2,000",0.6,2'], "reward/mean", [0.5, 0.6]),
        ("step,reward,success_rate", ["1,0.5,10%", "2,0.6,20 %"], "reward/success", [0.1, 0.2]),
        ("step,reward,loss", ["1,tensor(0.5),1", "2,\"tensor(0.6, device='cuda:0')\",2"], "reward/mean", [0.5, 0.6]),
        ("step,reward,loss", ["1,[23.],1", "2,[24.],2"], "reward/mean", [23.0, 24.0]),
        ("step,reward,loss", ["1,np.float64(0.5),1", "2,np.float64(0.6),2"], "reward/mean", [0.5, 0.6]),
        ("step,metric,value", ["1,reward,0.5", "1,loss,3", "2,reward,0.6", "2,loss,2"] * 1, "reward/mean", [0.5, 0.6]),
    ],
    ids=["thousands", "percent", "tensor", "array", "numpy", "a row for each number"],
)
def test_numbers_in_other_clothes(tmp_path, header, cells, name, values):
    """Numbers as they are printed with their type, in groups, as shares, or one a row."""
    (tmp_path / "log.csv").write_text("\n".join([header, *cells]) + "\n")
    curve = read_run(tmp_path).curves[name]
    assert list(curve.value) == pytest.approx(values)


def test_two_writers_leave_sure_rows_only(tmp_path):
    """A second process began the file anew while the first went on: empty bytes, ends of lines, columns in another order."""
    head, tail = PLAIN.splitlines()[:6], PLAIN.splitlines()[6:]
    torn = "\0" * 200 + "\n0.01,9000,0.3\n" + "3\r.5,8,1\n"
    (tmp_path / "progress.csv").write_bytes(("\n".join(head) + "\n" + torn + "\n".join(tail) + "\n").encode())
    run = read_run(tmp_path)
    steps = run.curves["reward/mean"].step
    assert set(steps) - {3.0} == {row[0] for row in ROWS}
    assert 0.01 not in steps
    assert "no whole number of steps" in whys(run)


@pytest.mark.parametrize(
    "content", [b'a,"b\n1,2\n', b'"' * 5_000, b"step,reward\r1,2\r\n3\r\r4", b"step\0,reward\n1,2\n\0\0\0", b",\n,\n,", b"\n\n\n", b"#\n#"]
)
def test_broken_tables_are_an_answer(tmp_path, content):
    """Quotes without an end, stray ends of lines, empty bytes: read or not, but never a crash."""
    (tmp_path / "log.csv").write_bytes(content)
    try:
        said = inventory(read_run(tmp_path))["files"]
    except UnreadableRun as error:
        said = str(error)
    assert "csv" in str(said)


@pytest.mark.parametrize("cell", ["2024-01-01", "1.2.3", "seed 3", "(1, 2)", "10.0.0.1", "0x1f"])
def test_text_is_no_number(tmp_path, cell):
    """Dates, versions, addresses and pairs stay text."""
    (tmp_path / "log.csv").write_text("step,reward,odd\n" + "".join(f'{i},{0.1 * i},"{cell}"\n' for i in range(1, 5)))
    assert set(read_run(tmp_path).curves) == {"reward/mean"}


def test_a_row_of_a_table_of_names_is_no_metric(tmp_path):
    """Names that hardly repeat are no metrics of a long table."""
    (tmp_path / "log.csv").write_text("step,name,value,reward\n" + "".join(f"{i},player{i},{i},{0.1 * i}\n" for i in range(1, 200)))
    assert set(read_run(tmp_path).curves) == {"reward/mean", "value"}


@pytest.mark.parametrize("name", ["progress.csv.gz", "metrics.jsonl.gz"])
def test_a_torn_packed_file_gives_what_stands_before(tmp_path, name):
    """Half of a packed file: its first rows, and a gap that says so."""
    rng = np.random.default_rng(0)
    numbers = [(i, *rng.normal(size=2)) for i in range(1, 4_001)]
    if name.startswith("progress"):
        text = "\n".join([HEADER, *(",".join(map(str, row)) for row in numbers)]) + "\n"
    else:
        text = "".join(f'{{"step": {i}, "critic/score/mean": {a}, "actor/ppo_kl": {b}}}\n' for i, a, b in numbers)
    packed = gzip.compress(text.encode())
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    run = read_run(tmp_path)
    reward = run.curves["reward/mean"]
    assert 1_000 < reward.step.size < 3_000
    assert reward.value == pytest.approx([row[1] for row in numbers[: reward.step.size]])
    assert "ends too early or is damaged" in whys(run)


def test_a_damaged_packed_file_is_no_crash(tmp_path):
    """Bytes that are no deflate stream: an answer, which names the file."""
    packed = bytearray(gzip.compress(b'{"step": 1, "critic/score/mean": 0.5}\n' * 2_000))
    packed[10:14] = b"\xff\xff\xff\xff"
    (tmp_path / "metrics.jsonl.gz").write_bytes(packed)
    with torn_said() as torn, pytest.raises(zlib.error):
        zlib.decompress(packed, 31)
    with pytest.raises(UnreadableRun, match=r"metrics\.jsonl\.gz"):
        read_run(tmp_path)
    with torn_said() as torn:
        assert list(byte_lines(tmp_path / "metrics.jsonl.gz")) == []
    assert torn == {tmp_path / "metrics.jsonl.gz"}


def test_a_speed_that_is_no_number_yet_is_no_numerical_fault(tmp_path):
    """Sample Factory prints its speed as nan before the first frames; a loss that is nan is another matter."""
    lines = "Fps is (10 sec: nan, 60 sec: nan, 300 sec: nan). Total num frames: 0\nthe loss is nan\n"
    (tmp_path / "train.log").write_text(lines)
    assert [e.text for e in read_run(tmp_path).events] == ["the loss is nan"]
