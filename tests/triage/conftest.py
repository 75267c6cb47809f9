"""A folder of small runs that every test of the triage may use."""

from pathlib import Path

import pytest

from small_runs import CURVES, written


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Six runs: two of each curve."""
    for seed in range(2):
        for name in CURVES:
            written(tmp_path / "sweep" / f"{name}-{seed}", name)
    return tmp_path / "sweep"
