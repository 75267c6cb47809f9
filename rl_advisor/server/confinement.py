"""What may be read: paths below the folders, and addresses below the stores, that the person who started the server named; no more."""

import re
import stat
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from rl_advisor.output.errors import UsageError
from rl_advisor.output.run_reference import MARK, split_reference
from rl_advisor.tools.workers.isolated import Refused

LONGEST = 1024
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/]")
REFUSED = "No run of that name lies in the folders that this server may read; list_runs names those that do."
"""One answer for every refused path, so that it tells nothing about what else is on the machine."""


class Outside(Refused):
    """A path that may not be read, or that is not there; the two are not told apart."""

    def __init__(self, near: Sequence[str] = ()) -> None:
        """``near``: names of runs that may be read and nearly go by the name."""
        self.near = tuple(near)
        super().__init__(f"{REFUSED} Near by name: {', '.join(near)}." if near else REFUSED)


def roots_of(folders: Sequence[str | Path]) -> tuple[Path, ...]:
    """The folders, links resolved.

    Raises:
        NoSuchChoice: one of them is no folder.
    """
    roots = tuple(Path(folder).resolve() for folder in folders)
    wrong = [root for root in roots if not root.is_dir()]
    if wrong:
        raise UsageError(f"{wrong[0]} is no folder")
    return roots


def inside(roots: Sequence[Path], asked: str) -> Path:
    """The real path of what was asked for, when it is a folder or a plain file below one of the roots.

    Raises:
        Outside: in every other case.
    """
    if not asked or len(asked) > LONGEST or not asked.isprintable():
        raise Outside
    first, _, rest = asked.partition("/")  # below each root, or below the root that it begins with the name of
    named = [root / rest for root in roots if root.name == first]
    for candidate in (*(root / asked for root in roots), *named):
        try:
            file, run = split_reference(candidate)
            real = file.resolve(strict=True)
            kind = real.lstat().st_mode
        except (OSError, RuntimeError, ValueError):
            continue
        if any(real.is_relative_to(root) for root in roots) and (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
            return Path(f"{real}{MARK}{run}") if run else real
    raise Outside


def stores_of(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses below which a client may read.

    Raises:
        NoSuchChoice: one of them is no address.
    """
    wrong = [a for a in addresses if not _ADDRESS.match(a)]
    if wrong:
        raise UsageError(f"--remote takes an address, for example s3://bucket/runs; not {wrong[0][:80]!r}")
    return tuple(a.rstrip("/") for a in addresses)


def below(stores: Sequence[str], asked: str) -> bool:
    """Whether an address is one of those that the person who started the server named, or lies below one."""
    if len(asked) > LONGEST or not asked.isprintable() or "\\" in asked or ".." in unquote(asked):
        return False
    return any(asked == store or asked.startswith(f"{store}/") for store in stores)


def called(roots: Sequence[Path], path: Path) -> str:
    """The name under which a path below the roots can be asked for."""
    for root in roots:
        if path.is_relative_to(root):
            name = path.relative_to(root).as_posix()
            return name if len(roots) == 1 else f"{root.name}/{name}"
    raise Outside
