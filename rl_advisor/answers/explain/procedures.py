"""Procedures for a sentence without a log: numbered steps, each with the command that does it and what its outcome means."""

import re
import tomllib
from functools import cache
from pathlib import Path

from rl_advisor.output import Answer

_ADDRESS = re.compile(r"\b((?:\d{1,3}\.){3}\d{1,3}|localhost|[\w-]{1,60}(?:\.[\w-]{1,60}){0,5}):(\d{2,5})\b")
LONGEST = 4_000
"""Characters of a text that are looked at: a question is short, and a log is read by other means."""


@cache
def procedures() -> dict[str, Answer]:
    """Every procedure by its name."""
    return tomllib.loads(Path(__file__).with_name("procedures.toml").read_text(encoding="utf-8"))


def asked_for(text: str) -> Answer | None:
    """The procedure that a text asks for: the first of whose groups of words all stand in it; None where there is none.

    What comes back has ``title`` and ``steps`` of ``do``, ``run`` and ``means``.
    """
    found = _ADDRESS.search(text[:LONGEST])
    address, said = found[0] if found else "HOST:PORT", _ADDRESS.sub("server", text[:LONGEST].lower())
    for procedure in procedures().values():
        if all(re.search(rf"\b(?:{group})", said) for group in procedure["words"]):
            steps = [{part: words.replace("{address}", address) for part, words in step.items()} for step in procedure["steps"]]
            return {"title": procedure["title"], "steps": steps}
    return None
