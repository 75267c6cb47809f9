"""Dask: a running scheduler by its address (or ``DASK_SCHEDULER_ADDRESS``), else processes of this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from rl_advisor.triage.engines import Submit
from rl_advisor.triage.work import work

NEEDS = "distributed"
AGAIN = 3
"""Times that a task is begun anew when its worker is lost."""


@contextmanager
def engine(jobs: int, address: str = "") -> Iterator[Submit]:
    """Tasks one at a time for each worker; ``jobs`` is how many workers a local cluster has."""
    distributed: Any = import_module(NEEDS)
    where = address or os.environ.get("DASK_SCHEDULER_ADDRESS", "")
    cluster = None if where else distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None)
    client = distributed.Client(where or cluster, set_as_default=False)
    try:
        executor = client.get_executor(pure=False, retries=AGAIN)
        yield lambda place, how: executor.submit(work, place, how)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
