"""Procedures for a question: the answer, and numbered steps, each with the command that does it and what its outcome means."""

import math
import re
from collections.abc import Sequence
from functools import cache
from operator import itemgetter

from rl_advisor.curves.task import spoken_of
from rl_advisor.discovery import table
from rl_advisor.output import Answer

_ADDRESS = re.compile(r"\b((?:\d{1,3}\.){3}\d{1,3}|localhost|[\w-]{1,60}(?:\.[\w-]{1,60}){0,5}):(\d{4,5})\b")
LONGEST = 4_000
"""Characters of a text that are looked at: a question is short, and a log is read by other means."""
ENOUGH, NEAR = 4.0, 1.0
"""Bits from which a procedure answers, and within which of the heaviest another is named beside it."""


@cache
def procedures() -> dict[str, Answer]:
    """Every procedure by its name, with the ``ways`` in which it is asked for; the fragments put into its words."""
    rows = {name: dict(row) for name, row in table(__file__, "procedures.toml").items() if name != "fragments"}
    for procedure in rows.values():
        procedure["ways"] = [[_whole(group) for group in way] for way in (procedure["words"], *procedure.get("or", ()))]
        procedure["not"] = _whole(procedure.get("not", "$^"))
    return rows


def _whole(words: str) -> str:
    """Words with the fragments put in."""
    fragments = table(__file__, "procedures.toml")["fragments"]
    return re.sub(r"\{([a-z_]+)\}", lambda name: _whole(fragments[name[1]]), words)


def asked_for(text: str, around: str = "", *, beside: bool = False) -> Answer | None:
    """The procedure that a text asks for: the heaviest of which all groups of one way stand in it; None where none weighs enough.

    ``around`` it stands what tells agents from language models. ``beside`` logged rows only those are heard that say what a number
    means. What comes back has ``title`` (with what is nearly as likely) and ``steps`` of ``do``, ``run`` and ``means``.
    """
    found = _ADDRESS.search(text[:LONGEST])
    said = _ADDRESS.sub("server", text[:LONGEST].lower())
    half, weighed = spoken_of(said + around), []
    for p in procedures().values():
        agents = p.get("control", half == "control")  # a guess where nothing tells them from language models
        if beside <= p.get("beside", False) and (not half or agents == (half == "control")) and not re.search(p["not"], said):
            weighed.append((max(_weight(way, said) for way in p["ways"]) - (agents and not half), p))
    weighed.sort(key=itemgetter(0), reverse=True)
    answers = [p for weight, p in weighed if weight >= max(ENOUGH, weighed[0][0] - NEAR)]
    if not answers:
        return None
    address = found[0] if found else "HOST:PORT"
    steps = [{part: words.replace("{address}", address) for part, words in step.items()} for step in answers[0]["steps"]]
    near = [re.split(r"[:;,.] ", row["title"])[0] for row in answers[1:2]]
    return {"title": ". Nearly as likely: ".join([answers[0]["title"], *near]), "steps": steps}


def _weight(groups: Sequence[str], text: str) -> float:
    """How much a text says for a row, in bits: how rare its words are, less the number of places in which they might have stood by chance.

    Words of every group must stand in two sentences that follow each other. What is asked, and what comes first, is looked at first.
    """
    every = re.split(r"(?<=[.!?])\s+|\n+", text)
    sentences = [s for s in every if len(s.split()) > 2] or every
    near = [" ".join(sentences[i : i + 2]) for i in range(len(sentences))]
    ranked = [*enumerate(near, 1), *enumerate((two for two in near if "?" in two), 1)]
    place = min((at for at, two in ranked if _stand(groups, two)), default=0)
    return sum(map(_rare, groups)) - math.log2(place) if place else 0.0


def _stand(groups: Sequence[str], text: str) -> bool:
    return all(re.search(rf"\b(?:{group})", text) for group in groups)


@cache
def _rare(group: str) -> float:
    """How rarely a group of words is spoken of, in bits: by the share of all procedures in whose words it stands."""
    pages = [" ".join([p["title"], *(step["do"] for step in p["steps"])]).lower() for p in procedures().values()]
    return math.log2((1 + len(pages)) / (1 + sum(_stand([group], page) for page in pages)))


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
