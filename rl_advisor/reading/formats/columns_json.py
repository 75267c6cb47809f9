"""Metrics in one JSON document: lists of equal length, lists of rows, maps from steps to values, of one run or of several."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.json_rows import decoded, json_lines
from rl_advisor.reading.parsing.json_run import run_of_document
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.run import Gap, Run

FORMAT = "columns"
GENERAL = True
SIZE_LIMIT = 256_000_000
MOST_ROWS = 1_000_000


def claims(path: Path, ask: Request = WHOLE) -> bool:
    """Whether it is a JSON object or list; where nothing else could be read, whatever its name."""
    named = bare_name(path).endswith(".json") or (ask.last_resort and not bare_name(path).endswith(".ipynb"))
    return named and head(path, 64).lstrip()[:1] in (b"{", b"[")


def read(path: Path, ask: Request = WHOLE) -> Run:
    """The curves of the document; in the last resort those of the lines that hold an object."""
    try:
        found = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError, *PACK_ERRORS) as error:
        if not ask.last_resort:
            return Run(gaps=(Gap(path.name, f"damaged, or no columns of numbers: {error}"[:300]),), formats=(FORMAT,))
        found = [row for _, line in islice(json_lines(path), MOST_ROWS) if line and (row := decoded(line)) is not None]
    part = run_of_document(found, path.name, ask.run, anybodys=ask.last_resort)
    return replace(part, formats=(FORMAT,)) if part.curves else Run()
