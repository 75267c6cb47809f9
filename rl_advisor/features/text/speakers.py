"""Who or what a name speaks of, by its words: the model, what it did, what came back, who asked; of keys, types, roles and labels."""

import re
import tomllib
from functools import cache
from pathlib import Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MINE = "assistant"
WHO = {"said": _MINE, "thought": _MINE, "done": _MINE, "seen": "tool", "name": "tool", "asked": "user", "system": "system"}
"""What a name says of what stands under it -> who speaks there."""

_BARELY = frozenset({"tool", "function"})
"""What decides only where no other word does: ``tool_call`` is the model's, ``tool_output`` is not."""


@cache
def _says() -> tuple[dict[str, str], dict[str, str]]:
    held = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    strong, weak = ({word.rstrip("s"): part for part, words in held[how].items() for word in words} for how in ("strong", "weak"))
    return strong, weak


_VERDICTS = {
    word: float(yes)
    for yes, words in (
        (0, "false no incorrect wrong fail failed failure failing lost error unsolved unresolved unsuccessful rejected crashed"),
        (0, "death dead died ongoing unfinished"),
        (1, "true yes correct right pass passed success successful succeeded win won solved resolved accepted"),
    )
    for word in words.split()
}


def verdict(value: object) -> float:
    """1 for a value that says success, 0 for one that says failure (a flag, or a few words: ``task_failure_safe``), else NaN."""
    if isinstance(value, bool):
        return float(value)
    said = re.findall("[a-z]+", value.lower()) if isinstance(value, str) and len(value) <= 40 else []
    told = [_VERDICTS[word] for word in said if word in _VERDICTS and (len(word) > 3 or len(said) == 1)]
    return min(told) * ("not" not in said) if told and len(said) < 6 else float("nan")


@cache
def part_of(name: str) -> str:
    """What a name says of what stands under it, by its last word that decides: said, thought, done, seen, asked, args, name, who, text ...

    A word that is weak (``output``, ``input``, ``response``) says what the one before it does, be it the model's or a tool's.
    """
    strong, weak = _says()
    words = [word.lower().rstrip("s") for word in reversed(_WORD.findall(name[-80:]))]
    found = next((strong[word] for word in words if word in strong and word not in _BARELY), "")
    if not found and {*words} & _BARELY and words[0] in {**strong, **weak}:
        found = "seen"
    loose = [weak[word] for word in words if word in weak and not (word in strong and len(words) > 1)]
    loose = [part for part in loose if part != "text"] or loose
    if not loose or (words[0] in strong and len(words) > 1):
        return found
    if loose[0] in ("name", "who"):
        return loose[0]
    if loose[0] == "asked" and found:  # what goes into a model was asked, what goes into a tool are its arguments
        return "args" if found in ("done", "seen") else "asked"
    return "seen" if found == "done" and loose[0] == "seen" else found or loose[0]


@cache
def role_of(name: str) -> str:
    """Who speaks under a name or a type, in our words; '' where no word of it tells."""
    weak = _says()[1]
    told = [word for word in _WORD.findall(name[-80:]) if weak.get(word.lower().rstrip("s")) != "who"]
    return WHO.get(part_of(" ".join(told)), "")


def decides(name: str) -> bool:
    """Whether a word of a name decides by itself who speaks, whatever it stands in."""
    return any(word.lower().rstrip("s") in _says()[0] for word in _WORD.findall(name[-80:]))
