"""A small memory of things that are slow to make: the last few are kept, and two threads never make the same one twice."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Keeps the ``size`` values used last; one is made at a time."""

    def __init__(self, size: int) -> None:
        """Keep nothing yet."""
        self._size, self._kept, self._lock = size, dict[Hashable, T](), RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, made when it is not there; what ``make`` raises is raised and not kept."""
        with self._lock:
            value = self._kept.pop(key) if key in self._kept else make()
            self._kept[key] = value
            while len(self._kept) > self._size:
                del self._kept[next(iter(self._kept))]
            return value
