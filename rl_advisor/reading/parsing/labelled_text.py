"""Episodes that a text writes one after another: told by numbered headings, by what was asked, or by the marks of who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from rl_advisor.features.text.turns import is_episode, turns_in
from rl_advisor.reading.parsing.sample_names import BESIDE

_NUMBERED = re.compile(
    r"^.{0,50}?\b(?:episode|trial|task|sample|game|run|rollout|trajectory|instance|example)\W{0,3}(\d{1,9})\b", re.MULTILINE | re.IGNORECASE
)
_ASKED = re.compile(r"^(?:Question|Task|Instruction|Problem)(?: ?\d+)? ?:", re.MULTILINE)
_OPENS = re.compile(r"\s{0,40}(?:\[(?:assistant|user|system)\]|<\|im_start\|>|[#* ]{0,4}[A-Z][a-z]{2,12}(?: ?\d+)? ?:|# )")
"""A speaker's mark or a heading with which a text begins."""
_TOLD = re.compile(
    r"(?:^[-*#\s\[]{0,6}|\s)([A-Za-z][\w]{1,30}(?: [a-z]{2,15})?)(?:: |=)(\S.{0,400}?)(?=\s\w{2,30}=|$)|\b(ERROR|Exception):? (.{1,400})$",
    re.MULTILINE,
)

_AT_ONCE = 300
"""Characters within which the first heading stands: a log that shows samples among its rows begins with something else."""


def labelled(text: str) -> Iterator[dict[str, Any]]:
    """The episodes of a text with what it tells of each; a log that shows a sample among its rows has none."""
    for start, end in pairwise(_starts(text)):
        turns = turns_in(text[start:end])
        if not is_episode(turns):
            continue
        told = dict(_told(text[start:end]))
        *before, last = turns
        body = last.text.splitlines()
        while body and (not body[-1].strip() or (" " in body[-1] and any(_told(body[-1])))):  # what tells of the end is nobody's words
            body.pop()
        yield {**told, "response": (*before, last._replace(text="\n".join(body))) if body or last.calls else tuple(before)}


def _told(text: str) -> Iterator[tuple[str, str]]:
    for m in _TOLD.finditer(text):
        name = (m[1] or "error").lower().replace(" ", "_")
        if BESIDE["told"].search(name):
            yield name, m[2] or m[4]


def _starts(text: str) -> list[int]:
    """Where episodes begin, and the end of the text; nothing of one that does not begin as an episode does."""
    numbered = list(_NUMBERED.finditer(text))
    headed = [m.start() for i, m in enumerate(numbered) if not i or m[1] != numbered[i - 1][1]]
    asked = [m.start() for m in _ASKED.finditer(text)]
    if len(headed) > max(1, len(asked)) and headed[0] < _AT_ONCE:
        return [*headed, len(text)]
    return [*(asked or [0]), len(text)] if asked or _OPENS.match(text) else []
