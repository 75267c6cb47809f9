"""Whose turn it is when more is asked than the machine bears: what has taken least goes first, and of equals the newest.

Nobody waits behind a call that takes long. While all places are taken, a call gives its place to one that came later and was not begun
yet, and after its time (one second of a processor at first, four and sixteen when it is begun again) to any that had less. It is begun
again later.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from rl_advisor.tools.workers.pool import STEPS_S

T = TypeVar("T")
PLACES = 4
PATIENCE_S = STEPS_S
"""Seconds of processor time for which a call may keep its place while others wait who were begun that often."""
LONGEST_S = 240.0
"""After which a call is begun no more, also when it never had its time."""
_LOOK_AGAIN_S = 0.05
"""Between two looks for a place."""


class Interrupted(Exception):  # noqa: N818 - it names what happened
    """The call gave its place to another; it may be begun again."""


class Busy(Exception):  # noqa: N818 - it names what happened
    """It was begun as often as it may be, and others who take less time always waited."""


@dataclass(eq=False)
class Slot:
    """One call that waits or works."""

    came: float = field(default_factory=time.monotonic)
    """When it was asked for."""
    begun: int = 0
    """How often it was begun and had its time."""
    taken: float = 0.0
    """Seconds of processor time since it was begun."""
    over: bool = False

    def go_on(self, seconds: float) -> None:
        """Nothing, or ``Interrupted``; told from the thread that works, with the processor time since it was begun."""
        self.taken = seconds
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
            Busy: it was interrupted as often as it may be begun.
        """
        turn = Slot()
        while turn.begun < len(PATIENCE_S) and time.monotonic() - turn.came < LONGEST_S:
            await self._placed(turn)
            try:
                return await work(turn)
            except Interrupted:
                turn.begun += turn.taken > PATIENCE_S[turn.begun]
            finally:
                self._working.remove(turn)
        raise Busy

    async def _placed(self, turn: Slot) -> None:
        """Come back with a place, given to who was begun least often, the newest first; one that is being left counts as free."""
        turn.over, turn.taken = False, 0.0
        self._waiting.append(turn)
        try:
            while not self._may_begin(turn):  # noqa: ASYNC110 - what is looked at changes in threads, too
                await anyio.sleep(_LOOK_AGAIN_S)
        finally:
            self._waiting.remove(turn)
        self._working.append(turn)

    def _may_begin(self, turn: Slot) -> bool:
        """Whether there is a place for it, the first of those that wait; else of those that yield who has taken most gives way."""
        staying = [t for t in self._working if not t.over]
        if turn is not min(self._waiting, key=lambda t: (t.begun, -t.came)):
            return False
        if len(staying) < self._places:
            return True
        yielding = [t for t in staying if (not turn.begun and turn.came > t.came) or t.taken > PATIENCE_S[turn.begun]]
        if yielding and len(staying) == len(self._working):  # one at a time
            max(yielding, key=lambda t: t.taken).over = True
        return False
