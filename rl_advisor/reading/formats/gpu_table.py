"""Reads tables of GPU counters with the names in their first line: ``nvidia-smi --query-gpu``, amd-smi, exports of W&B, trackio and nvitop.

Times without a zone are read as UTC; the profile finds the offset against the run's step clock and says so.
"""

from pathlib import Path

from rl_advisor.reading.parsing.gpu_counters import telemetry_of
from rl_advisor.reading.parsing.gpu_csv import gpu_csv, names_counters
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "gpu_table"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the first line names a time and a counter."""
    return names_counters(path)


def read(path: Path, _: Request = WHOLE) -> Run:
    """The telemetry in the file; lines that are no row are counted in a gap."""
    return telemetry_of(path, FORMAT, *gpu_csv(path))
