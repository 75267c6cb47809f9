"""A turn of an episode: what readers write and whoever looks into episodes takes."""

from collections.abc import Mapping
from typing import NamedTuple

TURN_NUMBERS = ("reward", "advantage", "logprob", "tokens", "trained", "version", "seconds", "done")
"""What a turn may be logged with: ``logprob`` is the mean of its tokens, ``trained`` their share in the loss, ``version`` the policy's."""


class Turn(NamedTuple):
    """One turn of an episode: what the model, a tool, a user or the environment said. ``text`` and ``calls`` are untrusted."""

    role: str
    """assistant (the model), tool (results, observations), user, system, or what the file calls it."""
    text: str
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments of each tool call; for control the action."""
    failed: bool = False
    """Whether the file itself marks it as an error."""
    stop: str = ""
    """Why the model stopped speaking, where logged."""
    numbers: Mapping[str, float] = {}
    """What was logged with it, by TURN_NUMBERS."""
