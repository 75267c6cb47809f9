"""A file that somebody hands in, as a table: CSV, Parquet, JSON of rows or of columns, JSONL; bounded, and nothing of it is run."""

from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor.output.errors import UsageError
from rl_advisor.reading.parsing.bytes_in import byte_lines, document, json_object, parse_json
from rl_advisor.reading.parsing.confined_files import opened
from rl_advisor.reading.parsing.parquet_in import whole

if TYPE_CHECKING:
    import pandas as pd


def table(path: Path, most: int) -> "pd.DataFrame":
    """The first ``most`` rows, None where a row lacks a column.

    Raises:
        UsageError: the file is no such table.
    """
    import pandas as pd

    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    try:
        if kind == "parquet":
            return whole(path).slice(0, most).to_pandas()  # type: ignore[no-any-return]
        if kind == "csv":
            with opened(path) as file:
                return pd.read_csv(file, nrows=most)
        found = parse_json(document(path)) if kind == "json" else _lines(path, most)
        if isinstance(found, dict):
            found = {name: part for name, part in found.items() if isinstance(part, list)}
        frame = pd.DataFrame(found if isinstance(found, dict) else [row for row in found[:most] if isinstance(row, dict)])
    except Exception as unfit:
        raise UsageError(f"{path.name} cannot be read as a table: {str(unfit)[:200]}") from unfit
    return frame.head(most).astype(object).where(frame.notna(), None)


def _lines(path: Path, most: int) -> list[object]:
    return [json_object(line) or None for _, line in zip(range(most), byte_lines(path), strict=False)]
