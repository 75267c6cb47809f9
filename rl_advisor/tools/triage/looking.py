"""What lies at the roots: every run with a name, where it is, when it last grew, and a key of its content that changes when it does."""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor import __version__
from rl_advisor.answers.run_folders import holds_metrics

if TYPE_CHECKING:
    from rl_advisor.answers.run_places import Folder
    from rl_advisor.reading.remote.listing import File

TAIL = 2048
"""Last bytes of a file that its key rests on, besides its size and time."""


@dataclass(frozen=True)
class Place:
    """A run that may be judged."""

    run: str
    """What the table calls it: its path below the root; below one of several roots, with the root."""
    where: str
    """Path or address that every other command takes."""
    key: str
    """Digest of what its files hold, and of the version that judges."""
    changed: float
    """Seconds since the epoch at which it was last written; 0 where nobody knows."""
    address: bool = False
    inner: str = ""
    """Which of several runs that lie there."""
    files: tuple[tuple[str, int], ...] = ()
    """Paths and sizes of what a store lists below its address, so that nobody asks for each run again."""
    goal: float | None = None
    """Level of the outcome that is enough."""


def aimed(places: "Sequence[Place]", goal: float | None) -> "list[Place]":
    """The places to be judged by a goal: what is known of them without it is another answer."""
    return [place if goal is None else replace(place, goal=goal, key=inner_key(place.key, f"goal {goal}")) for place in places]


def look(roots: Sequence[str]) -> list[Place]:
    """The runs at the roots: folders, files and addresses.

    Raises:
        FileNotFoundError: there is nothing at one of them; the message names the nearest.
        NoSuchChoice: no store has such addresses, or its client is not installed.
        UnreadableRun: a store could not be reached, or refused the key.
    """
    from rl_advisor.reading.remote import copies

    found: list[Place] = []
    for root in dict.fromkeys(roots):
        named = f"{root.rstrip('/')}/" if len(set(roots)) > 1 else ""
        found += _remote(root, named) if copies.is_address(root) else _local(root, named)
    return list({place.where: place for place in found}.values())


def _local(root: str, named: str) -> list[Place]:
    """The runs below a folder or in a file."""
    from rl_advisor.answers import run_folders
    from rl_advisor.answers.run_places import below
    from rl_advisor.output.run_reference import split_reference
    from rl_advisor.reading.parsing import confined_files
    from rl_advisor.reading.remote.listing import File

    path = run_folders.existing(root)
    if not (file := split_reference(path)[0]).is_dir():
        status = file.stat()
        one = [File("", status.st_size, status.st_mtime)]
        return [Place(str(path), str(path), key_of(path.name, one, file), status.st_mtime)]
    real = path.resolve()
    with confined_files.fenced(real):
        return _placed(below(real), lambda inner: holds_metrics(real / inner), str(path), named, path.name, real)


def _remote(root: str, named: str) -> list[Place]:
    """The runs below an address, as its store lists them."""
    from rl_advisor.answers.run_places import likely, tree
    from rl_advisor.reading.remote import copies

    known = copies.listed(root)
    if known.runs:
        return [Place(f"{named}{r.name}", r.address, _digest(r.name, [r.tag]), r.changed, address=True) for r in known.runs]
    found = _placed(tree(known.files), likely, root, named, copies.named(root))
    files, above = sorted(known.files), f"{root.rstrip('/')}/"
    return [replace(place, files=_among(files, f"{place.where}/".removeprefix(above))) for place in found]


def _among(files: "list[File]", prefix: str) -> tuple[tuple[str, int], ...]:
    """Those of sorted files whose paths begin so."""
    first, last = bisect_left(files, (prefix,)), bisect_left(files, (f"{prefix}\U0010ffff",))
    return tuple((f.path[len(prefix) :], f.size) for f in files[first:last] if f.path)


def _placed(  # noqa: PLR0913
    listing: "Folder", opens: Callable[[str], bool], root: str, named: str, called: str, real: Path | None = None
) -> list[Place]:
    """The runs of a listing; ``real`` is where it lies on this machine."""
    from rl_advisor.answers.run_places import runs_of

    out = []
    for run in runs_of(listing, opens) or ([listing] if listing.files else []):
        files = list(run.everything())
        inside = [f._replace(path=f.path[len(run.path) :].lstrip("/")) for f in files]
        key = key_of(run.name or called, inside, real / run.path if real else None)
        where = f"{root.rstrip('/')}/{run.path}" if run.path else root
        name = f"{named}{run.path}".rstrip("/") or called or root
        out.append(Place(name, where, key, max((f.changed for f in files), default=0.0), address=real is None))
    return out


def key_of(name: str, files: "Iterable[File]", where: Path | None) -> str:
    """The key of a run with these files, which lie below ``where``; of a store's files what the store says stands for their content."""
    return _digest(name, [f"{f.path}\0{f.size}\0{f.changed!r}\0{f.tag or (_tail(where, f) if where else '')}" for f in sorted(files)])


def _digest(name: str, parts: Iterable[str]) -> str:
    whole = hashlib.sha256(f"{version()}\0{name}\0".encode("utf-8", "replace"))
    for part in parts:
        whole.update(part.encode("utf-8", "replace") + b"\1")
    return whole.hexdigest()[:40]


def inner_key(key: str, name: str) -> str:
    """The key of one of several runs that lie at a place."""
    return _digest(name, [key])


def _tail(where: Path, file: "File") -> str:
    """The last bytes of a file, digested; of what no format reads, nothing."""
    from rl_advisor.reading.parsing import confined_files
    from rl_advisor.reading.run_folder import UNREAD

    if not file.size or file.path.endswith(UNREAD):
        return ""
    try:
        with confined_files.opened(where / file.path if file.path else where) as opened:
            opened.seek(max(0, file.size - TAIL))
            return hashlib.blake2b(opened.read(TAIL), digest_size=16).hexdigest()
    except OSError:
        return ""


@cache
def version() -> str:
    """The version that judges: its number, and a digest of the code and the weights, so that no change of them is missed."""
    whole, package = hashlib.sha256(), Path(__file__).parents[2]
    for path in sorted(p for p in package.rglob("*") if p.suffix in (".py", ".json", ".toml")):
        whole.update(path.read_bytes())
    return f"{__version__}-{whole.hexdigest()[:12]}"
