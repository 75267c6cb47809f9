"""Episodes written row by row: steps, messages, events or spans as lines of JSON, a CSV of steps in words, or ``[STEP] action=...``."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from itertools import chain, dropwhile, islice, pairwise
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from rl_advisor.features.text.speakers import part_of
from rl_advisor.features.text.turns import is_episode
from rl_advisor.reading.parsing.bytes_in import (
    LONGEST,
    bare_name,
    document,
    head,
    json_lines,
    json_object,
    open_bytes,
    parse_json,
    whole_lines,
)
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.episode_places import grown, in_words, places, speaks_for_itself, told_apart
from rl_advisor.reading.parsing.inferred_turns import heard
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Reservoir
from rl_advisor.reading.parsing.rollout_table import roles
from rl_advisor.reading.parsing.sample_names import BESIDE
from rl_advisor.reading.parsing.trajectories import run_of_rows
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Run

FORMAT = "episode_steps"
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".log", ".txt", ".out", ".csv")
_PRINTED = re.compile(r"\[(START|STEP|END)\]\s+(.{1,4000})")
_PAIR = re.compile(r"(\w{1,40})=(.*?)(?=\s\w{1,40}=|$)")
_LISTED = re.compile(rb"\s{0,40}\[\s{0,40}\{")
_OVER = ("done", "terminated", "truncated", "terminal", "episode_done", "is_done")
_SEEN = ("observation", "obs", "next_obs", "next_observation", "info", "state", "error")
_WHOSE = re.compile(
    r"(?i)(?:.*_)?(?:episode|ep|traj(?:ectory)?|trace|session|rollout|conversation|dialog(?:ue)?|game)(?:_?(?:id|idx|index|no|num(?:ber)?|uuid))?"
)
"""A hint at what an episode goes by; what changes wherever a count starts anew is surer."""
_COUNTS = re.compile(r"(?i)t|(?:.*_)?(?:step|turn)(?:_.*)?")
"""A hint at what counts turns where no count starts anew."""
_KEPT, _BATCH, _HEAD, _LOOK, _START, _LARGEST = 500, 256, 200, 40, 1 << 18, 64 << 20
"""Steps kept of an episode, half from its beginning; episodes offered together; lines, and of them those by which a file is told; bytes
of lines and of a document that are looked at."""


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
    lines = start.splitlines(keepends=True)[: None if len(start) < _START else -1]
    in_cells = bare_name(path).endswith(".csv")
    listed = _LISTED.match(start) is not None and path.stat().st_size <= _LARGEST
    if not (in_cells or listed or start.lstrip().startswith(b"{")):
        return False
    rows = _looked(_any_rows(path) if in_cells or listed else _rows(whole_lines(lines)))[1]
    if not rows or (in_cells and not any(map(_in_words, rows))):
        return False
    keys = _keys(rows)
    sure = not listed or keys.counted or keys.whose
    return all(map(_is_step, rows)) or (len(rows) > 1 and bool(sure) and _are_events(rows, keys))


def _looked(coming: Iterator[tuple[int, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The first rows, and those of them by which a file is known: without a head of others that never come again."""
    rows = [row for _, row in islice(coming, _HEAD)]
    rest = list(dropwhile(lambda row: row.keys() == rows[0].keys(), rows))
    known = rest if len(rest) > 1 and all(row.keys() != rows[0].keys() for row in rest) else rows
    return rows, known[:_LOOK]


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


class _Keys(NamedTuple):
    """By what rows are of one episode: the name of what they share, and that of what counts them."""

    whose: tuple[str, ...] = ()
    counted: str = ""
    anew: frozenset[int] = frozenset()
    """Rows of those looked at where the count starts anew."""


def _keys(rows: Sequence[Mapping[str, Any]]) -> _Keys:
    """What counts up by one from row to row, and what changes exactly where it starts anew, whatever they are called."""
    counts = {name: [as_number(row.get(name)) for row in rows] for name, v in rows[0].items() if not isinstance(v, (bool, list, dict))}
    ups = {n: {i for i, (a, b) in enumerate(pairwise(of), 1) if b == a + 1} for n, of in counts.items()}
    downs = {n: frozenset(i for i, (a, b) in enumerate(pairwise(of), 1) if b <= a and b < 2) for n, of in counts.items()}
    told = [n for n in counts if ups[n] and len(ups[n]) + len(downs[n]) == len(rows) - 1]
    told = [n for n in told if _COUNTS.fullmatch(n) or len(ups[n]) >= len(downs[n]) > 0]
    counted = max(told, key=lambda n: (bool(downs[n]), bool(_COUNTS.fullmatch(n))), default="")
    anew = downs.get(counted, frozenset())
    whose: tuple[str, ...] = ()
    best = 0
    for path in (path for path, v in places(rows[0]) if 0 < len(path) < 3 and isinstance(v, (str, int, float)) and path != (counted,)):
        of = [_at(row, path) for row in rows]
        changes = frozenset(i for i, (a, b) in enumerate(pairwise(of), 1) if a != b)
        if len(changes) + 1 == len({*map(str, of)}) < len(rows) and None not in of:
            sure = 2 * (bool(anew) and changes == anew) + (_WHOSE.fullmatch(path[-1]) is not None)
            whose, best = (path, sure) if sure > best else (whose, best)
    return _Keys(whose, counted, anew)


def _at(row: Any, path: Iterable[str]) -> Any:
    """What stands at a path; None for nothing, and for what is no name and no number."""
    for name in path:
        row = row.get(name) if isinstance(row, Mapping) else None
    return row if isinstance(row, (str, int, float)) and not isinstance(row, bool) else None


def _are_events(rows: Sequence[dict[str, Any]], keys: _Keys) -> bool:
    """Whether rows make an episode together: each is of one speaker, or several have the number of one episode or count its turns."""
    shared = [i for i, (a, b) in enumerate(pairwise(rows), 1) if keys.whose and _at(a, keys.whose) == _at(b, keys.whose)]
    if any(map(_is_whole, rows)) and not (keys.counted and 2 * sum(grown(rows[i - 1], rows[i]) for i in shared) > len(shared) > 0):
        return False
    alone = [told_apart(heard(row)) for row in rows]
    every = told_apart([turn for turns in alone for turn in turns])
    if not (in_words(every) or (keys.anew and keys.whose and is_episode(every))):
        return False
    single = 2 * sum(len({t.role for t in turns}) < 2 for turns in alone) > len(rows)
    return bool(shared or single or keys.counted)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Its episodes as turns, a bounded sample of them where there are many, and the return and length of every one as curves."""
    kept, curves = Reservoir(), []
    rows = _any_rows(path)
    first, known = _looked(rows)
    keys = _keys(known) if known else _Keys()
    episodes = enumerate(_episodes(chain(first, (row for _, row in rows)), keys))
    while some := list(islice(episodes, _BATCH)):
        found = [row for _, row in some]
        paid = [row for row in found if "reward" in row]
        curves += [(row["step"], nan, {"episode_return": row["reward"], "episode_length": row["length"]}) for row in paid]
        told = [(n, r["step"], r.get("reward", nan), r.pop("bytes"), str(r.get("task", r["episode"]))[:200]) for n, r in some]
        kept.offer(told, found)
    more = Run(curves=curves_of(curves), gaps=kept.gaps())
    return run_of_rows(kept.table(), path, ask.columns, more, whole=True)


def _any_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV, of a document that lists them, or of lines."""
    if bare_name(path).endswith(".csv"):
        return _cells(path)
    if not _LISTED.match(head(path, _HEAD)):
        return _rows(json_lines(path))
    try:
        return ((n, row) for n, row in enumerate(parse_json(document(path, _LARGEST))) if isinstance(row, dict))
    except (ValueError, OverflowError, *PACK_ERRORS):
        return iter(())


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


def _episodes(rows: Iterable[dict[str, Any]], keys: _Keys) -> Iterator[dict[str, Any]]:
    """Steps gathered: an episode ends where it says so, where its number changes, where its count starts anew, or where the file ends."""
    begun: dict[str, Any] = {}
    total, before = 0, nan
    for row in rows:
        whose = _at(row, keys.whose) if keys.whose else None
        counted = as_number(row.get(keys.counted)) if keys.counted in row else nan
        if keys.whose and whose is None and not begun:
            continue
        printed = "START" in row or "END" in row
        if begun and ("START" in row or whose != begun["whose"] or counted <= before or (begun["over"] and whose is None and not printed)):
            yield _finished(begun, total)
            begun = {}
        if not begun:
            begun = {"whose": whose, "episode": whose if whose is not None else total, "steps": [], "length": 0, "bytes": 0, "over": False}
        before = counted
        if printed:
            begun |= {k: v for k, v in row.items() if k in ("task", "env", "success", "score")}
            begun["over"] = "END" in row
            continue
        total += 1
        begun["length"] += 1
        begun["bytes"] += 200 + sum(len(v) for v in row.values() if isinstance(v, str))
        if "reward" in row:
            begun["reward"] = begun.get("reward", 0.0) + _number(row["reward"])
        begun["over"] = any(row.get(k) == 1 for k in _OVER)
        begun["last"] = row
        begun["steps"].append({k: v for k, v in row.items() if k != "STEP" and v != whose})
        if len(begun["steps"]) > _KEPT:
            del begun["steps"][_KEPT // 2]
    if begun:
        yield _finished(begun, total)


def _finished(begun: dict[str, Any], total: int) -> dict[str, Any]:
    """The episode with what its last step tells of the end."""
    last = {k: v for k, v in begun.get("last", {}).items() if isinstance(v, (bool, str)) and BESIDE["told"].search(k)}
    return {**last, **{k: v for k, v in begun.items() if k not in ("over", "last", "whose")}, "step": float(total)}


def _plain(name: str, value: str) -> Any:
    """What is printed of a reward or a flag as the number it is; the rest, an action above all, stays text."""
    return _number(value) if name in ("reward", "score") else value == "true" if name in (*_OVER, "success") else value


def _number(value: Any) -> float:
    number = as_number(value)
    return number if number == number else 0.0  # noqa: PLR0124 - NaN equals nothing
