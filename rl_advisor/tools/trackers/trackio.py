"""Trackio, on this machine: an alert with the judgement at the step it was made, the marks, and the curves it speaks of."""

from pathlib import Path

from rl_advisor.finding import BROKEN
from rl_advisor.output.errors import UsageError
from rl_advisor.reading.remote.bounds import client
from rl_advisor.tools.trackers import PREFIX, Note

WHERE = "trackio[:PROJECT[/RUN]]"


def write(note: Note, where: str, _: str | Path) -> str:
    """The project and the run it was written to; a run that is there goes on, with nothing but our own names added.

    Raises:
        NoSuchChoice: ``where`` has other parts.
    """
    project, _slash, name = where.partition("/")
    if "/" in name:
        raise UsageError(f"Trackio is addressed as {WHERE}")
    trackio = client("trackio", "trackio")
    project = project or PREFIX
    run = trackio.init(
        project=project, name=name or f"{note.run} {PREFIX}", resume="allow", embed=False, auto_log_gpu=False, auto_log_cpu=False
    )
    try:
        for step, row in note.rows(alone=bool(name)):
            trackio.log(row, step=int(step))
        level = trackio.AlertLevel.ERROR if note.tags["verdict"] in BROKEN else trackio.AlertLevel.INFO
        trackio.alert(title=f"{PREFIX}: {note.tags['verdict']}, {note.tags['call']}", text=note.text, level=level)
    finally:
        trackio.finish()
    return f"trackio: {project}, run {run.name}"
