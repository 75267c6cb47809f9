"""Weights & Biases, through its own client: the whole history, GPU statistics, configuration and small files of one run."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote import guarded
from rl_advisor.reading.remote.bounds import Bounds, client
from rl_advisor.reading.remote.listing import Listed, Listing

ADDRESSES = ("wandb://ENTITY/PROJECT/RUN", "https://wandb.ai/ENTITY/PROJECT/runs/RUN")
SAMPLES = 100_000
"""GPU statistics asked for; a month at one in 30 s."""
_PATIENCE_S = 30
_READ = (".log", ".table.json", ".jsonl", ".csv", ".parquet", ".yaml", ".yml")


def claims(address: str) -> bool:
    """Whether it says so, or is the page of a run as the browser shows it."""
    split = urlsplit(address)
    return split.scheme.lower() == "wandb" or (split.scheme.startswith("http") and split.hostname in ("wandb.ai", "api.wandb.ai"))


def fetch(address: str, into: Path, bounds: Bounds) -> None:
    """The run's rows as the export of its history has them, and beside them what else says something about training."""
    path = path_of(address)
    with asked(address) as api:
        run = api.run(path)
    (into / "config.json").write_text(json.dumps(dict(run.config), default=str))
    _rows(run.scan_history(page_size=10_000), into / "history.jsonl", bounds)
    _rows(run.history(stream="system", samples=SAMPLES, pandas=False), into / "system.jsonl", bounds)
    key = base64.b64encode(f"api:{api.api_key}".encode()).decode()
    for file in run.files(per_page=200):
        _file(file, into, bounds, (str(api.settings["base_url"]), {"Authorization": f"Basic {key}"}))


def listed(address: str, found: Listing, bounds: Bounds) -> None:
    """The runs of a project: ``wandb://ENTITY/PROJECT``, or its page."""
    parts = _parts(address)
    if len(parts) > 2 and parts[2:] not in (["runs"], ["workspace"]):
        found.runs.append(Listed(parts[-1], address, "", 0.0))
        return
    with asked(address) as api:
        for run in api.runs("/".join(parts[:2]), per_page=500):
            if bounds.stop.is_set() or len(found.runs) >= bounds.files:
                bounds.left_out["count"] += 1
                return
            beat = str(getattr(run, "heartbeat_at", None) or getattr(run, "heartbeatAt", None) or "")
            tag = f"{beat} {run.state} {getattr(run, 'lastHistoryStep', '')}"
            found.runs.append(Listed(f"{run.name or run.id} ({run.id})", f"wandb://{'/'.join(parts[:2])}/{run.id}", tag, _moment(beat)))


@contextmanager
def asked(address: str) -> Iterator[Any]:
    """W&B's client; what it says is told in words that a caller knows."""
    os.environ.setdefault("WANDB_SILENT", "true")
    wandb = client("wandb", "wandb")
    try:
        yield wandb.Api(timeout=_PATIENCE_S, api_key=os.environ.get("WANDB_API_KEY"))
    except wandb.errors.UsageError as failure:
        raise PermissionError("no key; set WANDB_API_KEY or run `wandb login`") from failure
    except Exception as failure:
        if "Could not find run" in str(failure):
            raise FileNotFoundError(address) from None
        raise


def _moment(text: str) -> float:
    """Seconds since the epoch; 0 for what is no date."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _rows(rows: Any, target: Path, bounds: Bounds) -> None:
    """One line for each row; nothing is written when there is none."""
    out = None
    try:
        for row in rows:
            line = json.dumps(row) + "\n"
            bounds.size -= len(line)
            if bounds.size < 0 or bounds.stop.is_set():
                bounds.left_out["size"] += bounds.size < 0
                break
            out = out or target.open("w")
            out.write(line)
    finally:
        if out is not None:
            out.close()


def _file(file: Any, into: Path, bounds: Bounds, home: tuple[str, dict[str, str]]) -> None:
    """One of the run's files, when a format reads such; they lie with other hosts, to which W&B's own client would follow anywhere."""
    name, size = str(file.name), int(file.size or 0)
    if not name.endswith(_READ) or name in ("config.yaml", "wandb-metadata.json") or bounds.stop.is_set():
        return
    if size > bounds.size:
        bounds.left_out["size"] += 1
    elif (place := bounds.place(into, name)) is not None:

        def brought() -> None:
            with guarded.opened(str(file.url), *home) as answer:
                bounds.copy(answer, place)

        bounds.tried(brought)


def path_of(address: str) -> str:
    """ENTITY/PROJECT/RUN.

    Raises:
        NoSuchChoice: the address has other parts.
    """
    parts = _parts(address)
    parts = parts[:2] + parts[3:4] if len(parts) >= 4 and parts[2] == "runs" else parts
    if len(parts) != 3:
        raise UsageError(f"the address of a W&B run is {' or '.join(ADDRESSES)}")
    return "/".join(parts)


def _parts(address: str) -> list[str]:
    """Entity, project and what follows them."""
    split = urlsplit(address)
    return [unquote(p) for p in (f"{split.netloc}{split.path}" if split.scheme.lower() == "wandb" else split.path).split("/") if p]
