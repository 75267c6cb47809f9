"""Whole runs of real frameworks against what a person checked: framework, axis, and the raw name behind each of our metrics."""

import json
from pathlib import Path

import pytest
from benchmarks.coverage import GOLDEN, summary
from rl_advisor.reading import read_run

RUNS = sorted((Path(__file__).parent / "data" / "golden").glob("*/*"))


@pytest.mark.parametrize("path", RUNS, ids=lambda p: ".".join(p.parts[-2:]))
def test_run_is_read_as_its_golden_file_says(path: Path) -> None:
    """Framework, formats, steps, mapped names, counts and gaps are those that were checked by eye."""
    assert summary(read_run(path)) == json.loads((GOLDEN / f"{'.'.join(path.parts[-2:])}.json").read_text())


def test_there_are_runs() -> None:
    """The copies lie where they are looked for, and every framework with a golden file is named right in it."""
    assert len(RUNS) >= 7
    for path in GOLDEN.glob("*.json"):
        framework = path.name.split(".")[0]
        assert json.loads(path.read_text())["frameworks"] == ["trl" if framework == "trackers" else framework]
