"""Shared by all tests: numeric libraries stay on one thread, because many small problems are solved faster that way."""

import os
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import pytest  # noqa: E402

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "grpo-run"


@pytest.fixture
def example() -> Path:
    """The bundled real run."""
    return EXAMPLE
