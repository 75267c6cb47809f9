"""Metrics in one JSON document: lists of equal length, lists of rows, maps from steps to values, of one run or of several."""

import json
import re
from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.json_run import run_of_document
from rl_advisor.reading.parsing.metric_table import of_a_trainer
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

FORMAT = "columns"
GENERAL = True
SIZE_LIMIT = 256_000_000
_NUMBERS = re.compile(rb'\[\s*(?:-?\d|NaN|null|-?Infinity)|\{\s*"(?:dtype|py/object)"')
_ROWS = re.compile(rb"\[\s*\{")
_MAP = re.compile(rb'"\d{1,12}"\s*:\s*(?:-?\d|NaN|null)')
_COUNTER = re.compile(rb'(?i)"[\w/. ]{0,40}(?:step|episode|iter|epoch|update|frame|generation)[\w/. ]{0,40}"\s*:')


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether its beginning has numbers in lists, rows or maps, under a name that counts them or one that only trainers write."""
    if not bare_name(path).endswith(".json"):
        return False
    start = head(path, 65_536).lstrip()
    if start[:1] not in (b"{", b"["):
        return False
    if start.startswith(b"[") and not _rows(start):
        return False
    holds = _NUMBERS.search(start) or _ROWS.search(start) or _MAP.search(start)
    return holds is not None and (_COUNTER.search(start) is not None or _of_a_trainer(start))


def _rows(start: bytes) -> bool:
    """Whether a list begins with an object whose text is short: a row of metrics, or a run, and no sample."""
    try:
        row, _ = json.JSONDecoder().raw_decode(start[1:].decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return len(start) >= 65_536 and start[1:].lstrip().startswith(b"{")
    return isinstance(row, dict) and not any(isinstance(v, str) and len(v) > 120 for v in row.values())


def _of_a_trainer(start: bytes) -> bool:
    """Whether a list of numbers, or a field of a row, has a name that only trainers write."""
    names = [name.decode("utf-8", "replace") for name in re.findall(rb'"([^"]{1,80})"\s*:\s*\[\s*(?:-?\d|NaN|null)', start)]
    return of_a_trainer(names, [*names, *names])


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The curves of the document."""
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap(path.name, f"damaged, or no columns of numbers: {error}"[:300]),), formats=(FORMAT,))
    part = run_of_document(found, path.name, ask.run)
    return replace(part, formats=(FORMAT,)) if part.curves else Run()
