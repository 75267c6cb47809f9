"""One thread for solving while a run is judged: the equations are small, and spread over threads they cost two to four times as much."""

import threading
from contextlib import ContextDecorator
from ctypes import CDLL
from functools import cache
from pathlib import Path
from typing import Any

_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")


@cache
def _control() -> tuple[Any, Any] | None:
    """What tells and what sets the threads of the library that numpy brought; None where it brought another, whose threads stay."""
    import numpy as np

    home = Path(np.__file__).parent
    for file in (*home.parent.glob("numpy.libs/*openblas*"), *home.glob(".dylibs/*openblas*")):
        try:
            library = CDLL(str(file))  # loaded already: the same one
        except OSError:
            continue
        for name in ((p, s) for p in _PREFIXES for s in _SUFFIXES):
            told = tuple(getattr(library, f"{name[0]}_{verb}_num_threads{name[1]}", None) for verb in ("get", "set"))
            if all(told):
                return told  # type: ignore[return-value]
    return None


class OneThread(ContextDecorator):
    """While any is open, numpy solves in one thread; the last to close gives the threads back."""

    _lock = threading.Lock()
    _open, _before = 0, 1

    def __enter__(self) -> None:
        """Take the threads away, where nobody did."""
        control = _control()
        with OneThread._lock:
            if control and not OneThread._open:
                OneThread._before = control[0]()
                control[1](1)
            OneThread._open += 1

    def __exit__(self, *_: object) -> None:
        """Give them back, where nobody else judges."""
        control = _control()
        with OneThread._lock:
            OneThread._open -= 1
            if control and not OneThread._open:
                control[1](OneThread._before)
