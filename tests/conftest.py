"""Shared by all tests: numeric libraries stay on one thread, because many small problems are solved faster that way.

What is compiled is kept, for the hundred processes that tests start and for the next run, whatever the environment says: where it is not,
every one of them compiles the package anew, which takes longer than most of what they are asked.

Hypothesis draws the same examples every time, so that a commit that passed passes again; random seeds belong to the fuzzers.
"""

import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

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
