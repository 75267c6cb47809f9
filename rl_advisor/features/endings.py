"""How texts end: does one stop in the middle, and do lengths pile up at a cap that cuts them."""

import re

import numpy as np

from rl_advisor.features.series import Bools, Floats

_END = re.compile(r"(?:[.!?:\u3002\uff01\uff1f\u061f\u0964\u2026)\]}\"'`\u201d\u00bb$*]|</[\w|]{1,30}>|<\|[\w|]{1,30}\|>|```|\d)\s*$")
_ROUND = 64
"""A cap on the length is nearly always a multiple of this; few natural lengths are."""
_FEWEST = 8


def is_open(text: str) -> bool:
    """Whether a text ends in the middle of a sentence, or with a code fence that was never closed. An empty one does not."""
    tail = text.rstrip()[-200:]
    return bool(tail) and (_END.search(tail) is None or text.count("```") % 2 == 1)


def pile_up(length: Floats, unfinished: Bools, told: float | None = None) -> float | None:
    """The length at which responses pile up because they are cut there; None where nothing shows such a cap.

    A pile is a fiftieth of the responses or more, and eight, at exactly the greatest length, ten times as many as at lengths just below.
    Answers of naturally equal length pile up as well, so one of three must say that it is a cap: it is the configured limit ``told``, it is
    a round number, or those in the pile end in the middle far more often than the shorter ones. Give different texts only.
    """
    known = np.isfinite(length)
    length, unfinished = length[known], unfinished[known]
    if length.size < 4 * _FEWEST:
        return None
    top = float(length.max())
    at = length == top
    near = int(((length > 0.9 * top) & ~at).sum())
    if at.sum() < max(_FEWEST, 0.02 * length.size, 10 * near / max(0.1 * top, 1.0)):
        return None
    if told is not None:
        return top if top == told else None
    inside, outside = float(unfinished[at].mean()), float(unfinished[~at].mean()) if not at.all() else 0.0
    others = (~at).sum() >= _FEWEST
    is_round = top >= 2 * _ROUND and top % _ROUND == 0 and inside >= outside and (others or inside > 0.5)
    return top if is_round or (others and inside > 0.5 and outside < 0.5 * inside) else None
