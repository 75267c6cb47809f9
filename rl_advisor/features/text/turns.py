"""Turns of an episode: what readers write and whoever looks into episodes takes, and the turns that one text holds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rl_advisor.features.text.phrases import tool_calls
from rl_advisor.features.text.speakers import decides, part_of, role_of

TURN_NUMBERS = ("reward", "advantage", "logprob", "tokens", "trained", "version", "seconds", "done")
"""What a turn may be logged with: ``logprob`` is the mean of its tokens, ``trained`` their share in the loss, ``version`` the policy's."""
_MARKS = (
    re.compile(
        r"<[|\uff5c](?P<token>[\w\u2581]{1,40})[|\uff5c]>"
        r"(?:(?P<name>[A-Za-z_]{1,20})(?:<[|]end_header_id[|]>|(?=[ \t]{0,8}[\n<])))?|<start_of_turn>(?P<turn>\w{1,20})"
    ),
    re.compile(
        r"^(?P<open>(?:\d[\d:.,TZ -]{0,30})?(?:[A-Z]{4,8} )?[>#*\[(=| -]{0,6})"
        r"(?P<name>[A-Za-z][A-Za-z_]{0,20}(?: [A-Za-z]{1,12}){0,2}?)(?: ?#?\d{1,3})?"
        r"(?P<close>[\])*|]{0,3}[:\uff1a][*]{0,2}|\](?= )|[ *#]{0,4}$)",
        re.MULTILINE,
    ),
)
"""What a speaker's part begins with: a special token of a chat template with a role in it or behind it; a label at the head of a line."""
_TEMPLATE = re.compile(r"^(assistant|user|tool|system)[ \t]*$", re.MULTILINE)
_TAG = re.compile(
    r"[<\[](?P<name>tool_response|information|interpreter|observation|env(?:ironment)?|feedback|tool_results?|function_results?|output|"
    r"user|human|inst|stdout|execution_results?)(?: [^<>\[\]\n]{0,80})?[>\]]",
    re.IGNORECASE,
)
"""Marks of what others say, with an end."""
_STOPS = re.compile(
    r"(?:\s{0,8}<(?:[|\uff5c][\w\u2581]{0,20}(?:im_end|eot|eom|eos|end[_\u2581]of)[\w\u2581]{0,20}[|\uff5c]|end_of_turn|/s)>){1,9}\s{0,8}\Z"
)
_PROMPTED = re.compile(r"^> ?(?P<name>[a-z][^\n]{0,400})$", re.MULTILINE)
"""What is typed at a prompt; what stands between is the answer."""
_FEWEST = 3
_BARE_CALL = re.compile(
    r"(?:^|\n)\W{0,5}(?:\w{1,20} )?(?:(?:tool|action|function)\w{0,9} ?: ?)?([A-Za-z_][\w.]{1,60})"
    r"(?:\n\W{0,4}(?:\w{1,20} )?(?:input|arg\w{0,9}|param\w{0,9}) ?:\s{0,4}|[(\[])"
    r"(.{0,4000}?)\s{0,4}(?:```)?\s{0,4}\Z",
    re.DOTALL | re.IGNORECASE,
)
"""A call that stands alone at the end: ``name(arguments)``, or a tool's name and its input in lines of their own."""
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


def is_episode(turns: tuple[Turn, ...]) -> bool:
    """Whether the model speaks or acts, and something else is heard."""
    return len({turn.role == "assistant" for turn in turns}) > 1 and any(t.text.strip() or t.calls for t in turns if t.role == "assistant")


def turns_in(text: str) -> tuple[Turn, ...]:
    """The turns of an episode that is one text; a text without any marks is one turn of the model.

    They are told by the marks of messages that were written out, by those of a chat template that was decoded with its roles, by labels and
    by the marks of what tools answered. What the model says before it is answered may be a call.
    """
    return with_calls(list(_split(text)))


def with_calls(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the calls that the model's words hold, of which those before an answer may end with a bare one."""
    answered = [after.role != "assistant" for after in turns[1:]] + [False] * bool(turns)
    return tuple(_with_written_calls(turn, answered=was) for turn, was in zip(turns, answered, strict=True))


def spoken(text: str) -> str:
    """The model's own words: without the turns of others and without the results that tools wrote into its text."""
    return "\n".join(turn.text for turn in _split(text) if turn.role == "assistant")


def _with_written_calls(turn: Turn, *, answered: bool) -> Turn:
    """The turn with the calls that its text holds, where none stand beside it; one that is ``answered`` may end with a bare one."""
    if turn.role != "assistant" or turn.calls:
        return turn
    calls = tuple((_name(body), body) for body, _ in tool_calls(turn.text))
    if not calls and answered and (bare := _BARE_CALL.search(turn.text[-4_000:])):
        calls = ((bare[1], bare[2].strip(")]")),)
    elif not calls and answered and (at := turn.text.find('{"')) >= 0 and (found := _NAMES[0].search(turn.text, at)):
        calls = ((found[1], turn.text[at:]),)
    return turn._replace(calls=calls)


def _split(text: str) -> Iterator[Turn]:
    marks = _marks_in(text)
    if not marks and text.count("\n> ") >= _FEWEST:
        marks = list(_typed(text))
    if not marks and "<tool_response>" in text:
        marks = [(m[1], m.start(), m.end(), False) for m in _TEMPLATE.finditer(text)]
    if marks:
        before = text[: marks[0][1]]
        asked = marks[0][0] == "assistant" and marks[0][3] and text[marks[0][1]] != "<"
        parts = [("user" if asked else "assistant", before)] if before.strip() else []
        ends = [*(start for _, start, *_ in marks[1:]), len(text)]
        parts += [(role, text[start if labelled else at : end]) for (role, start, at, labelled), end in zip(marks, ends, strict=True)]
    else:
        parts = [("assistant", text)]
    for role, part in _joined(parts):
        said = _STOPS.sub("", part)
        yield from _results_apart(said.strip() if marks else said) if role == "assistant" else [Turn(role, said.strip())]


def _joined(parts: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What one speaker says until another one does, in one piece."""
    for role, some in groupby(parts, key=itemgetter(0)):
        whole = "".join(part for _, part in some)
        if whole.strip():
            yield role, whole


def _marks_in(text: str) -> list[tuple[str, int, int, bool]]:
    """Who speaks from where: role, where the mark begins and ends, and whether it is a label that belongs to what the model said.

    Of each way to mark speakers the first that tells several apart.
    """
    for form in _MARKS:
        found = []
        for m in form.finditer(text) if ("<" in text if form is _MARKS[0] else True) else ():
            named = m.groupdict()
            name, token = named["name"] or named.get("turn") or "", named.get("token") or ""
            heading = "#" in (named.get("open") or "")
            if form is not _MARKS[0] and not (heading or named["close"].strip("*# ")):
                continue
            role = role_of(token) if token and decides(token) else ""
            if role and token.endswith("end"):
                role = "assistant"
            elif not role and (decides(name) or heading or name in ("Task", "model")):
                role = role_of(name)
            label = form is _MARKS[0] or named["close"].startswith("]") or name.lower() not in _NO_LABELS
            if role and label and "sep" not in token:
                own = part_of(name) in ("done", "thought") or name.startswith("Thought")
                found.append((role, m.start(), m.end(), role == "assistant" and (own if form is not _MARKS[0] else "call" in token)))
        roles = [role for role, *_ in found]
        sure = (
            form is _MARKS[0]
            or (found and found[0][1] == 0)
            or (len(found) >= _FEWEST and ("tool" in roles or not text[: found[0][1]].strip()))
        )
        if "assistant" in roles and len({*roles}) > 1 and sure:
            return found
    return []


_NO_LABELS = frozenset({"function", "tool", "functions", "tools", "use", "say", "got", "why", "goal", "problem", "me", "act", "ai"})
"""Words that begin a line for other reasons as well, unless they stand in brackets."""


def _typed(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """What is typed at a prompt and what is answered, line by line."""
    for m in _PROMPTED.finditer(text):
        yield "assistant", m.start() + 1, m.start() + 1, False
        yield "tool", m.end(), m.end(), False


def _name(body: str) -> str:
    found = _NAMES[0].search(body) or _NAMES[1].match(body)
    return found[1] if found else ""


def _results_apart(text: str) -> Iterator[Turn]:
    """What the model said and what stands between the marks of others' words; a mark that is never closed is part of the text."""
    at, never = 0, set[str]()
    for found in _TAG.finditer(text) if "<" in text or "[" in text else ():
        if found.start() < at or found["name"] in never:
            continue
        close = f"{found[0][0]}/{found['name']}{'>' if found[0][0] == '<' else ']'}"
        end = text.find(close, found.end())
        if end < 0:
            never.add(found["name"])
            continue
        if said := text[at : found.start()].strip():
            yield Turn("assistant", said)
        yield Turn("user" if found["name"].lower() in ("user", "human", "inst") else "tool", text[found.end() : end].strip())
        at = end + len(close)
    if not at or text[at:].strip():
        yield Turn("assistant", text[at:].strip() if at else text)
