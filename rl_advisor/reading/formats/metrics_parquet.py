"""Parquet tables of metrics: trackio's export of a project and of its system metrics, W&B's history artifact, homemade logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rl_advisor.reading.parsing.gpu_counters import names_a_gpu
from rl_advisor.reading.parsing.metric_table import TIME_COLUMNS, part_of, step_columns
from rl_advisor.reading.parsing.parquet_in import cells, columns_of, damage_told, described, is_number, is_text, longest, whole
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "metrics_parquet"
GENERAL = True
LONGEST_NAME = 500
"""Bytes of the texts of a column that may tell runs apart."""
_ROW = "step"


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a table with two columns of numbers and one that counts steps, or with GPU counters and a time."""
    names = columns_of(path, numeric=True)
    return (bool(step_columns(names)) and len(names) > 1) or any(names_a_gpu(name) for name in names)


def read(path: Path, ask: Request = WHOLE) -> Run:
    """Numeric columns as curves, GPU counters as telemetry; of several runs that with most rows."""
    import pandas as pd

    schema, _ = described(path)
    read = whole(path, [f.name for f in schema if is_number(f.type) or f.name in TIME_COLUMNS or is_text(f.type)])
    texts = {name: is_text(read.schema.field(name).type) for name in read.column_names}
    short = [name for name, text in texts.items() if not text or longest(read[name]) <= LONGEST_NAME]
    with damage_told():
        table = pd.DataFrame({name: cells(read[name]) if texts[name] else read[name].to_pandas() for name in short})
    if not step_columns([str(c) for c in table.columns]):
        table[_ROW] = np.arange(len(table))
    return part_of(table, run=ask.run)
