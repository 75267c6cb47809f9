"""Rows that hold more than one response, or hold it deeper down: groups and episodes of trajectories, summaries of trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing.chat import is_chat
from rl_advisor.reading.parsing.rollout_table import NOTHING_SAID, layout_of, roles

if TYPE_CHECKING:
    import pandas as pd

TRAJECTORIES = "trajectories"
"""The key under which a group (ART) or an episode (rLLM) keeps its trajectories."""
_CONVERSATIONS = ("messages_and_choices", "messages", "chat_completions", "conversations")
_MOST = 1_000


def holds_trajectories(row: Mapping[str, Any]) -> bool:
    """Whether a row is a group or an episode: a list of trajectories with their messages, or with steps that have some."""
    return any(_conversation(t) is not None for t in _mappings(row.get(TRAJECTORIES))[:3])


def holds_response(row: Mapping[str, Any], said: Mapping[str, str] = NOTHING_SAID) -> bool:
    """Whether a row holds a response: text or messages under a response-like name, trajectories, or a known writer's columns."""
    if holds_trajectories(row):
        return True
    layout = layout_of(row)
    if layout is not None and "response" not in {*layout.meaning.values(), *row}:
        return True
    meaning, _ = roles(list(row), said)
    value = next((row[raw] for raw, ours in meaning.items() if ours == "response"), None)
    return is_chat(value) or (isinstance(value, str) and not _is_number(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_sample(row: Mapping[str, Any], said: Mapping[str, str] = NOTHING_SAID) -> bool:
    """Whether a row is surely no row of metrics: it holds a response, and text or messages that it answers."""
    prompt = next((row[raw] for raw, ours in roles(list(row), said)[0].items() if ours == "prompt"), None)
    return (is_chat(prompt) or isinstance(prompt, str)) and holds_response(row, said)


def unfolded(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a response, for any kind of row; the index stays the row's number in its file."""
    rows = _of_groups(rows) if TRAJECTORIES in rows else rows
    return _of_summaries(rows) if {"traj_idx", "steps"} <= set(rows.columns) else rows


def _of_groups(rows: pd.DataFrame) -> pd.DataFrame:
    """The trajectories of groups and episodes, each with what its row says; those of one row are one group unless it names its task."""
    import pandas as pd

    found: list[dict[str, Any]] = []
    index: list[Any] = []
    for number, row in zip(rows.index, rows.to_dict("records"), strict=True):
        parts = list(_trajectories(row, number))
        found += parts
        index += [number] * len(parts)
    return pd.DataFrame(found, index=np.array(index, dtype=np.int64)) if found else rows


def _trajectories(row: Mapping[Any, Any], number: Any) -> Iterator[dict[str, Any]]:
    said = {str(k): v for k, v in row.items() if k not in (TRAJECTORIES, "task") and not isinstance(v, (list, dict))}
    for part in _mappings(row.get(TRAJECTORIES)):
        messages = _conversation(part)
        if messages is None:
            continue
        own = {k: v for k, v in part.items() if k not in (*_CONVERSATIONS, "steps") and not isinstance(v, list)}
        yield {**said, **own, "group": said.get("task_hash", str(number)), "response": messages}


def _conversation(part: Mapping[str, Any]) -> Any:
    """The messages of a trajectory: its own, those of its fullest step, or its steps' observations and answers; None without any."""
    own = next((part[k] for k in _CONVERSATIONS if is_chat(part.get(k))), None)
    if own is not None:
        return own
    steps = _mappings(part.get("steps"))
    chats = [step["chat_completions"] for step in steps if is_chat(step.get("chat_completions"))]
    if chats:
        return max(chats, key=len)
    turns = [turn for step in steps for turn in _turns(step)]
    return turns if any(turn["role"] == "assistant" for turn in turns) else None


def _turns(step: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for key, role in (("observation", "user"), ("model_response", "assistant")):
        if isinstance(step.get(key), str) and step[key]:
            yield {"role": role, "content": step[key]}


def _of_summaries(rows: pd.DataFrame) -> pd.DataFrame:
    """Summaries without text keep what they measured: tokens the model wrote, turns, and the mean of each of their metrics."""
    turns = [_mappings(steps) for steps in rows["steps"]]
    rows = rows.drop(columns=["steps"])
    rows["length"] = [float(sum(_float(s.get("ac_len")) for s in t)) for t in turns]
    rows["turns"] = [float(len(t)) for t in turns]
    metrics = [[s["metrics"] for s in t if isinstance(s.get("metrics"), dict)] for t in turns]
    for name in sorted({str(k) for ms in metrics for m in ms for k in m})[:50]:
        rows[name] = [float(np.mean([_float(m.get(name)) for m in ms])) if ms else np.nan for ms in metrics]
    return rows


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [v for v in value[:_MOST] if isinstance(v, dict)] if isinstance(value, (list, tuple)) else []


def _float(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan
