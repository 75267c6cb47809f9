"""Looks at a growing run again and again; what did not change since the last look is not read again."""

from collections.abc import Mapping
from pathlib import Path

from rl_advisor.reading import part_of, read_with
from rl_advisor.reading.parsing.request import Request
from rl_advisor.run import Run


class Follower:
    """A run that is still being written; each ``read`` gives all of it, and reads the files that changed since the last."""

    def __init__(self, path: Path | str, *, mapping: Mapping[str, str] | None = None) -> None:
        """Nothing is read yet; ``mapping`` is that of ``read_run``."""
        self._path, self._mapping = Path(path), mapping or {}
        self._seen: dict[tuple[Path, str, bool], tuple[tuple[int, int, int], Run | None]] = {}
        self.decoded = 0
        """Bytes of the files that the last ``read`` read."""

    def read(self) -> Run:
        """The run as it is now; raises what ``read_run`` raises."""
        self.decoded = 0
        return read_with(self._part, self._path, self._mapping)

    def _part(self, path: Path, ask: Request) -> Run | None:
        status, key = path.stat(), (path, ask.run, ask.last_resort)
        mark = status.st_ino, status.st_size, status.st_mtime_ns
        if key not in self._seen or self._seen[key][0] != mark:
            self.decoded += status.st_size
            self._seen[key] = mark, part_of(path, ask)
        return self._seen[key][1]
