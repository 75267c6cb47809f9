"""The turns of an episode in whatever a writer nests: one reading of any value, told by who speaks and by the words of names.

Messages, content blocks, steps with what they brought, events, spans of a trace, trees and lists side by side are all mappings in which a
value says who acts, or in which every key says it of what stands under it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from rl_advisor.features.text.speakers import WHO, decides, part_of, role_of
from rl_advisor.features.text.turns import Turn
from rl_advisor.reading.parsing.cells import first
from rl_advisor.reading.parsing.nested_values import OPENS, as_json, call_of, items, mapping, mappings, parsed, shorten, turn_numbers

_DEEPEST, _STATE, ROLE = 120, 2_000, 60
"""How deep turns are followed, characters kept of an observation that is no text, and of a role."""
_UNREADABLE = re.compile(r"image|audio|video|file|document")
_SPOKEN = ("said", "thought", "done")
"""Parts that are the model's."""
_STOPS = ("finish_reason", "stop_reason", "finishReason")
_NAMED, _SPEECH = ("model", "llm", "agent"), ("output", "response", "reply", "text", "answer", "completion", "generation", "say", "says")
"""Words of keys under which a single word is what the model is called, and those with which they end where it is what it said."""
_FAILED = re.compile(r"(?:^|[\W_])(?:error|failed)(?:$|[\W_])", re.IGNORECASE)


def heard(value: Any, who: str = "", depth: int = 0) -> list[Turn]:
    """The turns in any value, in the order in which they stand; ``who`` speaks where nothing in it says who does."""
    if depth > _DEEPEST or value is None:
        return []
    if isinstance(value, str):
        if opened := heard(parsed(value), who, depth + 1):
            return opened
        return [Turn(who, shorten(value))] if who and value else []
    if isinstance(value, Mapping):
        return _of_mapping(value, who, depth)
    every = items(value)
    if len(every) == 2 and all(isinstance(v, str) for v in every) and (role := role_of(every[0][:ROLE])):
        return [Turn(role, shorten(every[1]))]
    out: list[Turn] = []
    for one in every:
        _grow(out, heard(one, who, depth + 1))
    return out


def _grow(out: list[Turn], part: list[Turn]) -> None:
    """Put turns behind those heard before: without what a growing prompt repeats, and a call once that its answer names again."""
    asked = len(part) > 1 and part[0].role in ("user", "system")
    if asked and out and same(part[0], out[0]):
        known = 0
        for turn in out:
            known += known < len(part) and same(turn, part[known])
        if 2 * known >= len(out):
            part = part[known:]
    elif asked and any(same(part[0], turn) for turn in out):
        part = part[1:]
    for told in part:
        turn = _rest(told, out)
        before = out[-1] if out else None
        again = before and turn.calls and before.role == turn.role == "assistant" and not turn.text
        if again and turn.calls[0][0] and {n for n, _ in turn.calls} <= {n for n, _ in before.calls}:  # type: ignore[union-attr]
            continue
        if not (before and turn.role != "assistant" and turn[:4] == before[:4]):
            out.append(turn)


def _rest(turn: Turn, out: list[Turn]) -> Turn:
    """Of a text that begins with one heard before what is new, without what the model said in between."""
    known = next((t for t in reversed(out) if t.role == turn.role), None) if len(turn.text) > ROLE and turn.role != "assistant" else None
    if not known or len(known.text) <= ROLE or len(turn.text) == len(known.text) or not turn.text.startswith(known.text):
        return turn
    new, said = turn.text[len(known.text) :].strip(), out[-1].text.strip()
    return turn._replace(text=new.removeprefix(said).strip() if out[-1].role == "assistant" else new)


def same(a: Turn, b: Turn) -> bool:
    """Whether two turns say and call the same, however it is written down."""
    return a.role == b.role and a.text.strip() == b.text.strip() and [n for n, _ in a.calls] == [n for n, _ in b.calls]


def speaker(told: Mapping[str, Any], who: str) -> tuple[str, str]:
    """Who acts in a mapping by a value that says so, and that value's own words; whom it stands in where none does."""
    unknown = ""
    for key, value in sorted(told.items(), key=lambda item: item[0] != "type"):
        if not isinstance(value, str) or not value or len(value) > ROLE or part_of(str(key)) != "who":
            continue
        role = role_of(value)
        if role and (decides(value) or not (who or unknown)):
            return role, value
        if not role and key in ("role", "from", "speaker", "author", "sender", "who", "source", "actor"):
            unknown = value
    return unknown or who, ""


def _of_mapping(told: Mapping[str, Any], outer: str, depth: int) -> list[Turn]:
    """The turns of a message, a block, a step, an event or a span."""
    if steps := side_by_side(told):
        return heard(steps, outer, depth + 1)
    who, said = speaker(told, outer)
    kind = str(told.get("type") or "")
    if outer and not decides(kind) and _UNREADABLE.search(kind):
        return [Turn(outer, f"[{kind}]")]
    if str(told.get("content"))[:10] == "exitcode: ":
        who = "tool"
    parts = _parts(told)
    own = _Own(told, parts, who, speaks=bool(said))
    if call := _call_in(told, parts, who, said):
        own.at, own.calls = 0, [call]
        own.who = who if who != "assistant" else "tool"
    elif part_of(said) == "done":  # the message is the call
        own.say(next((told[k] for k in parts if parts[k] == "text"), told), "done", depth)
        parts.clear()
    for key in list(parts):
        own.hear(key, depth)
    for key, value in told.items():
        below = _branches(value, told)
        if key not in parts and part_of(str(key)) != "aside" and not isinstance(value, str) and (below or not (own.who and own.anything)):
            _grow(own.out, heard(value, "" if below else own.who, depth + 1))
    return own.turns()


def _branches(value: Any, told: Mapping[str, Any]) -> bool:
    """Whether a list holds what hangs on a node of a tree: mappings with its keys."""
    every = mappings(value)
    return bool(every) and all(2 * len(below.keys() & told.keys()) > len(told) for below in every)


def side_by_side(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Steps from lists beside one another: ``{"actions": [...], "observations": [...], "rewards": [...]}``."""
    lists = {str(key): value for key, value in told.items() if isinstance(value, list) and value}
    size = max((len(v) for k, v in lists.items() if part_of(k) == "seen"), default=0)
    lists = {key: value for key, value in lists.items() if size - 1 <= len(value) <= size + 1}
    mute = {key: "said" for key, value in lists.items() if not part_of(key) and len(value) == size and all(map(in_words, value))}
    lists = {mute.get(key, key): value for key, value in lists.items()}
    if {part_of(key) for key in lists}.isdisjoint(_SPOKEN) or any(
        isinstance(v, str) and part_of(str(k)) in _SPOKEN for k, v in told.items()
    ):
        return []
    return [dict(zip(lists, cells, strict=True)) for cells in zip_longest(*lists.values())] if len(lists) > 1 else []


def in_words(text: Any) -> bool:
    """Whether something is a text of several words."""
    return isinstance(text, str) and text.count(" ") > 2


def _parts(told: Mapping[str, Any]) -> dict[str, str]:
    """What the keys of a mapping say of what stands under them; else a text that a list beside it holds was done, words beside it seen."""
    parts = {key: part for key, value in told.items() if (part := _part(str(key), value))}
    mute = [k for k, v in told.items() if isinstance(v, str) and v and not part_of(str(k))]
    if "done" not in parts.values():
        return parts | {k: "done" for k in mute if any(isinstance(v, list) and len(v) > 1 and told[k] in v for v in told.values())}
    return parts if {"seen", "asked", "text"} & {*parts.values()} else {k: "seen" for k in mute if in_words(told[k])} | parts


def _part(key: str, value: Any) -> str:
    """What a key says of its value; '' for what is no part of what was said and done."""
    part = part_of(key)
    if value is None or (isinstance(value, (str, list, dict)) and not value) or part in ("aside", "who"):
        return ""
    word = isinstance(value, str) and not any(c.isspace() for c in value)
    if part == "said" and word and any(w in key.lower() for w in _NAMED) and not key.lower().endswith(_SPEECH):
        return ""  # what the model is called
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not (part in ("done", "seen") and key.isalpha())):
        return ""  # a number is an action or what was seen where it is called nothing else
    return "" if part == "name" and not isinstance(value, str) else part


def _call_in(told: Mapping[str, Any], parts: Mapping[str, str], who: str, said: str) -> tuple[str, str] | None:
    """The call that a mapping itself is: what was called stands beside its arguments or what it brought."""
    given = [
        k
        for k in told
        if part_of(str(k)) == "args"
        or (parts.get(k) == "asked" and "input" in k.lower() and not decides(k) and not isinstance(told[k], list))
    ]
    names = [k for k in parts if parts[k] == "name" or (parts[k] == "done" and given and isinstance(told[k], str))]
    names.sort(key=lambda k: not {"tool", "function"} & {*re.findall("[a-z]+", str(k).lower())})
    does = part_of(said) == "done" or who == "tool" if said else who != "user"
    sure = who == "assistant" and any(k not in parts or parts[k] == "args" for k in given)
    if names and given and (does or sure):
        return call_of({"name": told[names[0]], "arguments": told[given[0]]})
    names = [str(k) for k in told if part_of(str(k)) == "who" and part_of(str(k).rpartition("_")[0]) == "done" and isinstance(told[k], str)]
    return (told[names[0]], as_json({k: v for k, v in told.items() if k != names[0]})) if names and "done" not in parts.values() else None


class _Own:
    """What one mapping says, as it is gathered: the model's words and calls become one turn, in the place of the first of them."""

    def __init__(self, told: Mapping[str, Any], parts: Mapping[str, str], who: str, *, speaks: bool) -> None:
        self.told, self.parts, self.who, self.speaks = told, parts, who, speaks
        self.texts: list[str] = []
        self.calls: list[tuple[str, str]] = []
        self.out: list[Turn] = []
        self.at: int | None = None
        self.error = ""

    @property
    def anything(self) -> bool:
        """Whether it said something."""
        return bool(self.out or self.at is not None or self.error)

    def hear(self, key: str, depth: int) -> None:
        """Take up what stands under a key."""
        value, part, who = self.told[key], self.parts[key], self.who
        if part == "text" and isinstance(value, Mapping) and self.anything:
            return  # the same once more, as it came
        role = self._role(key, part)
        if part == "error":
            self.error = value if isinstance(value, str) else str(first(mapping(value), ("message", "detail", "type"), str) or "")
        elif part in ("args", "name") or (part == "done" and self.calls and isinstance(value, str) and value == self.calls[0][0]):
            if part == "args" and not self.calls:
                _grow(self.out, heard(value, who, depth + 1))
        elif role == "assistant":
            self.say(value, part, depth)
        elif part != "seen" or not isinstance(value, str) or any(map(str.isspace, value)) or "text" not in self.parts.values():
            inner = heard(value, role, depth + 1)
            if not inner and role == "tool":
                inner = [Turn("tool", as_json(value)[:_STATE])]
            elif len(inner) > 1 and {t.role for t in inner} == {role} and part == "text":
                inner = [inner[0]._replace(text=shorten("\n".join(t.text for t in inner)))]
            _grow(self.out, inner)

    def _role(self, key: str, part: str) -> str:
        """Who speaks under a key: what does not decide by itself is of whom it stands in."""
        done = bool(self.calls) or "done" in self.parts.values()
        if part == "said" and self.speaks and self.who != "assistant":
            return self.who
        if part == "text" or (self.who and not decides(key) and not (part == "asked" or (part == "seen" and done))):
            return self.who or ("assistant" if isinstance(self.told[key], str) else "")
        return WHO.get(part, "assistant")

    def say(self, value: Any, part: str, depth: int) -> None:
        """Take up words or calls of the model."""
        self.at = len(self.out) if self.at is None else self.at
        if part == "done":
            many = items(value)
            listed = many and isinstance(many[0], (Mapping, str))
            self.calls += map(call_of, many if listed else [value])
        elif isinstance(value, str) and not value.startswith(OPENS):
            self.texts.append(f"<think>{value}</think>" if part == "thought" else value)
        else:
            for turn in heard(value, "assistant", depth + 1):
                if turn.role == "assistant":
                    self.texts += [turn.text] if turn.text else []
                    self.calls += turn.calls
                else:
                    _grow(self.out, [turn])

    def turns(self) -> list[Turn]:
        """What was gathered, with what was logged beside it and how it ended."""
        told, out = self.told, self.out
        numbers = turn_numbers(told)
        stop = str(first(told, _STOPS) or "")[:80]
        if self.at is not None or (not out and {"tokens", "done"} <= numbers.keys()):
            once = dict.fromkeys(self.texts)
            texts = [t for t in once if not any(t in o and t != o for o in once)]
            out.insert(self.at or 0, Turn("assistant", shorten("\n".join(texts)), tuple(self.calls), False, stop, numbers))
        elif len(out) == 1:
            out[0] = out[0]._replace(numbers={**numbers, **out[0].numbers}, stop=out[0].stop or stop)
        failed = any(told.get(k) is True for k in ("is_error", "isError")) or _FAILED.search(
            " ".join(
                v for k, v in told.items() if isinstance(v, str) and len(v) <= ROLE and k in ("status", "level", "type", "event", "kind")
            )
        )
        heard_of = [i for i, turn in enumerate(out) if turn.role == "tool"]
        if heard_of and (failed or (self.error and self.error in out[heard_of[-1]].text)):
            out[heard_of[-1]] = out[heard_of[-1]]._replace(failed=True)
        elif self.error:
            out.append(Turn("tool", shorten(self.error), failed=True))
        return out
