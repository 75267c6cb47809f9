"""Weights & Biases: the judgement in the summary, the tags and a file of a run that is there, or as a small run of its own.

A run that is there is changed through the public interface, which does not disturb a process that still logs to it; only names that begin
with ``rl-advisor`` are written. Without a key a run of its own is kept on this machine (`wandb sync` sends it later).
"""

import html
import os
import tempfile
from pathlib import Path
from typing import Any

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote.bounds import client
from rl_advisor.reading.remote.stores import wandb as store
from rl_advisor.tools.trackers import PREFIX, Note

WHERE = "wandb[:[ENTITY/]PROJECT[/RUN]]"


def write(note: Note, where: str, run: str | Path) -> str:
    """Where it was written: the run's path on the server, or the folder of a run kept here; without ``where`` a run read from W&B itself.

    Raises:
        NoSuchChoice: ``where`` has other parts.
    """
    os.environ.setdefault("WANDB_SILENT", "true")
    wandb = client("wandb", "wandb")
    read_there = not where and "://" in str(run) and store.claims(str(run))
    parts = [p for p in (store.path_of(str(run)) if read_there else where).split("/") if p]
    if len(parts) > 3:
        raise UsageError(f"W&B is addressed as {WHERE}; a run that is there by all three")
    return _attached(note, "/".join(parts)) if len(parts) == 3 else _of_its_own(wandb, note, parts)


def _attached(note: Note, path: str) -> str:
    """Write to a run that is there."""
    with store.asked(path) as api:
        run = api.run(path)
    run.summary.update(_summary(note))
    run.tags = sorted({*(t for t in run.tags if not t.startswith(f"{PREFIX}:")), f"{PREFIX}:{note.tags['verdict']}"})
    run.update()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / f"{PREFIX}.md"
        page.write_text(note.text, encoding="utf-8")
        run.upload_file(str(page), root=folder)
    return f"wandb: {path}"


def _of_its_own(wandb: Any, note: Note, parts: list[str]) -> str:
    """Write a run that holds the judgement, its marks and the curves it speaks of."""
    keyed = bool(os.environ.get("WANDB_API_KEY") or wandb.setup().settings.api_key)
    run = wandb.init(
        project=parts[-1] if parts else PREFIX,
        entity=parts[0] if len(parts) == 2 else None,
        name=f"{note.run} {PREFIX}",
        job_type=PREFIX,
        notes=note.text,
        tags=[f"{PREFIX}:{note.tags['verdict']}"],
        mode=os.environ.get("WANDB_MODE") or ("online" if keyed else "offline"),
        settings=wandb.Settings(
            silent=True,
            console="off",
            x_disable_stats=True,
            disable_git=True,
            disable_code=True,
            x_disable_meta=True,
            x_save_requirements=False,
        ),
    )
    page = f"<pre style='white-space: pre-wrap'>{html.escape(note.text)}</pre>"
    try:
        run.define_metric("step")
        run.define_metric("*", step_metric="step")
        for step, row in note.rows():
            run.log({"step": step, **row})
        run.log({"step": float(note.tags["step"]), f"{PREFIX}/judgement": wandb.Html(page)})
        run.summary.update(_summary(note))
        return f"wandb: {run.url or Path(run.dir).parent}"
    finally:
        run.finish()


def _summary(note: Note) -> dict[str, Any]:
    return {f"{PREFIX}/{name}": said for name, said in note.tags.items()} | {f"{name}_step": step for name, step in note.marks.items()}
