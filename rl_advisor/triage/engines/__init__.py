"""Who does the work: each module is one engine, ``engine(jobs)`` a context that gives ``submit(place, how) -> Future``."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec

from rl_advisor.output.errors import UsageError, install, no_such
from rl_advisor.triage.looking import Place
from rl_advisor.triage.row import Row
from rl_advisor.triage.work import How

ENGINES = ("processes", "ray", "dask")
Submit = Callable[[Place, How], "Future[Row]"]


def engine(name: str, jobs: int, address: str = "") -> AbstractContextManager[Submit]:
    """The engine of that name with so many pieces of work at a time; ``address`` is a running cluster's.

    Raises:
        UsageError: there is no such engine, or its library is not installed.
    """
    if name not in ENGINES:
        raise no_such("engine", name, ENGINES)
    module = import_module(f"rl_advisor.triage.engines.on_{name}")
    if module.NEEDS and find_spec(module.NEEDS) is None:
        raise UsageError(f"--engine {name} needs an extra: {install(name)}")
    opened: AbstractContextManager[Submit] = module.engine(jobs, address)
    return opened
