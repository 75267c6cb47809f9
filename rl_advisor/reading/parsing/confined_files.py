"""Files are opened below a folder that was opened once, step by step and through no link: what was checked is what is read.

Between the look at a path and its opening, whoever may write in the folder can put a link in its place. So nothing is opened by its path
while a fence stands: every folder on the way is opened in the one above it, links refused, and of a file the descriptor is used. Where the
system cannot open in an opened folder (Windows), paths are opened as they are.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

_ABLE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and Path("/dev/fd").exists()
_fences: list[tuple[str, int]] = []
"""Folders and their descriptors, the outermost first; of the process, since files are also read in threads."""


@contextmanager
def fenced(root: Path) -> Iterator[None]:
    """While it is open, what lies below ``root`` (a path without links) is opened without following any."""
    if not _ABLE:
        yield
        return
    fence = (str(root).rstrip("/") + "/", _folder(root))
    _fences.append(fence)
    try:
        yield
    finally:
        _fences.remove(fence)
        os.close(fence[1])


def held(path: Path) -> bool:
    """Whether a fence stands around it, so that its links are refused and must not be resolved before."""
    return any((os.path.abspath(path) + "/").startswith(fence[0]) for fence in _fences)  # noqa: PTH100 - links are not to be resolved


def opened(path: Path, buffering: int = -1) -> IO[bytes]:
    """The file opened for reading.

    Raises:
        OSError: it is not there, no plain file, or a link leads to it.
    """
    if type(path) is not type(Path()):  # a text in memory that reads like a file
        return cast("IO[bytes]", path.open("rb"))
    return cast("IO[bytes]", os.fdopen(descriptor(path), "rb", buffering))


@contextmanager
def named(path: Path) -> Iterator[str]:
    """A name of the opened file, for libraries that open by name; raises what ``opened`` raises."""
    if not _ABLE or type(path) is not type(Path()):
        yield str(path)
        return
    number = descriptor(path)
    try:
        yield f"/dev/fd/{number}"
    finally:
        os.close(number)


@contextmanager
def listed(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder; their kinds can be asked while it is open. Raises what ``os.scandir`` raises."""
    if not _ABLE:
        with os.scandir(folder) as entries:
            yield entries
        return
    number = _folder(folder)
    try:
        with os.scandir(number) as entries:
            yield cast("Iterator[os.DirEntry[str]]", entries)
    finally:
        os.close(number)


def descriptor(path: Path) -> int:
    """The descriptor of a plain file; raises what ``opened`` raises."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    number = _below(path, flags)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{path.name} is no plain file")
    return number


def is_open(path: Path) -> bool:
    """Whether one of this process's open files is the one that stands at the path, as seen through no link."""
    with suppress(OSError), opened(path) as file:
        wanted = os.fstat(file.fileno())
        for number in (int(p.name) for p in Path("/dev/fd").iterdir()) if _ABLE else ():
            with suppress(OSError):
                if number != file.fileno() and os.path.samestat(os.fstat(number), wanted):
                    return True
    return not _ABLE


def _folder(path: Path) -> int:
    return _below(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _below(path: Path, flags: int) -> int:
    """What stands at the path, opened from the outermost fence around it; without one by its path."""
    text = os.path.abspath(path)  # noqa: PTH100 - links are not to be resolved
    fence = next((f for f in _fences if (text + "/").startswith(f[0])), None)
    if fence is None:
        return os.open(text, flags)
    parts = [p for p in text[len(fence[0]) :].split("/") if p]
    above = os.dup(fence[1]) if not parts else fence[1]
    for number, part in enumerate(parts, 1):
        wanted = flags if number == len(parts) else os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            below = os.open(part, wanted | os.O_NOFOLLOW, dir_fd=above)
        finally:
            if above != fence[1]:
                os.close(above)
        above = below
    return above
