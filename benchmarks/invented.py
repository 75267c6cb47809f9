"""How often a number is shown that does not stand in the log: 20,000 damaged logs, read and searched.

``python benchmarks/invented.py [FOLDER ...] [--logs 20000] [--seed 0]``: the tests' logs, and those below the folders, damaged one to six
times each. Prints every invention and the counts; the exit code is 1 where there is one.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "formats")]

from test_nothing_invented import logs  # noqa: E402

from inventing import damaged_logs, invented, read_of  # noqa: E402
from mutating import LARGEST  # noqa: E402

SHOWN = 20


def real(folders: list[Path], dice: random.Random) -> list[tuple[str, bytes]]:
    """Of each text log below the folders a stretch of at most LARGEST bytes, from its beginning or from somewhere inside."""
    found = []
    for path in sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in {".log", ".txt", ".md", ".out"} and p.is_file()):
        data = path.read_bytes()
        begin = dice.choice((0, dice.randrange(max(1, len(data) - LARGEST))))
        found.append((f"train{path.suffix}", data[begin : begin + LARGEST]))
    return found


def main() -> int:
    """Read the damaged logs and count what was made up."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("folders", nargs="*", type=Path)
    given.add_argument("--logs", type=int, default=20_000)
    given.add_argument("--seed", type=int, default=0)
    asked = given.parse_args()
    corpus = [*logs(), *real(asked.folders, random.Random(asked.seed))]  # noqa: S311 - no secret
    said, counts = list[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in damaged_logs(corpus, asked.logs, asked.seed):
            text, run = read_of(Path(folder), name, data)
            found = list(invented(text, run)) if run is not None else []
            counts.update(read=run is not None and bool(run.curves), invented=bool(found))
            counts.update(points=sum(c.step.size for c in run.curves.values()) if run is not None else 0)
            said += [f"{run.formats[0]}: {what}" for what in found[:3] if run is not None]
    print("\n".join(said[:SHOWN]))
    read = f"{counts['read']} with curves, {counts['points']:,} points"
    print(f"{asked.logs} damaged logs of {len(corpus)}: {read}; {counts['invented']} invent something")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
