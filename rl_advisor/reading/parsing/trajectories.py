"""Rows that hold more than one response, or hold it deeper down, become rows of one episode each, whose response is its turns.

Known are groups and episodes of trajectories (ART, rLLM), a response with its items (NeMo Gym), and steps: actions with what they brought
(gym, OpenEnv, SWE-agent, Harbor), prompts with their completions (verifiers, prime-rl), and summaries without text (Tinker).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features.text.turns import Turn
from rl_advisor.reading.parsing.cells import as_number, first
from rl_advisor.reading.parsing.chat import as_text, is_chat, turn_numbers, turns_of
from rl_advisor.reading.parsing.inferred_turns import found_in, mapping, mappings, numbered, places, side_by_side, turns_of_steps
from rl_advisor.reading.parsing.reservoir import Payload, Place, Reservoir
from rl_advisor.reading.parsing.rollout_table import NOTHING_SAID, layout_of, path_step, roles, rollout_table
from rl_advisor.reading.parsing.sample_names import NAMES
from rl_advisor.reading.parsing.sample_names import STEPS as NAMED
from rl_advisor.run import Run

if TYPE_CHECKING:
    import pandas as pd

TRAJECTORIES = "trajectories"
"""The key under which a group (ART) or an episode (rLLM) keeps its trajectories."""
_CONVERSATIONS, STEPS = NAMED["conversation"], NAMED["steps"]
_SEEN, _ACTS = {*NAMED["seen"], "source", "role"}, frozenset({*NAMED["done"], "ac_len", "tokens", "chat_completions", "completion"})
_TELLING = _ACTS | {*NAMED["said"]}
"""What a step has at least one of: an action, or words where something is seen as well."""
Sampled = tuple[int, dict[str, Any] | None, Payload]
"""Number (from 0), row (None for one that cannot be read), and what is kept of it: itself, or the bytes it was read from."""
_TOGETHER = 500
"""Rows that are looked at together."""


def holds_response(row: Mapping[str, Any], said: Mapping[str, str] = NOTHING_SAID) -> bool:
    """Whether a row holds a response: text or messages under a response-like name, an episode deeper down, or a known writer's columns."""
    if _deeper(row):
        return True
    layout = layout_of(row)
    if layout is not None and "response" not in {*layout.meaning.values(), *row}:
        return True
    value = _under("response", row, said)
    return is_chat(value) or (isinstance(value, str) and np.isnan(as_number(value)))


def is_sample(row: Mapping[str, Any], said: Mapping[str, str] = NOTHING_SAID) -> bool:
    """Whether a row is surely no row of metrics: it holds an episode, or a response and text or messages that it answers."""
    if _deeper(row):
        return True
    prompt = _under("prompt", row, said)
    return (is_chat(prompt) or isinstance(prompt, str)) and holds_response(row, said)


def _under(role: str, row: Mapping[str, Any], said: Mapping[str, str]) -> Any:
    name = roles(list(row), said).get(role)
    return None if name is None else row.get(name)


def _deeper(row: Mapping[str, Any]) -> bool:
    return known(row) or any(True for _ in _of_any(row))


def known(row: Mapping[str, Any]) -> bool:
    """Whether a row is an episode, or several, in a shape that is known by its keys."""
    return any(True for episodes in _SHAPES[:-1] for _ in episodes(row))


def unfolded(rows: pd.DataFrame) -> pd.DataFrame:
    """One row an episode, for any kind of row; the index stays the row's number in its file."""
    import pandas as pd

    if not any(isinstance(cell, (list, dict, np.ndarray)) for name in rows for cell in rows[name].iloc[:_TOGETHER]):
        return rows
    found: list[tuple[Any, dict[str, Any]]] = []
    for number, cells in zip(rows.index, rows.to_dict("records"), strict=True):
        row = {str(k): v for k, v in cells.items() if v is not None and not (isinstance(v, float) and np.isnan(v))}
        parts = next((some for episodes in _SHAPES if (some := list(episodes(row)))), [{**_beside(row), **row}])
        found += [(number, {"group": str(number), **part} if TRAJECTORIES in row else part) for part in parts]
    return pd.DataFrame([part for _, part in found], index=np.array([number for number, _ in found], dtype=np.int64))


def run_of_rows(rows: pd.DataFrame, path: PurePath, said: Mapping[str, str], more: Run | None = None) -> Run:
    """The part of a run that these rows are, one an episode; ``more`` is what is known beside them. ``said`` is that of ``roles``."""
    more = more or Run()
    rows = unfolded(rows) if len(rows) else rows
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


def _of_group(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The trajectories of a group or an episode, each with what its row says; those of one row are one group unless it names its task."""
    said = {k: v for k, v in row.items() if k not in (TRAJECTORIES, "task") and not isinstance(v, (list, dict))}
    for part in mappings(row.get(TRAJECTORIES)):
        if turns := _conversation(part):
            own = {k: v for k, v in part.items() if k not in (*_CONVERSATIONS, *STEPS) and not isinstance(v, list)}
            yield {**said, **own, **({"group": said["task_hash"]} if "task_hash" in said else {}), "response": turns}


def _conversation(part: Mapping[str, Any]) -> tuple[Turn, ...]:
    """The turns of a trajectory: its own messages, those of its fullest step, or its steps."""
    steps = _steps_in(part)[1]
    chats = [step["chat_completions"] for step in steps if is_chat(step.get("chat_completions"))]
    own = _said_in(part) or max(chats, key=len, default=None)
    return turns_of(own) if own is not None else turns_of_steps(steps)


def _said_in(row: Mapping[str, Any], *before: str) -> Any:
    """The messages that a row keeps under one of the usual keys."""
    return next((row[k] for k in (*before, *_CONVERSATIONS) if is_chat(row.get(k))), None)


def _of_items(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row whose response is a mapping with the items of a conversation, as the Responses API writes it (NeMo Gym)."""
    response = mapping(row.get("response"))
    if isinstance(response.get("output"), (list, np.ndarray)):
        prompt = mapping(row.get("responses_create_params")).get("input") or row.get("prompt")
        told = {
            "stop": mapping(response.get("incomplete_details")).get("reason"),
            **{k: response.get(k) for k in ("error", "status") if k not in row},
            "length": mapping(response.get("usage")).get("output_tokens"),
            "group": row.get("_ng_task_index"),
        }
        turns = turns_of(response["output"]) or (Turn("assistant", ""),)
        known = {k: v for k, v in told.items() if v or v == 0}
        yield {**known, **_others(row, "response", "responses_create_params"), "prompt": as_text(prompt), "response": turns}


def _of_steps(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row with the steps of its episode; where the row has the conversation as well, the steps' numbers are put beside its turns."""
    name, steps = _steps_in(row)
    said = _said_in(row, "completion", "response")
    text = any(isinstance(row.get(k), str) and row[k] for k in ("completion", "response", "output", *_CONVERSATIONS))
    if not steps or (text and said is None):
        return
    if turns := numbered(turns_of(said), steps) if said is not None else turns_of_steps(steps):
        told = {"reward": sum(rewards)} if (rewards := [r for s in steps if (r := turn_numbers(s).get("reward")) is not None]) else {}
        told |= {"length": tokens} if (tokens := sum(t.numbers.get("tokens", 0.0) for t in turns)) else {}
        if (whole := first(mapping(row.get("summary")), NAMES["reward"])) is not None:
            told["reward"] = whole
        yield {**told, **_means(steps, row), **_others(row, name, "completion", "response", *_CONVERSATIONS), "response": turns}


def _of_any(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row that keeps its turns under any name, at whatever depth; one that lost its episode before the first word has an empty one."""
    if is_chat(_under("response", row, NOTHING_SAID)):
        return
    at, turns = found_in(row)
    if turns:
        yield {**_others(row, at[0], *NAMES["response"]), **_beside(row), "response": turns}
    elif any(isinstance(v, list) and not v and path[-1] in (*_CONVERSATIONS, *STEPS) for path, v in places(row) if path):
        told = {**_beside(row), **_others(row, *NAMES["response"])}
        if isinstance(told.get("error"), str):
            yield {**told, "response": (Turn("assistant", ""),)}


def _beside(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of the whole episode in mappings inside of a row: its outcome, how it ended."""
    told = [v for path, v in places(row) if path and isinstance(v, Mapping)]
    names = {*NAMED["outcome"], "error", *(() if row.keys() & {*NAMES["reward"], *NAMED["outcome"]} else NAMES["reward"])}
    return {k: v for inner in reversed(told) for k, v in inner.items() if k in names - row.keys() and not isinstance(v, (Mapping, list))}


_SHAPES: tuple[Callable[..., Iterator[dict[str, Any]]], ...] = (_of_group, _of_items, _of_steps, _of_any)


def _others(row: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in left_out}


def _steps_in(row: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The name and the steps of an episode: mappings that hold an action, an answer or its length; nothing where there are none."""
    for name in STEPS:
        steps = mappings(row.get(name)) or side_by_side(mapping(row.get(name)))
        if steps and not is_chat(row.get(name)) and not (_TELLING if any(_SEEN & s.keys() for s in steps) else _ACTS).isdisjoint(steps[0]):
            return name, steps
    return "", []


def _means(steps: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, float]:
    """The mean of each number that the steps' own metrics name."""
    found = defaultdict(list)
    for name, value in ((str(k), v) for step in steps for k, v in mapping(step.get("metrics")).items()):
        if isinstance(value, (int, float)) and name not in row:
            found[name].append(float(value))
    return {name: fmean(values) for name, values in sorted(found.items())[:50]}
