"""Makes the table of strangers' runs: ``python -m evals.world.build FOLDER``.

FOLDER holds copies of public repositories as ``PART/OWNER__NAME/…``, what readers said in ``labels-PART.jsonl`` (a line a run: id, path,
commit, licence, verdict, …) and ``readings.jsonl`` (the second reader), and runs that nobody read in ``sources.jsonl`` (path, commit,
licence). Rows of the same runs are replaced, all others are kept. Only numbers and names of metrics go in.
"""

import argparse
import json
import multiprocessing
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evals.world.slim import Row, curves, facts
from evals.world.table import store
from rl_advisor import tools
from rl_advisor.assessment import VERDICTS
from rl_advisor.reading import UnreadableRun

CALLS = ("continue", "stop", "undecided")


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines; none where there is no file."""
    if file.exists():
        yield from (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def sources(folder: Path) -> Iterator[Row]:
    """What is known of every run before it is read: where it lies, whose it is, and what readers said."""
    second = {row["id"]: row for row in lines(folder / "readings.jsonl")}
    for file in sorted(folder.glob("labels-*.jsonl")):
        for row in lines(file):
            yield source(row) | said([row, second.get(row["id"], {})])
    for row in lines(folder / "sources.jsonl"):
        yield source(row) | said([])


def source(row: Mapping[str, Any]) -> Row:
    """Where a run came from; ``path`` is PART/OWNER__NAME/path inside of the repository, perhaps with the name of a run behind it."""
    part, repository, *inside = row["path"].split("/", 2)
    repository = repository.replace("__", "/", 1)
    licence = row.get("licence")
    return {
        "id": "/".join([repository, *inside]),
        "at": row["path"],
        "set": part,
        "repository": repository,
        "commit": str(row.get("commit") or ""),
        "licence": None if licence in (None, "none") else str(licence)[:40],
        "kind": row.get("family"),
        "algorithm": str(row.get("algorithm") or "")[:40],
    }


def said(readers: list[Mapping[str, Any]]) -> Row:
    """What readers said of a run, an entry a reader where each has his own."""
    given = [r for r in readers if r.get("verdict") in VERDICTS]
    admitted = {v for r in given for v in (r["verdict"], *r.get("admissible", ())) if v in VERDICTS}
    sure = [float(r["p_continue_pays"]) for r in given if isinstance(r.get("p_continue_pays"), int | float)]
    return {
        "verdicts": [r["verdict"] for r in given],
        "admissible": sorted(admitted),
        "links": sorted({link for r in given for link in r.get("links") or ()}),
        "end_calls": [c for r in given if (c := r.get("end_call", r.get("call"))) in CALLS],
        "half_calls": [c for r in given if (c := r.get("half_call")) in CALLS],
        "p_continue_pays": sure[0] if sure else None,
        "best_steps": [float(b) for r in given if isinstance(b := r.get("best_step"), int | float)],
    }


def row_of(told: Row, folder: Path) -> tuple[Row, list[Row]]:
    """A run and its curves, measured; no facts and no curves where it cannot be read."""
    at, kept = folder / told["at"], {k: v for k, v in told.items() if k != "at"}
    try:
        run = tools.read(at)
    except (UnreadableRun, OSError, ValueError):
        return kept | {"read": False}, []
    return kept | {"read": True} | facts(run), [{"id": told["id"]} | row for row in curves(run)]


def main() -> None:
    """Reads every run of the folder and writes the table again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    with multiprocessing.Pool(2) as pool:
        found = pool.map(partial(row_of, folder=asked.folder), list(sources(asked.folder)), chunksize=4)
    print(store([row for row, _ in found], [row for _, rows in found for row in rows]))


if __name__ == "__main__":
    main()
