"""The table of strangers' runs: two files of numbers, written by ``build`` and read by everything that is fitted or measured."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from evals.world.slim import Row, rebuilt
from rl_advisor.reading import UnreadableRun
from rl_advisor.run import Run

FOLDER = Path(__file__).parent
RUNS, CURVES = FOLDER / "runs.parquet", FOLDER / "curves.parquet"
_WORDS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.float64())
COLUMNS = {
    RUNS: pa.schema(
        [
            *((name, pa.string()) for name in ("id", "set", "repository", "commit", "licence", "kind", "algorithm", "method", "step_unit")),
            *((name, pa.string()) for name in ("settings", "guess", "events", "built_on")),
            *((name, pa.bool_()) for name in ("read", "supervised")),
            *((name, _WORDS) for name in ("frameworks", "kinds", "verdicts", "admissible", "links", "end_calls", "half_calls")),
            *((name, pa.float64()) for name in ("last_step", "p_continue_pays")),
            ("planned_steps", pa.int64()),
            ("best_steps", _NUMBERS),
        ]
    ),
    CURVES: pa.schema(
        [
            *((name, pa.string()) for name in ("id", "name", "raw", "spare")),
            *((name, pa.bool_()) for name in ("mapped", "guessed")),
            *((name, pa.int64()) for name in ("trailing", "points", "non_finite")),
            ("step", _NUMBERS),
            ("value", pa.list_(pa.float32())),
        ]
    ),
}


@dataclass(frozen=True)
class World:
    """A run of the table: what is known of it, and the run itself, None where it could not be read."""

    told: Row
    curves: Sequence[Row]

    @property
    def run(self) -> Run | None:
        """The run, built up again."""
        return rebuilt(self.told["id"], self.told, self.curves) if self.told["read"] else None

    @property
    def language(self) -> bool:
        """Whether a language model is trained, by what the log says or by what the collector saw."""
        return "language" in (self.told["kinds"] or ()) or self.told["kind"] == "llm"

    @property
    def repository(self) -> str:
        """OWNER/NAME."""
        return str(self.told["repository"])


def store(runs: Sequence[Row], curves: Sequence[Row]) -> str:
    """Writes the rows in place of those of the same runs, and says how many there are."""
    size = 0
    for file, rows in ((RUNS, runs), (CURVES, curves)):
        new = pa.Table.from_pylist(list(rows), schema=COLUMNS[file])
        if file.exists():
            old, ours = pq.read_table(file, schema=COLUMNS[file]), pa.array([r["id"] for r in runs], pa.string())
            new = pa.concat_tables([old.filter(pc.invert(pc.is_in(old["id"], value_set=ours))), new])
        pq.write_table(
            new.sort_by("id"),
            file,
            compression="zstd",
            compression_level=19,
            use_byte_stream_split=["value.list.element"],
            use_dictionary=[],
        )
        size += file.stat().st_size
    told = pq.read_table(RUNS, columns=["repository"])
    return f"{told.num_rows} runs of {len(set(told['repository'].to_pylist()))} repositories, {size / 1e6:.1f} MB"


@cache
def worlds() -> tuple[World, ...]:
    """Every run of the table."""
    by: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(CURVES).to_pylist():
        by.setdefault(row["id"], []).append(row)
    return tuple(World(row, by.get(row["id"], [])) for row in pq.read_table(RUNS).to_pylist())


def labelled() -> Iterator[World]:
    """The runs that readers gave a verdict, and that could be read."""
    return (w for w in worlds() if w.told["read"] and w.told["verdicts"])


def read_once_more() -> Iterator[tuple[World, Row]]:
    """Crawled runs of repositories without other labels, as one more reader saw their numbers: to be measured on, never to be fitted to."""
    for line in (FOLDER / "third_reader.jsonl").read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        yield world(told["id"]), told


@cache
def _by_id() -> dict[str, World]:
    return {w.told["id"]: w for w in worlds()}


def world(id_: str) -> World:
    """One row of the table."""
    return _by_id()[id_]


def run(id_: str) -> Run:
    """One run of the table. Raises UnreadableRun where nothing of it could be read."""
    found = world(id_).run
    if found is None:
        raise UnreadableRun(id_)
    return found
