"""Turns of an episode: what readers write and whoever looks into episodes takes, and the turns that one text holds."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rl_advisor.features.text.phrases import tool_calls

TURN_NUMBERS = ("reward", "advantage", "logprob", "tokens", "trained", "version", "seconds", "done")
"""What a turn may be logged with: ``logprob`` is the mean of its tokens, ``trained`` their share in the loss, ``version`` the policy's."""
_WRITTEN = re.compile(r"^\[(assistant|user|tool|system|developer|unknown)\] ?", re.MULTILINE)
_TEMPLATE = re.compile(r"^(?:<\|im_start\|>)?(assistant|user|tool|system)[ \t]*$", re.MULTILINE)
_RESULT = re.compile(r"<(tool_response|information|interpreter|observation|tool_result|function_results?|output)>")
LABELS = {"user": ("Question", "Task", "Instruction"), "assistant": ("Thought", "Action", "Act", "Reason"), "tool": ("Observation", "Obs")}
"""Labels with which texts begin the lines of each speaker, numbered or not."""
_LABEL = re.compile(
    rf"^[> ]{{0,3}}({'|'.join(name for names in LABELS.values() for name in names)})(?: Input)?(?: ?\d{{1,3}})? ?:", re.MULTILINE
)
_NAMES = (re.compile(r"\"(?:name|tool|function)\"\s{0,4}:\s{0,4}\"([^\"]{1,80})\""), re.compile(r"\W{0,2}([A-Za-z_][\w.\-]{0,80})"))
"""How a call written in text says its tool: as JSON, else as its first word."""


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


def turns_in(text: str) -> tuple[Turn, ...]:
    """The turns of an episode that is one text; a text without any marks is one turn of the model.

    They are told by the marks of messages that were written out, by those of a chat template that was decoded with its roles, and by the
    marks of what tools answered.
    """
    return tuple(map(with_written_calls, _split(text)))


def spoken(text: str) -> str:
    """The model's own words: without the turns of others and without the results that tools wrote into its text."""
    return "\n".join(turn.text for turn in _split(text) if turn.role == "assistant")


def with_written_calls(turn: Turn) -> Turn:
    """The turn with the calls that its text holds, where none stand beside it."""
    if turn.role != "assistant" or turn.calls:
        return turn
    return turn._replace(calls=tuple((_name(body), body) for body, _ in tool_calls(turn.text)))


def _split(text: str) -> Iterator[Turn]:
    if text.startswith("[assistant]"):
        parts = _by_role(text, _WRITTEN)
    elif "Observation" in text and len(marks := list(_LABEL.finditer(text))) > 1:
        yield from _by_label(text, marks)
        return
    elif "<tool_response>" in text or "<|im_start|>" in text:
        parts = _by_role(f"assistant\n{text}", _TEMPLATE)
    else:
        parts = iter([("assistant", text)])
    for role, part in parts:
        yield from _results_apart(part) if role == "assistant" else [Turn(role, part.strip())]


def _name(body: str) -> str:
    found = _NAMES[0].search(body) or _NAMES[1].match(body)
    return found[1] if found else ""


def _by_role(text: str, mark: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    marks = list(mark.finditer(text))
    ends = [*(m.start() for m in marks[1:]), len(text)]
    for m, end in zip(marks, ends, strict=True):
        yield m[1], text[m.end() : end].strip()


def _by_label(text: str, marks: list[re.Match[str]]) -> Iterator[Turn]:
    """The turns of a text whose lines begin with labels: what one speaker says until another one does is one turn."""
    who = {name: role for role, names in LABELS.items() for name in names}
    roles = [who[m[1]] for m in marks]
    starts = [i for i, role in enumerate(roles) if not i or role != roles[i - 1]]
    if before := text[: marks[0].start()].strip():
        yield Turn("user", before)
    for i, end in zip(starts, [*starts[1:], len(marks)], strict=True):
        part = text[marks[i].start() if roles[i] == "assistant" else marks[i].end() : marks[end].start() if end < len(marks) else len(text)]
        yield Turn(roles[i], part.strip())


def _results_apart(text: str) -> Iterator[Turn]:
    """What the model said and what stands between the marks of a tool's result; a mark that is never closed is part of the text."""
    at, never = 0, set[str]()
    for found in _RESULT.finditer(text) if "<" in text else ():
        if found.start() < at or found[1] in never:
            continue
        end = text.find(f"</{found[1]}>", found.end())
        if end < 0:
            never.add(found[1])
            continue
        if said := text[at : found.start()].strip():
            yield Turn("assistant", said)
        yield Turn("tool", text[found.end() : end].strip())
        at = end + len(found[1]) + 3
    if not at or text[at:].strip():
        yield Turn("assistant", text[at:].strip() if at else text)
