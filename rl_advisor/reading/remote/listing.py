"""What a store says lies below an address, without any of it being brought."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Listed(NamedTuple):
    """A run that a store knows as such."""

    name: str
    address: str
    tag: str
    """Changes when the run does."""
    changed: float
    """Seconds since the epoch; 0 where nobody knows."""


class File(NamedTuple):
    """A file at one moment, by its path below an address or a folder; a folder that is a checkpoint is one without size."""

    path: str
    size: int
    changed: float
    """Seconds since the epoch."""
    tag: str = ""
    """What a store says of its content."""


@dataclass
class Listing:
    """Runs, of a store that knows what a run is; files, of any other."""

    runs: list[Listed] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
