"""Looking at an earlier step: nothing that was written later may change the answer."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rl_advisor import tools
from rl_advisor.api import assess
from rl_advisor.reading import read_run
from rl_advisor.run import Checkpoint, Curve, Event, Run

from cut_on_disk import cut_run


@pytest.mark.parametrize("step", [75, 155, 225])
def test_prefix_equals_the_run_cut_on_disk(example: Path, tmp_path: Path, step: int) -> None:
    """Assessing a prefix gives word for word what assessing the same run cut on disk gives."""
    on_disk = cut_run(example, step, tmp_path / example.name)
    expected, found = (assess(run).model_dump() for run in (read_run(on_disk), read_run(example).until(step)))
    assert expected == found


def test_curves_and_samples_of_a_prefix_too(example: Path, tmp_path: Path) -> None:
    """The other answers that take a step give for a prefix what they give for the run cut on disk."""
    on_disk = cut_run(example, 155, tmp_path / example.name)
    assert tools.summarize_curves(on_disk) == tools.summarize_curves(example, until=155)
    assert tools.spot_check_samples(on_disk) == tools.spot_check_samples(example, until=155)


def test_until_hides_everything_later() -> None:
    """Curves, samples, checkpoints, events and telemetry after the step are gone, and the names of curves that start later too."""
    steps = np.arange(1.0, 11.0)
    curves = {
        "a": Curve("a", "a", "f", steps, steps, time=1000 + steps),
        "later": Curve("later", "later", "f", steps[7:], steps[7:]),
    }
    run = Run(
        curves=curves,
        rollouts=pd.DataFrame({"step": [2, 9], "response": ["x", "y"]}),
        telemetry=pd.DataFrame({"time": [1001.0, 1004.5, 1009.0], "gpu": [0, 0, 0]}),
        checkpoints=(Checkpoint(4, "c4"), Checkpoint(8, "c8")),
        events=(Event("error", "late", "log", 9.0), Event("warning", "early", "log", 2.0), Event("error", "unknown when", "log")),
    )
    cut = run.until(5)
    assert {"a"} == set(cut.curves)
    assert cut.last_step == 5
    assert list(cut.rollouts["step"]) == [2]
    assert list(cut.telemetry["time"]) == [1001.0, 1004.5]
    assert tuple(c.path for c in cut.checkpoints) == ("c4",)
    assert [e.text for e in cut.events] == ["early"]


def test_telemetry_without_a_clock_is_left_out_and_said() -> None:
    """Where no file says when a step ended, telemetry cannot be cut, so none of it is shown."""
    steps = np.arange(1.0, 11.0)
    run = Run(curves={"a": Curve("a", "a", "f", steps, steps)}, telemetry=pd.DataFrame({"time": [1.0, 2.0], "gpu": [0, 0]}))
    cut = run.until(5)
    assert len(cut.telemetry) == 0
    assert any("telemetry" in gap.where for gap in cut.gaps)


def test_until_beyond_the_end_is_the_whole_run(example: Path) -> None:
    """A step after the last one changes nothing."""
    run = read_run(example)
    assert assess(run) == assess(run.until(10**9))
