"""Makes the set: ``python -m evals.proving_ground.make FOLDER --blocks 50``; goes on where it was interrupted."""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from evals.proving_ground import plans
from evals.proving_ground.training import trained_to


def one(folder: Path, seed: int, number: int) -> tuple[int, float, int, str]:
    """A block by its number: how many runs it has, in how many seconds it was made, and what it is."""
    began, block = time.monotonic(), plans.block(seed, number)
    trained_to(folder, block)
    return len(block.runs), time.monotonic() - began, block.steps, f"{block.task} {block.learner} {block.shape}"


def make(folder: Path, seed: int, numbers: range, workers: int) -> None:
    """All blocks of these numbers, with a line of progress for each."""
    folder.mkdir(parents=True, exist_ok=True)
    began, done = time.monotonic(), 0
    with ProcessPoolExecutor(workers, initializer=os.nice, initargs=(19,)) as pool:
        asked = [pool.submit(one, folder, seed, number) for number in numbers]
        for i, answer in enumerate(as_completed(asked), 1):
            runs, seconds, steps, what = answer.result()
            done += runs
            rate = done / (time.monotonic() - began) * 60
            print(f"{i}/{len(asked)} blocks, {done} runs, {rate:.0f} a minute; last: {what}, {steps} steps, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--blocks", type=int, default=50)
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_args()
    make(given.folder, given.seed, range(given.first, given.first + given.blocks), given.workers)
