"""Procedures for a question: the answer, and numbered steps, each with the command that does it and what its outcome means."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain

from rl_advisor.curves.task import spoken_of
from rl_advisor.discovery import table
from rl_advisor.output import Answer

_ADDRESS = re.compile(r"\b((?:\d{1,3}\.){3}\d{1,3}|localhost|[\w-]{1,60}(?:\.[\w-]{1,60}){0,5}):(\d{4,5})\b")
_QUESTION = re.compile(r"\?|\b(?:why|how|what|which|wrong|problem|help)\b")
LONGEST = 4_000
"""Characters of a text that are looked at: a question is short, and a log is read by other means."""


@cache
def procedures() -> dict[str, Answer]:
    """Every procedure by its name, the fragments put into its words."""
    rows = {name: dict(row) for name, row in table(__file__, "procedures.toml").items() if name != "fragments"}
    for procedure in rows.values():
        procedure["words"] = [_whole(group) for group in procedure["words"]]
        procedure["not"] = _whole(procedure.get("not", "$^"))
    return rows


def _whole(words: str) -> str:
    """Words with the fragments put in."""
    fragments = table(__file__, "procedures.toml")["fragments"]
    return re.sub(r"\{([a-z_]+)\}", lambda name: str(fragments[name[1]]), words)


def asked_for(text: str, around: str = "", *, beside: bool = False, alone: bool = False) -> Answer | None:
    """The procedure that a text asks for: the first of whose groups of words all stand in it; None where there is none.

    ``around`` it stands what tells agents from language models. ``beside`` logged rows only those are heard that say what a number
    means, and to a question that stands ``alone`` the row of its subject answers where no other does. What comes back has ``title`` and
    ``steps`` of ``do``, ``run`` and ``means``.
    """
    found = _ADDRESS.search(text[:LONGEST])
    address, said = found[0] if found else "HOST:PORT", _ADDRESS.sub("server", text[:LONGEST].lower())
    control = spoken_of(said + around) == "control"
    heard = [p for p in procedures().values() if beside <= p.get("beside", False) and p.get("control", control) == control]
    asked = (p for p in heard if _stand(p["words"], said) and not re.search(p["not"], said))
    subject = (p for p in heard if alone and "otherwise" in p and _QUESTION.search(said) and _stand([p["otherwise"]], said))
    if (procedure := next(chain(asked, subject), None)) is None:
        return None
    steps = [{part: words.replace("{address}", address) for part, words in step.items()} for step in procedure["steps"]]
    return {"title": procedure["title"], "steps": steps}


def _stand(groups: Iterable[str], text: str) -> bool:
    """Whether words of every group stand in two sentences of a text that follow each other."""
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text)
    near = (" ".join(sentences[i : i + 2]) for i in range(len(sentences)))
    return any(all(re.search(rf"\b(?:{group})", two) for group in groups) for two in near)


def to_paste(text: str) -> str:
    """What would help to say more, by what a text speaks of; empty where it speaks of neither."""
    half = spoken_of(text)
    return _whole(f"{{paste_of_{half}}}") if half else ""


def in_english(text: str) -> str:
    """A text with the Chinese words of the field in English, so that one set of tables reads both; any other text as it is."""
    if re.search(r"[\u4e00-\u9fff]", text):
        for words, said in table(__file__, "chinese.toml").items():
            text = re.sub(words, f" {said} ", text)
    return re.sub(r"[\u4e00-\u9fff]+", " ", text)
