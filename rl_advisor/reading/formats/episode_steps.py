"""Episodes written row by row: steps, messages, events or spans as lines of JSON, a CSV of steps in words, or ``[STEP] action=...``."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from itertools import islice, pairwise
from math import nan
from pathlib import Path
from typing import Any

from rl_advisor.features.text.speakers import part_of
from rl_advisor.features.text.turns import is_episode
from rl_advisor.reading.parsing.bytes_in import LONGEST, bare_name, head, json_lines, json_object, open_bytes
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.episode_places import in_words, places, speaks_for_itself, told_apart
from rl_advisor.reading.parsing.inferred_turns import heard
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Reservoir
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.trajectories import run_of_rows
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Run

FORMAT = "episode_steps"
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".log", ".txt", ".out", ".csv")
_PRINTED = re.compile(r"\[(START|STEP|END)\]\s+(.{1,4000})")
_PAIR = re.compile(r"(\w{1,40})=(.*?)(?=\s\w{1,40}=|$)")
_OVER = ("done", "terminated", "truncated", "terminal", "episode_done", "is_done")
_SEEN = ("observation", "obs", "next_obs", "next_observation", "info", "state", "error")
_WHOSE = re.compile(
    r"(?i)(?:.*_)?(?:episode|ep|traj(?:ectory)?|trace|session|rollout|conversation|dialog(?:ue)?|game)(?:_?(?:id|idx|index|no|num(?:ber)?|uuid))?"
)
_COUNTS = ("step", "t", "turn", "step_idx", "step_id", "turn_id", "turn_idx", "step_number")
_TOTAL = ("global_step", "total_steps", "timestep", "total_timesteps", "env_steps")
_KEPT, _BATCH, _LOOK, _START = 500, 256, 40, 1 << 18
"""Steps kept of an episode, half from its beginning; episodes offered together; lines, within bytes, looked at to tell what a file is."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether its first lines are steps of an episode: an action, a reward, whether it is over, and something that was seen."""
    if not bare_name(path).endswith(_SUFFIXES):
        return False
    try:
        start = head(path, _START)
    except PACK_ERRORS:
        return False
    if _PRINTED.search(start[:8_192].decode("utf-8", "replace")):
        return True
    lines = start.splitlines()[: None if len(start) < _START else -1]
    in_cells = bare_name(path).endswith(".csv")
    if not in_cells and not start.lstrip().startswith(b"{"):
        return False
    rows = [row for _, row in islice(_cells(path) if in_cells else _rows(enumerate(lines)), _LOOK)]
    if in_cells and not any(map(_in_words, rows)):
        return False
    return bool(rows) and (all(map(_is_step, rows)) or (len(rows) > 1 and not any(map(_is_whole, rows)) and _are_events(rows)))


def _in_words(row: Mapping[str, Any]) -> bool:
    return any(len(re.findall("[A-Za-z]{2,}", str(v))) > 2 for v in row.values())


def _is_step(row: Mapping[str, Any]) -> bool:
    return "action" in row and "reward" in row and any(k in row for k in _OVER) and any(k in row for k in _SEEN)


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a row is an episode by itself: it holds a conversation, or answers what it was asked and nothing else."""
    said = roles(list(map(str, row))).get("response")
    parts = {part_of(str(k)) for k, v in row.items() if isinstance(v, (str, list, dict)) and v}
    alone = any(speaks_for_itself(v) for path, v in places(row) if path)
    return alone or (said is not None and "asked" in parts and not parts & {"done", "seen"})


def _are_events(rows: list[dict[str, Any]]) -> bool:
    """Whether rows make an episode together: each is of one speaker, or several have the number of one episode or count its turns."""
    alone = [told_apart(heard(row)) for row in rows]
    if not in_words(told_apart([turn for turns in alone for turn in turns])):
        return False
    whose = [_whose(row) for row in rows]
    shared = any(a is not None and a == b for a, b in pairwise(whose))
    counted = any(_counted(b) == _counted(a) + 1 for a, b in pairwise(rows))
    single = 2 * sum(len({t.role for t in turns}) < 2 for turns in alone) > len(rows)
    return shared or (single and whose[0] is None) or (counted and any(is_episode(turns) for turns in alone))


def _whose(row: Mapping[str, Any]) -> Any:
    """The number or name of the episode that a row is of."""
    named = (v for path, v in places(row) if path and _WHOSE.fullmatch(path[-1]))
    return next((v for v in named if isinstance(v, (str, int, float)) and not isinstance(v, bool)), None)


def _counted(row: Mapping[str, Any]) -> float:
    return next((as_number(row[k]) for k in _COUNTS if k in row), nan)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Its episodes as turns, a bounded sample of them where there are many, and the return and length of every one as curves."""
    kept, curves = Reservoir(), []
    episodes = enumerate(_episodes(_cells(path) if bare_name(path).endswith(".csv") else _rows(json_lines(path))))
    while some := list(islice(episodes, _BATCH)):
        rows = [row for _, row in some]
        paid = [row for row in rows if "reward" in row]
        curves += [(row["step"], nan, {"episode_return": row["reward"], "episode_length": row["length"]}) for row in paid]
        told = [(n, r["step"], r.get("reward", nan), 200 * len(r["steps"]), str(r.get("task", r["episode"]))[:200]) for n, r in some]
        kept.offer(told, rows)
    more = Run(curves=curves_of(curves), gaps=kept.gaps())
    return run_of_rows(kept.table(), path, ask.columns, more)


def _cells(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV under the names of its header in small letters."""
    csv.field_size_limit(LONGEST)
    with TextIOWrapper(open_bytes(path), encoding="utf-8", errors="replace", newline="") as file, suppress(csv.Error, *PACK_ERRORS):
        for number, row in enumerate(csv.DictReader(line.replace("\0", "") for line in file)):
            told = {str(k).lower(): v for k, v in row.items() if isinstance(v, str)}
            yield number, {k: _plain(k, v.lower() if k in _OVER else v) for k, v in told.items()}


def _rows(lines: Iterable[tuple[int, bytes | None]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Steps as mappings: lines of JSON, or what is printed between ``[START]`` and ``[END]``, whose pairs stand in a key of that name."""
    for number, line in lines:
        if line is None:
            continue
        if line.lstrip()[:1] == b"{":
            if row := json_object(line):
                yield number, row
        elif match := _PRINTED.search(line[:8_192].decode("utf-8", "replace")):
            yield number, {match[1]: True} | {k: _plain(k, v) for k, v in _PAIR.findall(match[2]) if v != "null"}


def _episodes(rows: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Steps gathered: an episode ends where it says so, where its number changes, or where the file ends."""
    begun: dict[str, Any] = {}
    total = 0
    for _, row in rows:
        whose, counted = _whose(row), _counted(row)
        other = whose is not None and whose != begun.get("episode")
        again = whose is None and counted <= begun.get("counted", nan)
        if begun and ("START" in row or other or again or (begun["over"] and whose is None and "END" not in row)):
            yield _finished(begun, total)
            begun = {}
        if not begun:
            begun = {"episode": whose if whose is not None else total, "steps": [], "length": 0, "over": False}
        begun["counted"] = counted
        if "START" in row or "END" in row:
            begun |= {k: v for k, v in row.items() if k in ("task", "env", "success", "score")}
            begun["over"] = "END" in row
            continue
        total += 1
        begun["length"] += 1
        if "reward" in row:
            begun["reward"] = begun.get("reward", 0.0) + _number(row["reward"])
        begun["over"] = any(_is_true(row.get(k)) for k in _OVER)
        begun["at"] = next((_number(row[k]) for k in _TOTAL if k in row), float(total))
        begun["steps"].append({k: v for k, v in row.items() if k != "STEP" and v != whose})
        if len(begun["steps"]) > _KEPT:
            del begun["steps"][_KEPT // 2]
    if begun:
        yield _finished(begun, total)


def _finished(begun: dict[str, Any], total: int) -> dict[str, Any]:
    return {**{k: v for k, v in begun.items() if k not in ("over", "at", "counted")}, "step": begun.get("at", float(total))}


def _plain(name: str, value: str) -> Any:
    """What is printed of a reward or a flag as the number it is; the rest, an action above all, stays text."""
    return _number(value) if name in ("reward", "score") else value == "true" if name in (*_OVER, "success") else value


def _number(value: Any) -> float:
    number = as_number(value)
    return number if number == number else 0.0  # noqa: PLR0124 - NaN equals nothing


def _is_true(value: Any) -> bool:
    return value is True or value == 1
