"""Parquet tables of metrics: trackio's export of a project and of its system metrics, W&B's history artifact, homemade logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import head
from rl_advisor.reading.parsing.gpu_names import column_of, without_counters
from rl_advisor.reading.parsing.metric_table import TIME_COLUMNS, part_of, step_columns
from rl_advisor.reading.parsing.parquet_in import cells, is_text, longest, opened
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

if TYPE_CHECKING:
    pass

FORMAT = "metrics_parquet"
GENERAL = True
SIZE_LIMIT = 1 << 30
CELL_LIMIT = 60_000_000
LONGEST_NAME = 500
"""Bytes of the texts of a column that may tell runs apart."""
_MAGIC = b"PAR1"
_ROW = "step"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a table with two columns of numbers and one that counts steps, or with GPU counters and a time."""
    if path.suffix.lower() not in (".parquet", ".pq") or head(path, len(_MAGIC)) != _MAGIC:
        return False
    names = _numeric(path)
    return (bool(step_columns(names)) and len(names) > 1) or any(column_of(name) for name in names)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Numeric columns as curves, GPU counters as telemetry; of several runs that with most rows."""
    import pandas as pd
    import pyarrow as pa

    try:
        file = opened(path)
        wanted = [f.name for f in file.schema_arrow if _is_number(f.type) or f.name in TIME_COLUMNS or is_text(f.type)]
        if path.stat().st_size > SIZE_LIMIT or file.metadata.num_rows * max(1, len(wanted)) > CELL_LIMIT:
            return Run(formats=(FORMAT,), gaps=(Gap(path.name, f"more than {CELL_LIMIT:,} numbers or 1 GiB; not read"),))
        read = file.read(columns=wanted)
        short = [n for n in wanted if not is_text(read.schema.field(n).type) or longest(read[n]) <= LONGEST_NAME]
        table = pd.DataFrame({n: cells(read[n]) if is_text(read.schema.field(n).type) else read[n].to_pandas() for n in short})
    except (pa.ArrowException, OSError, ValueError) as error:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, f"damaged: {error}"[:300]),))
    if not step_columns([str(c) for c in table.columns]):
        table[_ROW] = np.arange(len(table))
    return without_counters(replace(part_of(table, path.name, run=ask.run), formats=(FORMAT,)))


def _numeric(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with confined_files.named(path) as name:
            return [field.name for field in pq.read_schema(name) if _is_number(field.type)]
    except (pa.ArrowException, OSError, ValueError):
        return []


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
