"""How much a store may bring, how long it may take, and what was left out: a server is as little to be trusted as a folder."""

import base64
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Event, Lock
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from rl_advisor.output.errors import UsageError, install

SECONDS = 300.0
BYTES = 4 << 30
FILES = 20_000
_PIECE = 1 << 20
_LONGEST_NAME = 200
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|credential")


class Source(Protocol):
    """Anything that gives bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most ``size``; none at the end."""


@dataclass
class Bounds:
    """What may still be brought, and a count of what was not, by reason: ``size``, ``count``, ``name`` or ``failed``."""

    seconds: float = SECONDS
    size: int = BYTES
    files: int = FILES
    left_out: Counter[str] = field(default_factory=Counter)
    listed: Sequence[tuple[str, int]] = ()
    """Paths and sizes of the files there, where a store that lists them was asked already."""
    checkpoints: list[tuple[int, str]] = field(default_factory=list)
    """Step and address of checkpoints, which stay in the store."""
    stop: Event = field(default_factory=Event)
    """Set when the time is up: nothing more is to be begun."""
    _lock: Lock = field(default_factory=Lock)

    def place(self, folder: Path, relative: str) -> Path | None:
        """Where a file of that name goes below ``folder``; None, and counted, when it may not be brought."""
        parts = relative.split("/")
        odd = any(not p or p in (".", "..") or len(p) > _LONGEST_NAME or not p.isprintable() or "\\" in p or ":" in p for p in parts)
        if odd or len(parts) > 16 or self.files <= 0:
            self.left_out["name" if odd or len(parts) > 16 else "count"] += 1
            return None
        self.files -= 1
        return folder.joinpath(*parts)

    def copy(self, source: Source, target: Path, known: int | None = None) -> bool:
        """Whether all of the source was written; a file that does not fit, or was not whole when time ran out, is not left behind.

        ``known`` is the size that the store names, so that a file that will not fit does not take the place of those that do.
        """
        if known is not None and known > self.size:
            self.left_out["size"] += 1
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        used = 0
        with part.open("wb") as out:
            while not self.stop.is_set() and self._spend(len(piece := source.read(_PIECE))):
                used += out.write(piece)
                if not piece:
                    part.replace(target)
                    return True
        part.unlink()
        self._spend(-used)
        self.left_out["size"] += not self.stop.is_set()
        return False

    def _spend(self, size: int) -> bool:
        """Whether that many bytes were left; they are not any more."""
        with self._lock:
            fits = size <= self.size
            self.size -= size if fits else 0
            return fits

    def tried(self, work: Callable[[], Any]) -> None:
        """One of many files: its failure is counted and the others are still brought."""
        try:
            if not self.stop.is_set():
                work()
        except (OSError, ValueError, RuntimeError):
            self.left_out["failed"] += 1


def client(module: str, extra: str) -> Any:
    """A store's or a tracker's own client.

    Raises:
        NoSuchChoice: it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise UsageError(f"this needs the extra {extra}: {install(extra)}") from missing


def without_keys(text: str, address: str = "") -> str:
    """An address, or the words of a client's error, without what it or the environment keeps secret, and without queries, on one line."""
    for secret in _told_in(address):
        text = text.replace(secret, "***")
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    text = re.sub(r"://[^/\s@]*@", "://", text)
    return re.sub(r"\?[^\s'\"]+", "", " ".join(text.split()))[:300]


def _told_in(address: str) -> list[str]:
    """The secrets of an address in every form in which a server could send them back, the longest first."""
    split = urlsplit(address)
    pair = (unquote(split.username or ""), unquote(split.password or ""))
    if not any(pair):
        return []
    both = base64.b64encode(":".join(pair).encode()).decode()
    forms = {both, both.rstrip("="), *pair, quote(pair[1], safe=""), base64.b64encode(pair[1].encode()).decode()}
    return sorted((f for f in forms if len(f) >= 3), key=len, reverse=True)
