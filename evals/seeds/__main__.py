"""``python -m evals.seeds [NAME ...]``: makes the situations, asks the built-in judge, and says which get the answer they must."""

import argparse
import json
import sys
import tempfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from statistics import mean

import click
import numpy as np
from evals.seeds import answered, areal_runs, course_of_runs, doors, in_words, machine, other_numbers, third_look
from evals.seeds.expected import ENOUGH, Score, Situation, contrary, lacking
from evals.seeds.frames import written
from rl_advisor.api import assess
from rl_advisor.finding import Assessment
from rl_advisor.reading import read_run

WRITTEN = (course_of_runs, areal_runs, answered, other_numbers, third_look)
SITUATIONS: dict[str, Situation] = {s.name: s for part in WRITTEN for s in part.SITUATIONS}
DOORS: dict[str, doors.Asked] = {s.name: s for s in (*doors.SITUATIONS, *machine.SITUATIONS, *in_words.SITUATIONS)}
EVERY: dict[str, Situation | doors.Asked] = {**SITUATIONS, **DOORS}
Told = tuple[str, str, int, Assessment | tuple[bool, bool]]
"""Situation, framework, draw, and the judge's answer; of another verb whether the situation and whether its near-miss is answered so."""


def chance(name: str, framework: str, draw: int) -> np.random.Generator:
    """The chance of one drawing."""
    return np.random.default_rng([zlib.crc32(name.encode()), zlib.crc32(framework.encode()), draw])


def asked(name: str, framework: str, draw: int, folder: Path) -> Assessment:
    """What the built-in judge says of one drawing of a situation."""
    rng = chance(name, framework, draw)
    made = SITUATIONS[name].make()
    written(made, framework, int(rng.integers(*made.rows)), rng, folder)
    return assess(read_run(folder))


def both(name: str, form: str, draw: int, folder: Path) -> tuple[bool, bool]:
    """Whether another verb's answer is as the seed says, and whether its answer to the near-miss is."""
    asked_of = DOORS[name]
    drawings = (doors.Drawing(form, folder / str(near), chance(name, form, draw), near) for near in (False, True))
    right, near = (bool(asked_of.right(asked_of.ask(drawing))) for drawing in drawings)
    return right, near


def tried(case: tuple[str, str, int]) -> Told:
    """A drawing of a situation, and its answer."""
    name, framework, draw = case
    with tempfile.TemporaryDirectory() as folder:
        return name, framework, draw, (both if name in DOORS else asked)(name, framework, draw, Path(folder) / "run")


def wrong(told: Told) -> list[str]:
    """What one answer lacks; empty when it is as it must be."""
    name, *_, answer = told
    if isinstance(answer, Assessment):
        return lacking(answer, SITUATIONS[name].expected)
    right, near = answer
    return ["is not answered so"] * (not right) + ["its near-miss is answered so"] * near


def reverse(told: Told) -> bool:
    """Whether one answer says the reverse: of another verb, that the near-miss is answered so and the situation is not."""
    name, *_, answer = told
    return contrary(answer, SITUATIONS[name].expected) if isinstance(answer, Assessment) else answer == (False, True)


def scored(answers: list[Told]) -> dict[str, Score]:
    """Situation -> how often it is answered as it must be in each framework, and how often other situations' answers would do as well."""
    out: dict[str, Score] = {}
    for name in dict.fromkeys(row[0] for row in answers):
        mine = {f: [row for row in answers if row[:2] == (name, f)] for f in EVERY[name].frameworks}
        right = {f: mean(not wrong(row) for row in rows) for f, rows in mine.items()}
        opposite = max(mean(reverse(row) for row in rows) for rows in mine.values())
        if name in DOORS:
            near = mean(near for rows in mine.values() for *_, (_, near) in rows)
            out[name] = Score(right, near, by_value=True, opposite=opposite)
            continue
        expected = SITUATIONS[name].expected
        others = [
            not lacking(a, expected)
            for other, framework, _, a in answers
            if other != name and framework in mine and isinstance(a, Assessment)
        ]
        out[name] = Score(right, mean(others) if others else 0.0, expected.by_value, opposite)
    return out


def drawn(cases: list[tuple[str, str, int]], jobs: int) -> list[Told]:
    """The answers to these drawings."""
    with (
        ProcessPoolExecutor(jobs) as pool,
        click.progressbar(pool.map(tried, cases, chunksize=2), length=len(cases), label="drawings", file=sys.stderr) as answers,
    ):
        return list(answers)


def main() -> None:
    """Print a line a situation, and the share that is answered as it must be."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("names", nargs="*", help="situations; all when left out")
    ask.add_argument("--draws", type=int, default=1, help="drawings of each situation in each framework")
    ask.add_argument("--again", type=int, default=0, help="drawings of a situation that is answered wrong in one of them")
    ask.add_argument("--first", type=int, default=0, help="number of the first drawing")
    ask.add_argument("--jobs", type=int, default=1)
    ask.add_argument("--json", metavar="FILE", help="keep the shares, from which docs/seeds.md is written")
    told = ask.parse_args()
    names = [n for n in EVERY if not told.names or any(n.startswith(x) for x in told.names)]
    cases = [(n, f, told.first + d) for n in names for f in EVERY[n].frameworks for d in range(told.draws)]
    found = drawn(cases, told.jobs)
    missed = {row[0] for row in found if wrong(row)}
    more = range(told.first + told.draws, told.first + told.again)
    found += drawn([(n, f, d) for n in names if n in missed for f in EVERY[n].frameworks for d in more], told.jobs)
    scores = scored(found)
    for name, score in scores.items():
        failed = next((row for row in found if row[0] == name and wrong(row)), None)
        why = "" if failed is None else f"  {failed[1]} {failed[2]}: {'; '.join(wrong(failed))}"
        print(f"{name:30} {score.worst:4.0%}  opposite {score.opposite:3.0%}  others {score.others:3.0%}{why}")
    good = sum(score.worst >= ENOUGH for score in scores.values())
    right = [not wrong(row) for row in found]
    print(f"{good} of {len(names)} situations right in nine of ten drawings of each framework; {mean(right):.1%} of {len(found)} drawings")
    if told.json:
        keep(Path(told.json), scores, told.draws, told.again, added=bool(told.names))


def keep(path: Path, scores: dict[str, Score], draws: int, again: int, *, added: bool) -> None:
    """Write the shares; of a few situations drawn anew (``added``) into those of all, with the share of the others' answers that was seen then."""
    kept = {"draws": draws, "again": again, "situations": {n: asdict(score) for n, score in scores.items()}}
    if added and path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        anew = {n: told | {"others": old["situations"].get(n, told)["others"]} for n, told in kept["situations"].items()}
        kept = old | {"situations": old["situations"] | anew}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
