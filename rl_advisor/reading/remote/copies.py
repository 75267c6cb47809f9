"""An address becomes a folder on this machine: found in the registry of stores, fetched within bounds, kept for a few minutes."""

import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from rl_advisor.discovery import modules
from rl_advisor.output.errors import UnreadableRun, UsageError
from rl_advisor.reading.formats.fetched import NOTE
from rl_advisor.reading.remote.bounds import Bounds, without_keys
from rl_advisor.reading.remote.listing import Listing

FRESH_S = 300.0
"""Seconds for which a copy answers for the store."""
KEPT = 4
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
_REFUSED = re.compile(r"\b(?:40[137]|forbidden|unauthori[sz]ed|access ?denied|permission|credentials?|api[ _]key)\b", re.IGNORECASE)
_NOT_FOUND = 404
_copies: "OrderedDict[str, tuple[float, tempfile.TemporaryDirectory[str], Path]]" = OrderedDict()
_one_at_a_time = threading.Lock()


def is_address(run: object) -> bool:
    """Whether it is text that names a store; a ``Path`` never is."""
    return isinstance(run, str) and _ADDRESS.match(run) is not None


def local_copy(address: str) -> Path:
    """The folder with the run at that address, fetched when it was not a few minutes ago; it goes away with this process.

    Raises what ``fetch`` raises.
    """
    with _one_at_a_time:
        known = _copies.get(address)
        if known is not None and time.monotonic() - known[0] < FRESH_S:
            return known[2]
        _swept()
        room = tempfile.TemporaryDirectory(prefix=f"rl-advisor-{os.getpid()}-")
        folder = Path(room.name) / named(address)
        try:
            fetch(address, folder)
        except BaseException:
            room.cleanup()
            raise
        _copies[address] = (time.monotonic(), room, folder)
        _copies.move_to_end(address)
        while len(_copies) > KEPT:
            _copies.popitem(last=False)[1][1].cleanup()
        return folder


def _swept() -> None:
    """Remove what processes of this user left behind that were killed."""
    for room in Path(tempfile.gettempdir()).glob("rl-advisor-*-*"):
        number = room.name.split("-")[2]
        with suppress(OSError):
            ours = not room.is_symlink() and room.stat().st_uid == os.getuid() if hasattr(os, "getuid") else False
            if ours and number.isdecimal() and not _lives(int(number)):
                shutil.rmtree(room, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def fetch(address: str, folder: Path, bounds: Bounds | None = None) -> Bounds:
    """Bring the run at that address into a new folder; what was left out stands in the bounds, and in a note beside the files.

    Raises:
        NoSuchChoice: no store has such addresses, or the client for it is not installed.
        FileNotFoundError: the store answers that there is no such run.
        UnreadableRun: the store could not be reached, refused the key, or did not answer in time.
    """
    bounds = bounds or Bounds()
    store = _store(address)
    folder.mkdir(parents=True)
    try:
        late = _in_time(lambda: store.fetch(address, folder, bounds), address, bounds)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if not any(p.is_file() and p.suffix != ".part" for p in folder.rglob("*")):
        shutil.rmtree(folder, ignore_errors=True)
        left = f" ({bounds.left_out.total()} files were left out)" if bounds.left_out else ""
        why = f"did not answer within {bounds.seconds:g} s" if late else f"holds nothing that is read here{left}"
        raise UnreadableRun(f"{without_keys(address)} {why}")
    note = {"left_out": +bounds.left_out, "late": late, "checkpoints": bounds.checkpoints}
    if any(note.values()):  # so that every later reader of the copy is told
        (folder / NOTE).write_text(json.dumps(note))
    return bounds


def _in_time(work: Callable[[], Any], address: str, bounds: Bounds) -> bool:
    """Whether time ran out before the work was done; raises its failure, as one that a caller knows."""
    failures: list[BaseException] = []

    def tried() -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - a store's client may raise anything, and it is told below
            failures.append(failure)

    worker = threading.Thread(target=tried, daemon=True)
    worker.start()
    worker.join(bounds.seconds)
    late = worker.is_alive()
    bounds.stop.set()
    if failures:
        raise _told(failures[0], address)
    return late


def listed(address: str, bounds: Bounds | None = None) -> Listing:
    """What a store says lies below an address: its runs, or files; raises what ``fetch`` raises."""
    bounds, found = bounds or Bounds(), Listing()
    store = _store(address)
    if not hasattr(store, "listed"):
        raise UsageError(f"{without_keys(address)} names a store that cannot be asked what runs it holds; name its runs one by one")
    if _in_time(lambda: store.listed(address, found, bounds), address, bounds):
        raise UnreadableRun(f"{without_keys(address)} did not say within {bounds.seconds:g} s what lies there")
    return found


def _store(address: str) -> ModuleType:
    stores = sorted(modules("rl_advisor.reading.remote.stores", "ADDRESSES", "claims", "fetch"), key=lambda m: getattr(m, "GENERAL", False))
    found = next((store for store in stores if store.claims(address)), None)
    if found is None:
        known = ", ".join(a for store in stores for a in store.ADDRESSES)
        raise UsageError(f"no store has addresses like {without_keys(address)}; there are {known}")
    return found


def _told(failure: BaseException, address: str) -> BaseException:
    """The failure as one that a caller knows, without keys."""
    if isinstance(failure, UsageError | UnreadableRun | KeyboardInterrupt):
        return failure
    cause = failure.__cause__ if isinstance(failure, FileNotFoundError) else None
    if cause is not None and getattr(cause, "status", None) != _NOT_FOUND and not isinstance(cause, FileNotFoundError):
        failure = cause  # a web client calls everything "not found", also a server that is not there
    text = without_keys(str(failure), address) or type(failure).__name__
    if isinstance(failure, FileNotFoundError) or getattr(failure, "status", None) == _NOT_FOUND:
        return FileNotFoundError(f"there is no run at {without_keys(address)}")
    if isinstance(failure, PermissionError) or _REFUSED.search(f"{type(failure).__name__} {text}"):
        return UnreadableRun(f"{without_keys(address)} refused the credentials, or none were found: {text}")
    return UnreadableRun(f"{without_keys(address)} could not be read: {text}")


def named(address: str) -> str:
    """The last part of the address, as the run's name."""
    split = urlsplit(address)
    parts = [p for p in unquote(f"{split.netloc.rpartition('@')[2]}/{split.path}/{split.fragment}").split("/") if p not in ("", ".", "..")]
    return re.sub(r"[^\w.@=-]+", "_", parts[-1])[:80] if parts else "run"
