"""Ray: a running cluster by its address (or ``RAY_ADDRESS``), else one on this machine; a lost worker's task is done again by Ray."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from typing import Any

from rl_advisor.triage.engines import Submit
from rl_advisor.triage.work import work

NEEDS = "ray"
AGAIN = 3
"""Times that a task is begun anew when its worker is lost."""


@contextmanager
def engine(jobs: int, address: str = "") -> Iterator[Submit]:
    """Tasks of one CPU each; ``jobs`` is how many CPUs a local cluster has."""
    ray: Any = import_module(NEEDS)
    ours = not ray.is_initialized()
    if ours:
        where = address or os.environ.get("RAY_ADDRESS", "")
        local = {"num_cpus": jobs, "include_dashboard": False} if not where else {"address": where}
        ray.init(log_to_driver=False, logging_level="ERROR", configure_logging=False, **local)
    remote = ray.remote(num_cpus=1, max_retries=AGAIN)(work)
    try:
        with redirect_stdout(sys.stderr):  # of a lost worker Ray speaks where rows are to stand alone
            yield lambda place, how: remote.remote(place, how).future()
    finally:
        if ours:
            ray.shutdown()
