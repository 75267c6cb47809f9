"""Metrics in one JSON document: lists of equal length, lists of rows, maps from steps to values, of one run or of several."""

import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, beginning, document, head, json_lines, json_object, json_values, parse_json
from rl_advisor.reading.parsing.json_run import run_of_document
from rl_advisor.reading.parsing.json_tables import FEWEST
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

FORMAT = "columns"
GENERAL = True
SIZE_LIMIT = 256_000_000
MOST_ROWS = 1_000_000
MOST_TRIES = 50
_ROWS, _OPENS = re.compile(rb"\[\s*+\{"), re.compile(r"[\[{]\s*$", re.MULTILINE)


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is a JSON object or list; where nothing else could be read, whatever its name and what stands around it."""
    named = bare_name(path).endswith(".json") or (ask.last_resort and not bare_name(path).endswith(".ipynb"))
    return named and (head(path, 64).lstrip()[:1] in (b"{", b"[") or (ask.last_resort and _OPENS.search(beginning(path)) is not None))


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The curves of the document; of a damaged one those of its first list of rows, or of the lines that hold an object."""
    gaps: tuple[Gap, ...] = ()
    try:
        found = parse_json(text := document(path, SIZE_LIMIT))
    except (OverflowError, *PACK_ERRORS) as error:
        return Run(gaps=(Gap("", f"no columns of numbers: {error}"[:300]),))
    except ValueError as error:
        found = [row for _, line in islice(json_lines(path), MOST_ROWS) if line and (row := json_object(line))]
        if len(found) < FEWEST and not (found := _inside(text)):
            begin = _ROWS.search(text)
            found = json_values(text[begin.end() - 1 :].decode("utf-8", "replace"))[0] if begin else []
            gaps = (Gap("", f"the JSON ends early or is damaged; rows before that were kept: {error}"[:300]),)
    part = run_of_document(found, ask.run, anybodys=ask.last_resort)
    return replace(part, gaps=(*gaps, *part.gaps)) if part.curves or (gaps and not ask.last_resort) else Run()


def _inside(data: bytes) -> Any:
    """The JSON that most of a text is, whose first bracket ends a line; None where there is none."""
    text = data.decode("utf-8", "replace")
    for opening in islice(_OPENS.finditer(text), MOST_TRIES):
        with suppress(ValueError, RecursionError):
            value, end = JSONDecoder().raw_decode(text, opening.start())
            if 2 * (end - opening.start()) > len(text):
                return value
    return None
