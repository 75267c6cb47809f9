"""Shared by all tests: numeric libraries stay on one thread, because many small problems are solved faster that way.

Hypothesis draws the same examples every time, so that a commit that passed passes again; random seeds belong to the fuzzers.
"""

import os
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("same every time", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("same every time")

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "grpo-run"


@pytest.fixture
def example() -> Path:
    """The bundled real run."""
    return EXAMPLE
