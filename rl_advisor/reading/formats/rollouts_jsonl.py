"""Responses in rows: JSON lines, CSV, or one JSON document, and any such file with a response-like text column.

A document is a list of rows, a table with ``columns`` and ``data`` as W&B keeps it, or one episode (rLLM's ``episode_....json``,
SWE-agent's ``.traj``). A reward function's own log (``----- TIME Accuracy reward: 1.0 -----`` above ``content:`` and ``sol:``, as R1-V and
its kin write it) has rows too: what it graded.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import (
    LONGEST,
    bare_name,
    beginning,
    document,
    head,
    json_lines,
    json_object,
    lines,
    open_bytes,
    parse_json,
)
from rl_advisor.reading.parsing.cells import as_number
from rl_advisor.reading.parsing.labelled_text import labelled
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.reservoir import Reservoir
from rl_advisor.reading.parsing.trajectories import Sampled, holds_response, rows_in, run_of_sample
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Run

FORMAT = "rollouts_jsonl"
_LINES = (".jsonl", ".ndjson", ".json", ".traj")
_CELLS = (".csv", ".tsv")
_TEXT = (".txt", ".log", ".md")
_GRADED = re.compile(
    r"-{5,} *(?P<time>[\d:. -]{5,40}) (?P<kind>[A-Za-z][\w -]{0,40}): *(?P<reward>[-+\d.e]{1,20}) *-{5,}\s*", re.IGNORECASE
)
_FIELD = re.compile(r" {0,4}(?P<name>content|sol|solution|problem|question|prompt) ?: ?(?P<text>.*)", re.IGNORECASE | re.DOTALL)
_GRADED_NAMES = {"content": "response", "sol": "solution", "problem": "prompt", "question": "prompt"}
_LARGEST = 64 << 20
"""Bytes of a document."""
_LOOK = 20
"""Lines looked at to tell what a file is."""
_SMALL = 32 << 20
"""Size in bytes up to which every row is kept."""
_PACKING = 10
"""How many times smaller a packed file may be than its rows."""


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether the first readable rows hold a response: text or chat messages under a response-like name, or a known writer's columns."""
    if bare_name(path).endswith(_TEXT):
        start = beginning(path)
        return _GRADED.match(start.lstrip()) is not None or any(labelled(start))
    if not bare_name(path).endswith((*_LINES, *_CELLS)):
        return False
    try:
        return any(holds_response(row, ask.columns) for _, row, _ in islice(_rows(path), _LOOK) if row)
    except PACK_ERRORS:
        return _is_table(path)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The responses of one file, at most a bounded sample a step when it is large; what was left out or corrupt is a gap."""
    small = path.stat().st_size <= (_SMALL if bare_name(path) == path.name.lower() else _SMALL // _PACKING)
    kept = Reservoir(rows_per_step=10**9, budget=4 * _SMALL) if small else Reservoir()
    return run_of_sample(_rows(path, small=small), path, ask.columns, kept)


def _rows(path: Path, *, small: bool = True) -> Iterator[Sampled]:
    """Every row; of a file that is not ``small`` the bytes of a row are kept, which take less than what they say."""
    if bare_name(path).endswith(_CELLS):
        return _csv_rows(path)
    if bare_name(path).endswith(_TEXT):
        if _GRADED.match(beginning(path, 4_000).lstrip()):
            return _graded_rows(path)
        return ((number, row, row) for number, row in enumerate(labelled(document(path, _LARGEST).decode("utf-8", "replace"))))
    rows = _document_rows(path)
    return _json_rows(path, small=small) if rows is None else ((number, row, row) for number, row in enumerate(rows))


def _json_rows(path: Path, *, small: bool) -> Iterator[Sampled]:
    for number, line in json_lines(path):
        row = json_object(line or b"") or None
        yield number, row, row if small else line


def _document_rows(path: Path) -> list[dict[str, Any] | None] | None:
    """The rows of a file that is one JSON document, None for what is no row; nothing for a file of lines.

    Raises:
        OSError: the document is damaged.
    """
    start = head(path, 65_536).lstrip()
    listed = start.startswith(b"[") and start[1:].lstrip().startswith(b"{")
    first, _, more = start.partition(b"\n")
    if bare_name(path).endswith(_LINES[:2]) or not (listed or start.startswith(b"{")) or (more.strip() and json_object(first)):
        return None
    try:
        found = parse_json(document(path, _LARGEST))
    except (ValueError, OverflowError):
        if listed or _is_table(path):
            raise OSError("the document is damaged, or too large") from None
        return None
    if isinstance(found, dict) and isinstance(names := found.get("columns"), list) and isinstance(data := found.get("data"), list):
        whole = [isinstance(row, list) and len(row) == len(names) for row in data]
        return [dict(zip(map(str, names), row, strict=True)) if right else None for row, right in zip(data, whole, strict=True)]
    return [row if isinstance(row, dict) else None for row in rows_in(found)]


def _is_table(path: Path) -> bool:
    return bare_name(path).endswith(".table.json")


def _csv_rows(path: Path) -> Iterator[Sampled]:
    csv.field_size_limit(LONGEST)
    with TextIOWrapper(open_bytes(path), encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader((line.replace("\0", "") for line in file), delimiter="\t" if bare_name(path).endswith(".tsv") else ",")
        try:
            for number, row in enumerate(reader):
                yield number, None if None in row or None in row.values() else row, row
        except (csv.Error, *PACK_ERRORS):
            yield -1, None, None


def _graded_rows(path: Path) -> Iterator[Sampled]:
    """What a reward function graded, by the first kind of reward that it names; what it graded in one second is one step."""
    told: dict[str, list[str]] = {}
    about: dict[str, Any] = {}
    kind = second = field = ""
    number = step = size = 0
    for line in chain(lines(path), ["-----"]):
        found = _GRADED.fullmatch(line) if line.startswith("-----") else None
        if (found or line == "-----") and about and "response" in told:
            row = {**about, **{name: "\n".join(text) for name, text in told.items()}}
            yield number, row, row
            number += 1
        if found:
            kind, now = kind or found["kind"], found["time"].rpartition("-")[0] or found["time"]
            step, second, size, field, told = step + (now != second), now, 0, "", {}
            about = {"step": step, "reward": as_number(found["reward"])} if found["kind"] == kind else {}
        elif about and size < LONGEST:
            named = _FIELD.fullmatch(line)
            field = _GRADED_NAMES.get(named["name"].lower(), named["name"].lower()) if named else field
            told.setdefault(field, []).append(named["text"] if named else line)
            size += len(line) + 1
