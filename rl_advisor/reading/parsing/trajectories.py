"""Rows that hold more than one response, or hold it deeper down, become rows of one episode each, whose response is its turns.

Where the turns lie is inferred; what is told of the whole episode (its outcome, how it ended, the right answer) is taken from wherever it
stands beside them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features.text.speakers import part_of
from rl_advisor.features.text.turns import Turn
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.chat import as_text, is_chat, turns_of
from rl_advisor.reading.parsing.episode_places import found_in, judged, kin_in, places, speaks_for_itself, work_in
from rl_advisor.reading.parsing.inferred_turns import ROLE, heard
from rl_advisor.reading.parsing.nested_values import mapping, mappings, turn_numbers
from rl_advisor.reading.parsing.reservoir import Payload, Place, Reservoir
from rl_advisor.reading.parsing.rollout_table import NOTHING_SAID, layout_of, path_step, roles, rollout_table
from rl_advisor.reading.parsing.sample_names import BESIDE, NAMES, NUMBERS
from rl_advisor.run import Run

if TYPE_CHECKING:
    import pandas as pd

Sampled = tuple[int, dict[str, Any] | None, Payload]
"""Number (from 0), row (None for one that cannot be read), and what is kept of it: itself, or the bytes it was read from."""
_TOGETHER, _LOOK, _ENDS, _DEEP = 500, 20, 4, 6
"""Rows that are looked at together, by which a document is known, events at either end of it, and how many lists of lists hold episodes."""
_LAST = re.compile(r"final_?(?:answer|output|response|text|message)", re.IGNORECASE)
"""What the words are called with which an episode ends, where they stand beside its turns."""
_TOKEN_LISTS = frozenset({*NUMBERS["trained"], *NUMBERS["logprob"]})


def holds_response(row: Mapping[str, Any], said: Mapping[str, str] = NOTHING_SAID, *, asked: bool = False) -> bool:
    """Whether a row holds a response: text or messages under a response-like name, an episode deeper down, or a known writer's columns.

    One that is ``asked`` is surely no row of metrics: a prompt stands beside its response, or it holds an episode.
    """
    named, layout = roles(list(row), said), layout_of(row)
    prompt, value = (row[named[ours]] if ours in named else None for ours in ("prompt", "response"))
    told = layout is not None and "response" not in {*layout.meaning.values(), *row}
    told = told or is_chat(value) or (isinstance(value, str) and np.isnan(as_number(value)))
    return (told and (not asked or isinstance(prompt, str))) or any("response" in found for found in episodes(row))


def rows_in(document: Any) -> list[Any]:
    """The rows of a document: those it lists, or has by their names, wherever they lie; else itself, if it is surely one."""
    if every := document if isinstance(document, list) else _members(document):
        return every
    sure = "response" in roles(list(document)) or any(speaks_for_itself(v) for _, v in places(document))
    turns = () if sure else found_in(document)[1]
    answered = [turn.role for turn in turns if turn.role in ("assistant", "user")]
    return [document] if not turns or (len(answered) > 1 and "assistant" in answered) else []


def episodes(row: Mapping[str, Any], depth: int = 0, *, sure: bool = False) -> Iterator[dict[str, Any]]:
    """The episodes of a row: itself with its turns, or those that it lists, each with what the row says of all of them."""
    own = next((k for k in (roles(list(row)).get("response"),) if k and is_chat(row[k])), None)
    alone = own is not None or depth >= _DEEP or any(speaks_for_itself(v) for path, v in places(row) if path)
    for one in (members := [] if alone else _members(row)):
        yield from episodes(one, depth + 1, sure=True)
    if members:
        return
    at, turns = ((own,), turns_of(row[own])) if own else found_in(row, sure=sure)
    if turns:
        asked = next((v for path, v in places(row) if path and (not at or path[: len(at)] != at) and is_chat(v) and _only_asks(v)), None)
        turns, told = _with_steps(_handed_in(turns, row), row)
        rest = {k: v for k, v in row.items() if k not in at[:1] and (own or k not in NAMES["response"])}
        yield {**told, **_beside(row, at), **rest, **({} if asked is None else {"prompt": as_text(asked)}), "response": turns}
    elif any(isinstance(v, list) and (not v or is_chat(v)) for path, v in places(row) if path and f"{path[-1]}" in NAMES["response"]):
        told = {**_beside(row), **{k: v for k, v in row.items() if k not in NAMES["response"]}}
        if isinstance(told.get("error"), str):  # lost before its first word
            yield {**told, "response": (Turn("assistant", ""),)}
    elif "response" not in roles(list(row)) and (sure or judged(row)):
        work = row.get(name := work_in(row))
        called = [turn for turn in heard(work, "assistant") if turn.calls and not isinstance(work, str)]
        rest = {k: v for k, v in row.items() if k != name}
        yield {**_beside(row), **rest, "response": tuple(called) or (Turn("assistant", as_text(work) if work else ""),)}


def _handed_in(turns: tuple[Turn, ...], row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """The turns with what the row holds besides as its last answer, or what the model said before it was answered last: so it ends."""
    said = {turn.text.strip() for turn in turns if turn.role == "assistant" and len(turn.text) > ROLE}
    at_work = [(k, v.strip()) for k, v in row.items() if isinstance(v, str) and v.strip()] if turns[-1].role != "assistant" else []
    last = next((v for k, v in at_work if v in said or (_LAST.fullmatch(k) and all(v not in turn.text for turn in turns))), None)
    return (*turns, Turn("assistant", last)) if last else turns


def _members(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The episodes that a row lists, each with what the row says of all of them; nothing where it lists none."""
    path, kin = kin_in(row)
    if not kin:
        return []
    told = {k: v for k, v in row.items() if k != path[0] and not isinstance(v, (list, dict))} | _beside(row)
    asked = (mapping(v) for k, v in row.items() if k not in path and part_of(str(k)) == "asked")
    task = next((v for v in asked if not all(isinstance(one, Mapping) for one in v.values())), {})  # it tells of one thing, not of several
    return [{**told, **task, **one} for one in kin]


def _only_asks(chat: Any) -> bool:
    return all(turn.role != "assistant" for turn in turns_of(chat))


def _with_steps(turns: tuple[Turn, ...], row: Mapping[str, Any]) -> tuple[tuple[Turn, ...], dict[str, Any]]:
    """The turns with the numbers of steps that are logged beside them, and what the steps make in all: return, tokens, mean metrics."""
    steps = max((mappings(v) for path, v in places(row) if path and isinstance(v, (list, np.ndarray))), key=_numbered, default=[])
    spoken = [i for i, turn in enumerate(turns) if turn.role == "assistant"]
    if len(spoken) == len(steps) and _numbered(steps):
        out = list(turns)
        for i, step in zip(spoken, steps, strict=True):
            inner = mapping(step.get("tokens"))
            told = turn_numbers({**{k: v for k, v in inner.items() if k in _TOKEN_LISTS}, "tokens": inner.get("completion_ids")})
            out[i] = out[i]._replace(
                numbers={**out[i].numbers, **turn_numbers(step), **told}, stop="length" if step.get("is_truncated") is True else out[i].stop
            )
        turns = tuple(out)
    rewards, tokens = ([t.numbers[name] for t in turns if name in t.numbers] for name in ("reward", "tokens"))
    total = {"reward": sum(rewards)} if rewards else {}
    return turns, {**total, **({"length": sum(tokens)} if tokens else {}), **_means(steps, row)}


def _numbered(steps: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(turn_numbers(step)) + bool(mapping(step.get("metrics"))) for step in steps[:_LOOK])


def _means(steps: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, float]:
    """The mean of each number that the steps' own metrics name."""
    found = defaultdict(list)
    for name, value in ((str(k), v) for step in steps for k, v in mapping(step.get("metrics")).items()):
        if isinstance(value, (int, float)) and name not in row:
            found[name].append(float(value))
    return {name: fmean(values) for name, values in sorted(found.items())[:50]}


def _beside(row: Mapping[str, Any], at: Sequence[str] = ()) -> dict[str, Any]:
    """What is told of the whole episode deeper down: its outcome, how it ended, the right answer; a bare name with the one above it."""
    found: dict[str, Any] = {}
    for path, value in _leaves(row, at):
        deep = 3 if BESIDE["number"].match(path[-1]) else 2 if BESIDE["bare"].match(path[-1]) else 1
        name = "_".join(path[-deep:])
        if name not in row and name not in found and value is not None and BESIDE["told"].search(name):
            found[name] = value
    paid = [k for k in found if k in NAMES["reward"]]
    return {k: v for k, v in found.items() if k not in paid or not row.keys() & {*NAMES["reward"]}}


def _leaves(row: Mapping[str, Any], at: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Single values deeper down with their paths; of lists of named values and of events only such as say nothing themselves."""
    for path, value in places(row):
        if len(path) > 1 and not isinstance(value, (Mapping, list)):
            yield path, value
        elif path and isinstance(value, list) and tuple(path) != tuple(at):
            for one in mappings(value)[:_LOOK]:
                if isinstance(one.get("name"), str) and (score := one.get("value", one.get("score"))) is not None:
                    yield (*path, one["name"]), score
        elif tuple(path) == tuple(at) and isinstance(value, list):
            ends = mappings([*value[:_ENDS], *value[max(_ENDS, len(value) - _ENDS) :]])
            for one in () if speaks_for_itself(value) else (e for e in ends if not heard(e)):
                yield from (((*path, *inner), v) for inner, v in places(one) if inner and not isinstance(v, (Mapping, list)))


def unfolded(rows: pd.DataFrame, *, whole: bool = False) -> pd.DataFrame:
    """One row an episode, for any kind of row; ``whole`` ones hold no others. The index stays the row's number in its file."""
    import pandas as pd

    nested = any(isinstance(cell, (list, dict, np.ndarray)) for name in rows for cell in rows[name].iloc[:_TOGETHER])
    if not nested and "response" in roles(list(map(str, rows.columns))):
        return rows
    cells = rows.to_dict("records")
    records = [{str(k): v for k, v in row.items() if not (v is None or (isinstance(v, float) and np.isnan(v)))} for row in cells]
    depth = _DEEP if whole else 0
    told = [list(episodes(row, depth)) for row in records]
    found: list[tuple[Any, dict[str, Any]]] = []
    kin = next((row.keys() for row, own in zip(records, told, strict=True) if own), frozenset[str]())
    for number, row, own in zip(rows.index, records, told, strict=True):
        parts = own or (list(episodes(row, depth, sure=True)) if 2 * len(row.keys() & kin) > len(row) else []) or [{**_beside(row), **row}]
        found += [(number, {"group": str(number), **part} if len(parts) > 1 else part) for part in parts]
    return pd.DataFrame([part for _, part in found], index=np.array([number for number, _ in found], dtype=np.int64))


def run_of_rows(rows: pd.DataFrame, path: PurePath, said: Mapping[str, str], more: Run | None = None, *, whole: bool = False) -> Run:
    """The part of a run that these rows are, one an episode; ``more`` is what is known beside them. ``said`` is that of ``roles``."""
    more = more or Run()
    rows = unfolded(rows, whole=whole) if len(rows) else rows
    table, gaps = rollout_table(rows, path, said) if len(rows) else (more.rollouts, ())
    names = tuple(map(str, rows.columns))
    return replace(more, rollouts=table, columns=names, gaps=(*more.gaps, *gaps))


def run_of_sample(rows: Iterable[Sampled], path: PurePath, said: Mapping[str, str], kept: Reservoir) -> Run:
    """As ``run_of_rows``, of as many rows a step as are kept; what was left out or could not be read is a gap."""
    step, named, coming = path_step(path), cache(lambda names: roles(names, said).get), iter(rows)
    while some := list(islice(coming, _TOGETHER)):
        known = [(number, row, payload) for number, row, payload in some if row is not None]
        kept.corrupt += len(some) - len(known)
        kept.offer([_told(number, row, named(tuple(row)), step) for number, row, _ in known], [payload for *_, payload in known])
    return run_of_rows(kept.table(), path, said, kept.beside())


def _told(number: int, row: Mapping[Any, Any], raw: Callable[[str], Any], said: int | None) -> Place:
    """What decides whether a row is kept: its number, step, reward, length in bytes, and prompt."""
    step, reward, prompt, response = (row.get(raw(name)) for name in ("step", "reward", "prompt", "response"))
    size = len(response.encode("utf-8", "replace")) if isinstance(response, str) else sum(len(str(v)) for v in row.values())
    step = (step if step == step else None) if isinstance(step, (int, float, str)) else said  # noqa: PLR0124 - NaN equals nothing
    reward = reward if type(reward) is float else as_number(reward)
    return number, step, reward, size, prompt if isinstance(prompt, str) else str(prompt)[:2_000]
