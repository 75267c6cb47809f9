"""MLflow: the judgement as tags, a page among the artifacts and marks among the metrics, of a run that is there or of a new one.

Names begin with ``rl-advisor``; the description of a run that is there is left alone.
"""

import re
import time
from pathlib import Path

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
    from mlflow.entities import Metric

    if found:
        run = str(tracking.get_run(found[1]).info.run_id)
    else:
        known = tracking.get_experiment_by_name(PREFIX)
        experiment = known.experiment_id if known is not None else tracking.create_experiment(PREFIX)
        run = str(tracking.create_run(experiment, run_name=note.run, tags={"mlflow.note.content": note.text}).info.run_id)
    tags = {f"{PREFIX}.{name}": said for name, said in note.tags.items()}
    for name, said in (tags | {f"{mark.replace('/', '.')}_step": f"{step:g}" for mark, step in note.marks.items()}).items():
        tracking.set_tag(run, name, said)
    now, rows = int(1000 * time.time()), note.rows(alone=bool(found))
    points = [Metric(re.sub(r"[^\w./ -]", "_", name)[:200], x, now, int(step)) for step, row in rows for name, x in row.items()]
    for first in range(0, len(points), 1000):  # the most that a server takes at once
        tracking.log_batch(run, metrics=points[first : first + 1000])
    tracking.log_text(run, note.text, f"{PREFIX}.md")
    if not found:
        tracking.set_terminated(run)
    return f"mlflow: {server or 'its own server'}, run {run}"
