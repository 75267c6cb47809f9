"""A small memory of things that are slow to make: the last few are kept, and two threads never make the same one twice."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Keeps the ``size`` values used last."""

    def __init__(self, size: int) -> None:
        """Keep nothing yet."""
        self._size = size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._being_made: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, made when it is not there; what ``make`` raises is raised and not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            making = self._being_made.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    return self._kept[key]
            try:
                value = make()
            finally:
                with self._lock:
                    self._being_made.pop(key, None)
            with self._lock:
                self._kept[key] = value
                while len(self._kept) > self._size:
                    self._kept.popitem(last=False)
            return value
