"""``python -m evals.seeds [NAME ...]``: makes the situations, asks the built-in judge, and says which get the answer they must."""

import argparse
import json
import tempfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from evals.seeds import answered, areal_runs, course_of_runs, other_numbers, third_look
from evals.seeds.expected import Situation, lacking
from evals.seeds.frames import written
from rl_advisor.advisors.builtin import assess
from rl_advisor.assessment import Assessment
from rl_advisor.reading import read_run

WRITTEN = (course_of_runs, areal_runs, answered, other_numbers, third_look)
SITUATIONS: dict[str, Situation] = {s.name: s for part in WRITTEN for s in part.SITUATIONS}


def asked(name: str, framework: str, draw: int, folder: Path) -> Assessment:
    """What the built-in judge says of one drawing of a situation."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), zlib.crc32(framework.encode()), draw])
    made = SITUATIONS[name].make()
    written(made, framework, int(rng.integers(*made.rows)), rng, folder)
    return assess(read_run(folder))


def tried(case: tuple[str, str, int]) -> tuple[str, str, int, list[str]]:
    """A drawing of a situation, and what its answer lacks."""
    name, framework, draw = case
    with tempfile.TemporaryDirectory() as folder:
        a = asked(name, framework, draw, Path(folder) / "run")
    said = (
        [f"[{a.verdict} {a.confidence} {a.call}/{a.call_reason} {a.first_broken_link}]"]
        if (short := lacking(a, SITUATIONS[name].expected))
        else []
    )
    return name, framework, draw, short + said


def main() -> None:
    """Print a line a situation, and the share that is answered as it must be."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("names", nargs="*", help="situations; all when left out")
    ask.add_argument("--draws", type=int, default=1, help="drawings of each situation in each framework")
    ask.add_argument("--first", type=int, default=0, help="number of the first drawing")
    ask.add_argument("--jobs", type=int, default=1)
    ask.add_argument("--json", metavar="FILE", help="keep what lacked")
    told = ask.parse_args()
    names = [n for n in SITUATIONS if not told.names or any(n.startswith(x) for x in told.names)]
    cases = [(n, f, told.first + d) for n in names for f in SITUATIONS[n].frameworks for d in range(told.draws)]
    with ProcessPoolExecutor(told.jobs) as pool:
        found = list(pool.map(tried, cases, chunksize=2))
    good = 0
    for name in names:
        mine = [row for row in found if row[0] == name]
        right = sum(not row[3] for row in mine) / len(mine)
        good += right >= 0.9
        first = next((row for row in mine if row[3]), None)
        print(f"{name:30} {right:4.0%}" + (f"  {first[1]} {first[2]}: {'; '.join(first[3])}" if first else ""))
    print(
        f"{good} of {len(names)} situations right in nine of ten drawings; {np.mean([not r[3] for r in found]):.1%} of {len(found)} drawings"
    )
    if told.json:
        Path(told.json).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
