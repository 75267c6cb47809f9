"""A growing run is what it is when it is read at once, and files that did not change are not read again."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import read_run
from rl_advisor.reading.live import Follower
from rl_advisor.run import Run

GOLDEN = Path(__file__).parent / "data" / "golden"
SOURCES = {
    "metrics.jsonl": GOLDEN / "tinker_cookbook" / "rl_mismatch_driven" / "metrics.jsonl",
    "progress.csv": GOLDEN / "sb3" / "dqn_cartpole_diverging" / "progress.csv",
    "events.out.tfevents.1.host": next((GOLDEN / "sb3" / "ppo_pendulum_target_kl").rglob("events.out.tfevents.*")),
}
AREAL = GOLDEN.parent / "consoles" / "areal_stdout.log"


def same(a: Run, b: Run) -> bool:
    """Whether two runs have the same curves."""
    return a.curves.keys() == b.curves.keys() and all(
        np.array_equal(a.curves[n].step, b.curves[n].step) and np.array_equal(a.curves[n].value, b.curves[n].value, equal_nan=True)
        for n in a.curves
    )


@pytest.mark.parametrize("name", [*SOURCES, "areal.log"])
def test_growing_file_ends_as_the_whole_file(tmp_path: Path, name: str) -> None:
    """Cut anywhere and grown in pieces, a file gives what it gives at once."""
    data = SOURCES.get(name, AREAL).read_bytes()
    follower = Follower(tmp_path)
    for cut in np.linspace(len(data) // 3, len(data), 4).astype(int):
        (tmp_path / name).write_bytes(data[:cut])
        assert same(follower.read(), read_run(tmp_path))
    assert follower.read().curves


def test_nothing_new_costs_nothing(tmp_path: Path) -> None:
    """A second look at a run that did not grow decodes no byte and gives the same curves."""
    for name, source in list(SOURCES.items())[:1]:
        (tmp_path / name).write_bytes(source.read_bytes())
    follower = Follower(tmp_path)
    first = follower.read()
    assert same(first, follower.read())
    assert follower.decoded == 0


def test_half_written_line_waits(tmp_path: Path) -> None:
    """A row without its end is no point until the rest has come, and no gap from then on."""
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "reward": 1.0}\n{"step": 2, "reward": 2.0}\n{"step": 3, "rew')
    follower = Follower(tmp_path)
    assert follower.read().last_step == 2
    with path.open("a") as file:
        file.write('ard": 3.0}\n')
    run = follower.read()
    assert (run.last_step, [g for g in run.gaps if "metrics" in g.where]) == (3, [])


def test_file_written_anew_is_read_anew(tmp_path: Path) -> None:
    """A log that starts again under the same name replaces what was read before."""
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "reward": 1.0}\n{"step": 2, "reward": 2.0}\n')
    follower = Follower(tmp_path)
    follower.read()
    path.write_text('{"step": 7, "reward": 5.0}\n{"step": 8, "reward": 6.0}\n{"step": 9, "reward": 6.0}\n')
    assert follower.read().first_step == 7


def test_new_file_is_seen(tmp_path: Path) -> None:
    """A file that appears between two looks is read, the old one is not read again."""
    (tmp_path / "metrics.jsonl").write_bytes(SOURCES["metrics.jsonl"].read_bytes())
    follower = Follower(tmp_path)
    follower.read()
    (tmp_path / "extra.csv").write_text("step,loss_scale\n1,2\n2,3\n")
    assert "loss_scale" in follower.read().curves
    assert follower.decoded == len("step,loss_scale\n1,2\n2,3\n")


@pytest.mark.parametrize(
    "rows",
    [
        [f'{{"reward": {i}.5, "loss": 0.{i}}}' for i in range(1, 9)],
        ["run,step,reward", *(f"{run},{i},{i}.5" for i in range(1, 9) for run in "ab"), *(f"b,{i},7" for i in range(9, 15))],
    ],
    ids=["rows without steps", "two runs in a table"],
)
def test_what_a_piece_alone_does_not_tell_is_read_anew(tmp_path: Path, rows: list[str]) -> None:
    """The number of a row, and which run of several is the largest, are known only to who sees the whole file."""
    path = tmp_path / ("log.csv" if rows[0].startswith("run") else "log.jsonl")
    follower = Follower(tmp_path)
    for end in range(5, len(rows) + 1, 3):
        path.write_text("\n".join(rows[:end]) + "\n")
        run = follower.read()
        assert same(run, read_run(tmp_path))
