"""Whose turn it is when more is asked than the machine bears: what has taken least goes first, and of equals the newest.

Nobody waits behind a call that takes long. While all places are taken, a call that has had its time (one second at first, four and
sixteen when it is begun again) gives its place to one that has had less, and is begun again later.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

T = TypeVar("T")
PLACES = 4
PATIENCE_S = (1.0, 4.0, 16.0)
"""For how long a call may keep its place while others wait who were begun that often."""
_LOOK_AGAIN_S = 0.1


class Interrupted(Exception):  # noqa: N818 - it names what happened
    """The call gave its place to another; it may be begun again."""


class Busy(Exception):  # noqa: N818 - it names what happened
    """It was begun as often as it may be, and others who take less time always waited."""


@dataclass(eq=False)
class Slot:
    """One call that waits or works."""

    begun: int = 0
    since: float = 0.0
    over: bool = False
    may_begin: anyio.Event = field(default_factory=anyio.Event)

    def go_on(self) -> None:
        """Nothing, or ``Interrupted``; asked from the thread that works."""
        if self.over:
            raise Interrupted


class Scheduler:
    """Gives a few calls at a time a place to work in."""

    def __init__(self, places: int = PLACES) -> None:
        """All places are free."""
        self._places = places
        self._working: list[Slot] = []
        self._waiting: list[Slot] = []

    async def taken(self, work: Callable[[Slot], Awaitable[T]]) -> T:
        """What ``work`` gives, begun when there is a place for it, and again when it was interrupted.

        Raises:
            Busy: it was interrupted as often as it was begun.
        """
        turn = Slot()
        for turn.begun in range(len(PATIENCE_S)):
            await self._place(turn)
            try:
                return await work(turn)
            except Interrupted:
                continue
            finally:
                self._working.remove(turn)
                self._next()
        raise Busy

    async def _place(self, turn: Slot) -> None:
        turn.may_begin, turn.over = anyio.Event(), False
        self._waiting.append(turn)
        try:
            self._next()
            while not turn.may_begin.is_set():
                self._make_room(turn)
                with anyio.move_on_after(_LOOK_AGAIN_S):
                    await turn.may_begin.wait()
        except BaseException:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._working.remove(turn)
                self._next()
            raise

    def _next(self) -> None:
        """Give free places to who has been begun least often, the newest first."""
        while self._waiting and len(self._working) < self._places:
            turn = min(reversed(self._waiting), key=lambda t: t.begun)
            self._waiting.remove(turn)
            self._working.append(turn)
            turn.since = time.monotonic()
            turn.may_begin.set()

    def _make_room(self, waiting: Slot) -> None:
        """Interrupt the call that has had most time, when that is more than it may have while such a one waits; one at a time."""
        if any(t.over for t in self._working) or not self._working:
            return
        longest = min(self._working, key=lambda t: t.since)
        if time.monotonic() - longest.since > PATIENCE_S[waiting.begun]:
            longest.over = True
