"""Records the GPUs of this machine until it is stopped: NVIDIA's own tool writes its table, in UTC, and goes on in one that is there."""

import os
import subprocess
from pathlib import Path

from rl_advisor.output.errors import UsageError

COLUMNS = (
    "timestamp,index,power.draw,power.draw.instant,utilization.gpu,utilization.memory,memory.used,memory.total,temperature.gpu,"
    "clocks.current.sm,clocks_event_reasons.active"
)
TOOL = "nvidia-smi"


def look_for_gpus() -> None:
    """Come back where there is a GPU to record.

    Raises:
        UsageError: there is no driver, or it sees no GPU; the message says which.
    """
    try:
        found = subprocess.run([TOOL, "-L"], capture_output=True, check=False)  # noqa: S603 - the driver's own, wherever it lies
    except OSError:
        raise UsageError(f"recording needs {TOOL}, which comes with NVIDIA's driver; it is not here") from None
    if found.returncode:
        raise UsageError("NVIDIA's driver sees no GPU here")


def record(out: Path, every: float) -> subprocess.Popen[bytes]:
    """The process that adds a row a GPU to the file every so many seconds, until it is ended.

    Raises:
        UsageError: there is nothing to record.
    """
    look_for_gpus()
    out.parent.mkdir(parents=True, exist_ok=True)
    asked = [TOOL, f"--query-gpu={COLUMNS}", "--format=csv", f"--loop-ms={round(1000 * every)}"]
    with out.open("ab") as file:
        return subprocess.Popen(asked, stdout=file, stdin=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"})  # noqa: S603
