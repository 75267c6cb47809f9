"""MLflow tracking servers, through MLflow's own client: the copy is a small store in MLflow's own tables."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote.bounds import Bounds, client
from rl_advisor.reading.remote.listing import Listed, Listing

ADDRESSES = ("mlflow+http://HOST:PORT/RUN_ID",)
_TABLES = """
CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER, is_nan INTEGER);
CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
"""
_AT_ONCE = 8
_BYTES_A_POINT = 100


def claims(address: str) -> bool:
    """Whether it says so, or is the page of a run as the browser shows it (``http://HOST/#/experiments/1/runs/ID``)."""
    split = urlsplit(address)
    return split.scheme.lower() in ("mlflow+http", "mlflow+https", "mlflow") or "/experiments/" in f"/{split.fragment.lstrip('/')}"


def fetch(address: str, into: Path, bounds: Bounds) -> None:
    """All points of all metrics, the parameters and the tags of one run."""
    server, run = parts_of(address)
    tracking = asked(server)
    try:
        data = tracking.get_run(run).data
    except Exception as failure:
        if getattr(failure, "error_code", "") == "RESOURCE_DOES_NOT_EXIST":
            raise FileNotFoundError(address) from None
        raise
    with closing(sqlite3.connect(into / "mlflow.db")) as base:
        base.executescript(_TABLES)
        base.executemany("INSERT INTO params VALUES (?, ?, ?)", [(k, v, run) for k, v in data.params.items()])
        for points in _histories(tracking, run, sorted(data.metrics), bounds):
            base.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", points)
        base.commit()


def listed(address: str, found: Listing, bounds: Bounds) -> None:
    """The runs of an experiment (``mlflow+http://HOST:PORT/#/experiments/ID``), or of all where none is named."""
    split, base = urlsplit(address), _server(address)
    if _page(split.fragment) is not None or (split.path.strip("/") and not split.fragment):
        found.runs.append(Listed(parts_of(address)[1], address, "", 0.0))
        return
    tracking = asked(base)
    parts = split.fragment.partition("?")[0].strip("/").split("/")
    named = parts[1:2] if parts[0] == "experiments" else []
    experiments, token = named or [e.experiment_id for e in tracking.search_experiments(max_results=1000)], None
    while not bounds.stop.is_set() and len(found.runs) < bounds.files:
        page = tracking.search_runs(experiments, max_results=500, page_token=token)
        found.runs += [_listed(run, f"mlflow+{base}") for run in page]
        token = page.token
        if not token:
            return
    bounds.left_out["count"] += 1


def _listed(run: Any, base: str) -> Listed:
    """A run as the search shows it: its latest values stand for its content."""
    info, latest = run.info, sorted(run.data.metrics.items())
    tag = hashlib.sha256(repr((info.status, info.end_time, latest)).encode()).hexdigest()[:16]
    written = max([info.end_time or info.start_time or 0, *(m.timestamp for m in getattr(run.data, "_metric_objs", ()))])
    return Listed(f"{info.run_name or info.run_id} ({info.run_id[:8]})", f"{base}/{info.run_id}", tag, written / 1000)


def _histories(tracking: Any, run: str, names: list[str], bounds: Bounds) -> Iterator[list[tuple[Any, ...]]]:
    """The points of each metric; metrics that no longer fit are counted."""

    def history(name: str) -> list[tuple[Any, ...]] | None:
        if bounds.stop.is_set():
            return None
        found = tracking.get_metric_history(run, name)
        return [(m.key, 0.0 if m.value != m.value else m.value, m.timestamp, run, m.step, m.value != m.value) for m in found]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for points in pool.map(history, names):
            bounds.size -= _BYTES_A_POINT * len(points or ())
            if points is None or bounds.size < 0:
                bounds.left_out["size"] += 1
            else:
                yield points


def parts_of(address: str) -> tuple[str, str]:
    """The server's address and the run's id.

    Raises:
        NoSuchChoice: no run is named.
    """
    server, run = _server(address), _page(urlsplit(address).fragment)
    if run is None:
        server, _, run = server.rpartition("/")
    if not run or server.endswith(":/"):
        raise UsageError(f"the address of an MLflow run ends in the run's id: {ADDRESSES[0]}")
    return server, run


def _server(address: str) -> str:
    """The address without what MLflow's pages put behind ``#``, as a web address."""
    split = urlsplit(address)
    return f"{split.scheme.lower().removeprefix('mlflow+').replace('mlflow', 'http')}://{split.netloc}{split.path.rstrip('/')}"


def asked(server: str | None) -> Any:
    """MLflow's own client of a server, or of the one that it knows itself, which does not wait for ever and is not sent elsewhere."""
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "30")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_ALLOW_HTTP_REDIRECTS", "false")  # a token would go along to a server that nobody named
    return client("mlflow", "mlflow").MlflowClient(tracking_uri=server)


def _page(fragment: str) -> str | None:
    """The run's id in the part of an address that MLflow's pages put behind ``#``."""
    parts = fragment.partition("?")[0].strip("/").split("/")
    return parts[parts.index("runs") + 1] if "experiments" in parts and "runs" in parts[:-1] else None
