"""Twice as many names, columns, records or files cost about twice the processor time, and never four times."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import read_run, run_folder
from rl_advisor.reading.joining import chained
from rl_advisor.reading.parsing.slot_names import slots
from rl_advisor.reading.parsing.starts import starts
from rl_advisor.run import Curve, Run

SPARE_S = 0.2
"""Processor time that does not count: loading, and what other work does to the caches."""


def columns(folder, n):
    head, row = ",".join(f"m{i}" for i in range(n)), ",".join("1" for _ in range(n))
    (folder / "progress.csv").write_text(f"step,{head}\n" + "".join(f"{s},{row}\n" for s in range(5)))


def names(folder, n):
    (folder / "metrics.jsonl").write_text("".join(json.dumps({"step": s} | {f"m{i}": s + 0.5 for i in range(n)}) + "\n" for s in range(5)))


def files(folder, n):
    for i in range(n // 10):
        (folder / f"m{i}.jsonl").write_text('{"step": 1, "reward": 1}\n{"step": 2, "reward": 2}\n')


def records(folder, n):
    (folder / "metrics.jsonl").write_text("".join(f'{{"step": {s}, "reward": {s % 7}}}\n' for s in range(20 * n)))


def samples(folder, n):
    rows = ({"step": s // 8, "prompt": f"p {s % 8}", "completion": f"{s} is " * 9, "reward": s % 2} for s in range(2 * n))
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def spent(work):
    """Seconds of processor, the least of three: what else runs here only ever adds."""
    took = []
    for _ in range(3):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


@pytest.mark.parametrize("kind", [columns, names, files, records, samples])
def test_twice_as_much_costs_twice(tmp_path, kind):
    """What is quadratic takes four times as long; a tiny one is read before, so that what is loaded once is loaded."""
    for n in (10, 700, 1_400):
        (tmp_path / str(n)).mkdir()
        kind(tmp_path / str(n), n)
    read_run(tmp_path / "10")
    small, large = (spent(lambda n=n: read_run(tmp_path / n)) for n in ("700", "1400"))
    assert large < 3 * small + SPARE_S


def test_a_line_of_spaces_costs_its_length():
    """The word before a bracket is looked for from the bracket, not from every place before it."""
    short, long = (spent(lambda n=n: slots(["a" * 40 + " " * n + "b" + " " * n + ", mean: 1.5"] * 20)) for n in (200, 400))
    assert long < 4 * short + SPARE_S


def test_a_count_that_goes_back_again_and_again_costs_its_length():
    """Lengths of episodes are called steps, too: every row in which they are less than in the last may be a start."""
    short, long = (spent(lambda n=n: starts(np.arange(n) % 7.0)) for n in (200_000, 400_000))
    assert long < 3 * short + SPARE_S


def test_parts_without_a_clock_are_compared_with_none():
    """None of many files can follow another in time where none says when it was written."""
    part = Run(curves={"loss": Curve("loss", "loss", "", np.arange(3.0), np.arange(3.0))}, formats=("metrics_csv",))
    short, long = (spent(lambda n=n: chained([part] * n)) for n in (1_000, 2_000))
    assert long < 3 * short + SPARE_S


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        ([f"{i}.jsonl" for i in range(1, 10)], ["1.jsonl", "3.jsonl", "5.jsonl", "7.jsonl", "9.jsonl"]),
        ([f"{i}.jsonl" for i in range(1, 6)], ["1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl", "5.jsonl"]),
        ([*(f"{i}.csv" for i in range(9)), "m.jsonl"], ["0.csv", "2.csv", "5.csv", "8.csv", "m.jsonl"]),
        ([*(f"a/{i}.csv" for i in range(9)), "b/m.csv", "m.jsonl"], ["a/0.csv", "a/4.csv", "a/8.csv", "b/m.csv", "m.jsonl"]),
        ([f"{i}/m.csv" for i in range(9)], ["0/m.csv", "2/m.csv", "4/m.csv", "6/m.csv", "8/m.csv"]),
        ([f"m.{i}" for i in range(9)], ["m.0", "m.2", "m.4", "m.6", "m.8"]),
    ],
)
def test_of_very_many_files_those_at_equal_distances_are_read(monkeypatch, names, kept):
    """Whatever they are called and wherever they lie; what there is little of is read whole, and the gap says how many there are."""
    monkeypatch.setattr(run_folder, "MOST_FILES", 5)
    found, gaps = run_folder.thinned([Path(name) for name in names])
    assert [path.as_posix() for path in found] == kept
    assert [f"{len(names)} files" in gap.why and "5 at equal distances" in gap.why for gap in gaps] == [True] * (len(names) > 5)
