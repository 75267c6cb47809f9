"""Whole runs of real frameworks against what a person expects: framework, axis, and the raw name and values of each metric."""

from pathlib import Path

import pytest
from benchmarks.coverage import checked, disagreements, expected, summary
from benchmarks.plain_reading import plain_reading
from rl_advisor.reading import read_run

RUNS = sorted((Path(__file__).parent / "data" / "golden").glob("*/*"))


@pytest.mark.parametrize("path", RUNS, ids=lambda p: ".".join(p.parts[-2:]))
def test_run_is_read_as_its_golden_file_says(path: Path) -> None:
    """Framework, files, steps, names, values, counts and gaps are those that were checked, and every number is in a plain reading, too."""
    got, said, _ = checked(path)
    assert got == expected()[f"logs/{'/'.join(path.parts[-2:])}"]
    assert said == []


def test_there_are_runs() -> None:
    """The copies lie where they are looked for, and every framework with a golden file is named right in it."""
    assert len(RUNS) >= 7
    named = {run: golden.get("frameworks") for run, golden in expected().items()}
    assert len(named) == 188
    for run, frameworks in named.items():
        framework = run.split("/")[1].removesuffix("-data").removesuffix("-zoo")
        if run.startswith("logs/") or framework in ("verl", "sb3", "rllib"):
            assert frameworks == ["trl" if framework == "trackers" else framework], run


def test_the_plain_reading_sees_a_wrong_number(tmp_path) -> None:
    """A value, a step or a name that differs between what is read and the files is said: the comparison can fail."""
    path = tmp_path / "progress.csv"
    path.write_text("time/total_timesteps,rollout/ep_rew_mean,train/entropy_loss\n10,1.5,-0.5\n20,2.5,-0.4\n")
    run = read_run(tmp_path)
    assert disagreements(run, plain_reading(tmp_path)) == []
    for before, after in (("2.5", "2.6"), ("20,", "30,"), ("-0.4", "0.4")):
        path.write_text(path.read_text().replace(before, after))
        assert disagreements(run, plain_reading(tmp_path)), after
        path.write_text(path.read_text().replace(after, before))
    path.write_text("time/total_timesteps,rollout/ep_rew_mean,train/entropy_loss,new\n10,1.5,-0.5,1\n20,2.5,-0.4,1\n")
    assert disagreements(run, plain_reading(tmp_path)) == ["lost: new"]
    assert summary(run)["mapped"]["entropy/mean"] == ["train/entropy_loss", 2, 0.5, 0.4]
