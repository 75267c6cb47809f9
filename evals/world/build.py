"""Makes the table of strangers' runs: ``python -m evals.world.build FOLDER``.

FOLDER holds copies of public repositories as ``PART/OWNER__NAME/…``, what readers said in ``labels-PART.jsonl`` (a line a run: id, path,
commit, licence, verdict, …) and ``readings.jsonl`` (the second reader), and runs that nobody read in ``sources.jsonl`` (path, commit,
licence). Rows of the same runs are replaced, all others are kept. Only numbers and names of metrics go in. Of the runs that nobody read
those count that have an outcome or signs of some length and are no copy; the others are told in ``FOLDER/left.jsonl``.
"""

import argparse
import json
import multiprocessing
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from evals.world.slim import Row, curves, facts
from evals.world.table import store, worlds
from rl_advisor import tools
from rl_advisor.curves.outcomes import outcome
from rl_advisor.curves.task import task
from rl_advisor.finding import VERDICTS
from rl_advisor.reading import UnreadableRun
from rl_advisor.run import Curve, Run

LANGUAGE = re.compile(r"grpo|gspo|dapo|rloo|dpo(?!int)|orpo|rlhf|rlvr")
"""Words in the path of a run that nobody read which say that it trains a language model."""
CALLS = ("continue", "stop", "undecided")
FEWEST = 5
"""Points of a curve below which it says nothing; readers judged runs of five."""
SIGNS, ELSEWHERE = 3, ("progress/", "time/", "throughput/", "memory/")
"""How many metrics of the training itself a run without an outcome must have; what is none."""


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
        "kind": row.get("family") or ("llm" if row.get("built_on") or LANGUAGE.search(row["path"].lower()) else None),
        "built_on": row.get("built_on"),
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
    """A run and its curves, measured; no facts and no curves where it cannot be read, and why, for a run that nobody read."""
    at, kept = folder / told["at"], {k: v for k, v in told.items() if k != "at"}
    try:
        run = tools.read(at)
    except (UnreadableRun, OSError, ValueError) as why:
        return kept | {"read": False, "left": None if told["verdicts"] else f"not read: {why}"}, []
    left = None if told["verdicts"] else useless(run)
    return kept | {"read": True, "left": left} | facts(run), [] if left else [{"id": told["id"]} | row for row in curves(run)]


def useless(run: Run) -> str | None:
    """Why the table has no use for a run, if it has none: it is of trainings by reward, and nobody says what this log is."""
    curve = outcome(run)
    if task(run).kind == "supervised":
        return "supervised"
    known = sum(c.mapped and not c.name.startswith(ELSEWHERE) and _points(c) >= FEWEST for c in run.curves.values())
    if curve is not None:
        points = _points(curve)
        guessed = "nothing but a guessed outcome" if run.outcome_guess is not None and not known and not run.frameworks else None
        return f"{points} points of {curve.name}" if points < FEWEST else guessed
    return f"no outcome among {', '.join(sorted(run.curves)[:12])}" if known < SIGNS else None


def _points(curve: Curve) -> int:
    return int(np.isfinite(curve.value).sum())


def stands(id_: str, known: set[str]) -> bool:
    """Whether a run is known already, or the folder that it lies in, or a log inside of it."""
    return id_ in known or any(id_.startswith(f"{k}/") or k.startswith(f"{id_}/") for k in known if k.count("/") > 1 < id_.count("/"))


def unlike(found: list[tuple[Row, list[Row]]]) -> Iterator[tuple[Row, list[Row]]]:
    """The runs without those that repeat a run before them, curve by curve."""
    seen: dict[int, str] = {}
    for row, mine in found:
        same = hash(tuple(sorted((c["raw"], c["value"].tobytes()) for c in mine)))
        if mine and seen.setdefault(same, row["id"]) != row["id"] and not row["verdicts"]:
            yield row | {"left": f"a copy of {seen[same]}"}, []
        else:
            yield row, mine


def main() -> None:
    """Reads every run of the folder and writes the table again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--new", action="store_true", help="only runs that were not measured before")
    asked = parser.parse_args()
    told, before = asked.folder / "left.jsonl", []
    if asked.new:
        before = list(lines(told))
    known = {row["id"] for row in before} | ({w.told["id"] for w in worlds()} if asked.new else set())
    with multiprocessing.Pool(asked.processes) as pool:
        wanted = [row for row in sources(asked.folder) if not stands(row["id"], known)]
        found = list(unlike(pool.map(partial(row_of, folder=asked.folder), wanted, chunksize=4)))
    kept = [(row, mine) for row, mine in found if not row["left"]]
    left = before + [{"id": row["id"], "why": row["left"]} for row, _ in found if row["left"]]
    told.write_text("".join(json.dumps(row) + "\n" for row in left), encoding="utf-8")
    print(f"{len(left)} runs that nobody read are of no use here: left.jsonl")
    print(store([row for row, _ in kept], [row for _, rows in kept for row in rows]))


if __name__ == "__main__":
    main()
