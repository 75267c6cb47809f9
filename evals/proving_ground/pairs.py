"""Pairs of runs for the case file: ``python -m evals.proving_ground.pairs FOLDER --blocks 30``.

In each group two runs are sound and two have the same fault: the first broken run is the one a case is opened on; a sound run stands for the
right repair of it, the other broken one for a repair that missed (something was changed, the fault stayed). All runs of a group log alike.
Only groups whose fault did harm by the true score count: of the others nobody would open a case.
"""

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from evals.proving_ground import make, plans, truth
from evals.proving_ground.faults import Broken
from evals.proving_ground.training import trained_to

LAYOUT = plans.Layout(groups=10, sound=2, broken=2, alike=True)


@dataclass(frozen=True)
class Pair:
    """A broken run, a later one, and whether what was wrong had been repaired in it."""

    first: Path
    second: Path
    repaired: bool
    links: tuple[str, ...]
    """The links that were broken in the first."""
    block: int


def block(seed: int, number: int) -> plans.Block:
    """A block in which both broken runs of a group have the same single fault: early, lasting, and in the upper half of its doses."""
    made = plans.block(seed, number, LAYOUT)
    faults = {run.group: [harder(run.broken[0])] for run in made.runs if run.broken}
    return replace(made, runs=[replace(run, broken=faults[run.group]) if run.broken else run for run in made.runs])


def harder(broken: Broken) -> Broken:
    """A fault such as people open a case on."""
    return replace(broken, dose=0.5 + broken.dose / 2, onset=broken.onset / 2, until=1.0)


def one(folder: Path, seed: int, number: int) -> None:
    """Trains a block where it does not lie there yet."""
    trained_to(folder, block(seed, number))


def pairs(folder: Path) -> Iterator[Pair]:
    """Two pairs of each group that was harmed: rightly repaired, and not."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    for name, label in labels.items():
        group, place = name.rsplit("-", 1)
        if place != "2" or label["cause"] is None or set(label["verdicts"]) & truth.SOUND:
            continue
        for other, repaired in (("0", True), ("3", False)):
            runs = folder / "runs"
            yield Pair(runs / name, runs / f"{group}-{other}", repaired, tuple(label["links"]), int(group.split("-")[0]))


def main() -> None:
    """Make them, and say how many there are."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--seed", type=int, default=5)
    asked.add_argument("--blocks", type=int, default=30)
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(given.workers) as pool:
        for number, _ in enumerate(pool.map(one, *zip(*((given.folder, given.seed, n) for n in range(given.blocks)), strict=True))):
            print(f"{number + 1}/{given.blocks} blocks", flush=True)
    make.write(given.folder)
    print(f"{sum(1 for _ in pairs(given.folder))} pairs")


if __name__ == "__main__":
    main()
