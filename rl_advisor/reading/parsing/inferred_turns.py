"""Where the turns of an episode lie in whatever a writer nests, told by who speaks and by words, not by one writer's keys.

A list holds turns where the model speaks in it and something else answers. Of several such lists the one that says most is the episode;
a tree of turns is read from its root down, and snapshots of a conversation that grew count as their last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, pairwise, zip_longest
from typing import Any

import numpy as np

from rl_advisor.features.text.turns import LABELS, Turn, turns_in
from rl_advisor.reading.parsing.cells import first
from rl_advisor.reading.parsing.chat import as_text, call_of, is_chat, items, shorten, turn_numbers, turns_of
from rl_advisor.reading.parsing.sample_names import NUMBERS, ROLES, STEPS

_DEPTH, _NODES, _MOST, _LOOK = 5, 300, 1_000, 20
"""How deep and into how many places of a row is looked, turns of a tree, and rows by which a document is known."""
_STATE = 2_000
"""Characters kept of an observation that is no text."""
_SPEAKER, _TOOL = ("source", "role", "message_type", "speaker"), ("tool_name", "tool", "function_name")
"""Keys under which a step says who acts, and which tool was called with what stands beside it."""
_ASKED = re.compile(
    r"\{['\"](?:name|tool|function)['\"]: ?['\"]([^'\"]{1,80})['\"], ?['\"]arg\w{0,8}['\"]: ?['\"]?(.{0,4000}?)['\"]?"
    r"(?:, ?['\"](?:response|result|output|observation)['\"]: ?(.{0,20000})|\Z)",
    re.DOTALL,
)
_LABELLED = re.compile(r"^([A-Z][\w ]{1,30}?) ?: ?(.{0,400})$", re.MULTILINE)

_OPENS = re.compile(rf"\s{{0,40}}(?:\[(?:assistant|user|system)\]|<\|im_start\|>|(?:{'|'.join(chain(*LABELS.values()))})(?: ?\d+)? ?:)")
"""A speaker's mark with which a text begins."""


def is_episode(turns: tuple[Turn, ...]) -> bool:
    """Whether the model speaks or acts, and something else is heard."""
    return len({turn.role == "assistant" for turn in turns}) > 1 and any(t.text.strip() or t.calls for t in turns if t.role == "assistant")


def places(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every list and mapping inside a mapping with its path, nearest first; what lies inside of a list is not looked into."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    for path, found in waiting:
        yield path, found
        if isinstance(found, Mapping) and len(path) < _DEPTH and len(waiting) < _NODES:
            inner = (((*path, str(k)), v) for k, v in found.items() if isinstance(v, (Mapping, list, tuple, np.ndarray)))
            waiting += islice(inner, _NODES)


def found_in(row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Turn, ...]]:
    """Where the turns of a row lie, and the turns; nothing where none do."""
    told = [(path, turns) for path, value in places(row) if path and is_episode(turns := whole(value))]
    return max(told, key=lambda at: sum(len(t.text) + sum(map(len, chain(*t.calls))) for t in at[1]), default=((), ()))


def whole(value: Any) -> tuple[Turn, ...]:
    """The turns that a list holds: of messages, of steps, of snapshots that grew, of a tree whose branches lie under one another."""
    every = items(value)
    if every and all(isinstance(one, (list, tuple)) for one in every):
        parts = [whole(one) for one in every[: _MOST // 10]]
        grew = all(len(a) <= len(b) and a == b[: len(a)] for a, b in pairwise(parts))
        return parts[-1] if grew else tuple(chain(*parts))
    steps = [one for one in branches(every) if isinstance(one, Mapping)] if every else side_by_side(mapping(value))
    turns = turns_of(steps) if is_chat(steps) else turns_of_steps(steps)
    return turns if any(turn.role == "assistant" for turn in turns) else tuple(chain(*map(_call_apart, turns)))


def _call_apart(turn: Turn) -> Iterator[Turn]:
    """What a tool was asked and what it answered, where one turn of a tool tells both, be it cut."""
    told = _ASKED.match(turn.text) if turn.role == "tool" else None
    if told:
        yield Turn("assistant", "", ((told[1], told[2]),))
        turn = turn._replace(text=(told[3] or "").strip("'\"{}"))
    if not told or turn.text:
        yield turn


def branches(every: list[Any]) -> Iterator[Any]:
    """The nodes of a tree in the order in which they were visited: a branch is a list of mappings with the keys of what it hangs on."""
    waiting, seen = list(reversed(every)), 0
    while waiting and seen < _MOST:
        node = waiting.pop()
        seen += 1
        yield node
        for below in node.values() if isinstance(node, Mapping) else ():
            if isinstance(below, list) and below and all(2 * len(mapping(b).keys() & node.keys()) > len(node) for b in below):
                waiting += reversed(below)


def rows_in(document: Mapping[str, Any], is_row: Callable[[Mapping[str, Any]], bool]) -> list[Any]:
    """The rows of a document by their names, itself where it is an episode, else those of the longest list in which most are rows."""
    named = [{"key": k, **mapping(v)} for k, v in document.items()]
    lists = sorted((items(found) for path, found in places(document) if path), key=len, reverse=True)
    for rows in (named, *([] if found_in(document)[1] else lists)):
        looked = [mapping(row) for row in rows[:_LOOK]]
        if 2 * sum(len(row) > 1 and is_row(row) for row in looked) > len(looked):
            return rows
    return [document]


def labelled(text: str) -> Iterator[dict[str, Any]]:
    """The episodes that a text writes one after another, line by line with labels: what was asked opens each, or a turn the whole text.

    A log that shows a sample among its rows is none.
    """
    asked = [m.start() for m in re.finditer(rf"^(?:{'|'.join(LABELS['user'])})(?: ?\d+)? ?:", text, re.MULTILINE)]
    if not asked and _OPENS.match(text):
        asked = [0]
    for start, end in pairwise([*asked, len(text)]):
        turns = turns_in(text[start:end])
        if not is_episode(turns):
            continue
        own = {label for names in LABELS.values() for label in names}
        told = {m[1].lower().replace(" ", "_"): m[2] for m in _LABELLED.finditer(turns[-1].text) if m[1].split(" ")[0] not in own}
        yield {**told, "response": turns}


def side_by_side(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Steps from lists beside one another: ``{"actions": [...], "observations": [...], "rewards": [...]}``."""
    lists = {name.removesuffix("s"): cell for name, cell in told.items() if isinstance(cell, list)}
    return [dict(zip(lists, cells, strict=True)) for cells in zip_longest(*lists.values())] if len(lists) > 1 else []


def turns_of_steps(steps: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Steps as turns, in the order in which each step names what was seen and what was done: writers write as time goes."""
    turns: list[Turn] = []
    for step in steps[:_MOST]:
        if is_chat(step.get("completion")):  # the whole prompt stands before it, of which what came since the last completion is new
            turns += (*turns_of(step.get("prompt"))[len(turns) :], *numbered(turns_of(step["completion"]), [step]))
        else:
            turns += _of_step(step)
    return tuple(turns)


def _of_step(step: Mapping[str, Any]) -> Iterator[Turn]:
    parts = {name: part for name in step if (part := _part(str(name)))}
    said, done = ((*STEPS[part], *(name for name in parts if parts[name] == part)) for part in ("said", "done"))
    text = shorten(next((step[k] for k in said if isinstance(step.get(k), str) and step[k]), ""))
    actor = first(step, _SPEAKER, str)
    role = ROLES.get(actor, actor) if actor else "assistant"
    if role != "assistant" and not (role == "unknown" or any(part == "done" for part in parts.values())):
        heard = text or "\n".join(_seen(step[name]) for name in parts if parts[name] == "seen")
        yield Turn(role[:40], heard, numbers=turn_numbers(step))
        return
    act = step if first(step, _TOOL, str) else first(step, done)
    calls = act if isinstance(act, list) and act and isinstance(act[0], Mapping) else [] if act is None else [act]
    spoken = [Turn("assistant", text, tuple(map(call_of, calls)), numbers=turn_numbers(step))]
    for name, value in step.items():
        if parts.get(name) == "seen" and value is not None and (name != "state" or "observation" not in step):
            yield Turn("tool", _seen(value))
        elif (name in ("ac_len", *_TOOL) or parts.get(name) in ("said", "done")) and spoken:
            yield spoken.pop()
    if error := first(step, ("error", "last_action_error"), str):
        yield Turn("tool", shorten(error), failed=True)


@cache
def _part(name: str) -> str:
    """What a key of a step holds (said, done, seen), by the key or by its last word; '' where that cannot be told."""
    last = re.split(r"[\W_]+", name.lower())[-1]
    return next((part for word in (name.lower(), last) for part in ("said", "done", "seen") if word in STEPS[part]), "")


def _seen(value: Any) -> str:
    parts = [str(part["content"]) for part in mappings(mapping(value).get("results")) if "content" in part]
    return shorten("\n".join(parts)) if parts else as_text(value)[: None if isinstance(value, str) or is_chat(value) else _STATE]


def numbered(turns: Sequence[Turn], steps: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The turns with each step's numbers beside the model's turn of the same place; as they are where the two do not match."""
    spoken = [i for i, turn in enumerate(turns) if turn.role == "assistant"]
    if len(spoken) != len(steps):
        return tuple(turns)
    out = list(turns)
    for i, step in zip(spoken, steps, strict=True):
        inner = mapping(step.get("tokens"))
        told = turn_numbers({**{k: v for k, v in inner.items() if k in _TOKEN_LISTS}, "tokens": inner.get("completion_ids")})
        cut = "length" if step.get("is_truncated") is True else out[i].stop
        out[i] = out[i]._replace(numbers={**out[i].numbers, **turn_numbers(step), **told}, stop=cut)
    return tuple(out)


_TOKEN_LISTS = frozenset({*NUMBERS["trained"], *NUMBERS["logprob"]})


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings that a value lists."""
    return [v for v in items(value) if isinstance(v, dict)]
