"""MLflow: the judgement as tags, a page among the artifacts and marks among the metrics, of a run that is there or of a new one.

Names begin with ``rl-advisor``; the description of a run that is there is left alone.
"""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from rl_advisor.reading.remote.stores import mlflow as store
from rl_advisor.tools.trackers import PREFIX, Note

WHERE = "mlflow[:[http://HOST:PORT][/RUN_ID]]"
_RUN = re.compile(r"(?:^|/)([0-9a-f]{32})/?$")


def write(note: Note, where: str, place: str | Path) -> str:
    """The server and the run it was written to; without ``where`` a run read from MLflow itself, else the client's own server."""
    if not where and "://" in str(place) and store.claims(str(place)):
        where = "/".join(store.parts_of(str(place)))
    found = _RUN.search(where)
    server = (where[: found.start()] if found else where).rstrip("/")
    tracking = store.asked(server or None)
    run = str(tracking.get_run(found[1]).info.run_id) if found else _new(tracking, note)
    for name, said in note.tags.items():
        tracking.set_tag(run, f"{PREFIX}.{name}", said)
    for mark in note.marks:
        tracking.log_metric(run, mark.metric, 1.0, step=int(mark.step))
        tracking.set_tag(run, f"{PREFIX}.{mark.what.replace(' ', '_')}_step", f"{mark.step:g}")
    tracking.log_text(run, note.text, f"{PREFIX}.md")
    if not found:
        tracking.set_terminated(run)
    return f"mlflow: {server or 'its own server'}, run {run}"


def _new(tracking: Any, note: Note) -> str:
    """A run of its own with the curves that the judgement speaks of."""
    from mlflow.entities import Metric

    known = tracking.get_experiment_by_name(PREFIX)
    experiment = known.experiment_id if known is not None else tracking.create_experiment(PREFIX)
    run = str(tracking.create_run(experiment, run_name=note.run, tags={"mlflow.note.content": note.text}).info.run_id)
    now = int(1000 * time.time())
    shown = replace(note, marks=())
    points = [Metric(re.sub(r"[^\w./ -]", "_", name)[:200], x, now, int(step)) for step, row in shown.rows() for name, x in row.items()]
    for first in range(0, len(points), 1000):  # the most that a server takes at once
        tracking.log_batch(run, metrics=points[first : first + 1000])
    return run
