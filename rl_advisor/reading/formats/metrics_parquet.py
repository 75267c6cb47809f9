"""Parquet tables of metrics: trackio's export of a project and of its system metrics, W&B's history artifact, homemade logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.reading.parsing.gpu_counters import names_a_gpu
from rl_advisor.reading.parsing.metric_table import TIME_COLUMNS, part_of, step_columns
from rl_advisor.reading.parsing.parquet_in import SUFFIXES, cells, described, is_text, longest, whole
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "metrics_parquet"
GENERAL = True
LONGEST_NAME = 500
"""Bytes of the texts of a column that may tell runs apart."""
_ROW = "step"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a table with two columns of numbers and one that counts steps, or with GPU counters and a time."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    names = _numeric(path)
    return (bool(step_columns(names)) and len(names) > 1) or any(names_a_gpu(name) for name in names)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Numeric columns as curves, GPU counters as telemetry; of several runs that with most rows."""
    import pandas as pd
    import pyarrow as pa

    try:
        schema, _ = described(path)
        wanted = [f.name for f in schema if _is_number(f.type) or f.name in TIME_COLUMNS or is_text(f.type)]
        read = whole(path, wanted)
        short = [n for n in wanted if not is_text(read.schema.field(n).type) or longest(read[n]) <= LONGEST_NAME]
        table = pd.DataFrame({n: cells(read[n]) if is_text(read.schema.field(n).type) else read[n].to_pandas() for n in short})
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        return Run(formats=(FORMAT,), gaps=(Gap(path.name, f"not read: {error}"[:300]),))
    if not step_columns([str(c) for c in table.columns]):
        table[_ROW] = np.arange(len(table))
    return replace(part_of(table, path.name, run=ask.run), formats=(FORMAT,))


def _numeric(path: Path) -> list[str]:
    import pyarrow as pa

    try:
        return [field.name for field in described(path).schema if _is_number(field.type)]
    except (pa.ArrowException, OSError, ValueError):
        return []


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
