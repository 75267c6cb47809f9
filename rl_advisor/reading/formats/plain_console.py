"""A text log in which no other format finds metrics: its tracebacks and warnings still say why a run died."""

from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines
from rl_advisor.reading.parsing.log_lines import Watch
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "plain_console"
CONSOLE = True
GENERAL = True
"""Asked only when no other format claims a file."""
LINE_COUNT_LIMIT = 2_000_000
_TRACKER_LOGS = ("debug.log", "debug-internal.log", "debug-core.log")
"""What W&B says about itself."""
_SUFFIXES = (".log", ".out", ".err", "stdout", "stderr", "stdout.txt", "stderr.txt", "console.txt", "log.txt", "output.txt")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is that of a log and it is text."""
    if path.name in _TRACKER_LOGS or not bare_name(path).endswith(_SUFFIXES):
        return False
    start = head(path, 4_096)
    return bool(start) and b"\x00" not in start and not start.startswith(b"version https://git-lfs")


def read(path: Path, _: Request = WHOLE) -> Run:
    """Only events."""
    watch = Watch(path.name)
    for count, line in enumerate(watch.through(lines(path))):
        if count >= LINE_COUNT_LIMIT:
            break
        watch.look(line, None)
    return Run(events=watch.finish(None), formats=(FORMAT,))
