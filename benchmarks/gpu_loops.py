"""How the GPU profile does on loops that it was not made for: simulated ones, and recordings put together in other proportions.

Run: python benchmarks/gpu_loops.py. Errors are in points of the shares of generation, training and waiting; ``-`` where the profile says
that it cannot tell.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from rl_advisor.gpu.profile import profile
from rl_advisor.run import Run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from gpu_loops import CANNOT, LOOPS, Loop, Sensor, simulate
from gpu_pieces import RECIPES, put_together
from gpu_runs import RECORDINGS, shares

WAYS: dict[str, Callable[[Run], Run]] = {
    "with step ends": lambda run: run,
    "a row a second, step ends": lambda run: replace(run, telemetry=run.telemetry.iloc[::10].reset_index(drop=True)),
}


def loops() -> Iterator[tuple[str, Loop]]:
    """Every loop that is tried, by name; long steps get more time."""
    for name, parts in LOOPS.items():
        yield f"simulated: {name}", simulate(parts, seconds=300 if "slow" in name else 60, sensor=Sensor(), seed=1)
    for name, recipe in RECIPES.items():
        for recording in RECORDINGS:
            yield f"{recording} as {name}", put_together(recording, recipe, seed=1)


def main() -> None:
    """Print the errors loop by loop, then their means; last, what is said where nothing can be told."""
    errors: dict[str, list[float]] = {way: [] for way in WAYS}
    confident: dict[str, list[float]] = {way: [] for way in WAYS}
    for name, loop in loops():
        line = ""
        for way, seen in WAYS.items():
            answer = profile(seen(loop.run))
            found = shares(answer)
            sure = {row["confidence"] for row in answer["phases"] if row["name"] == "training"}
            off = None if found is None else 100 * (found - loop.shares())
            if off is not None:
                errors[way] += list(np.abs(off))
                confident[way] += list(np.abs(off)) if sure == {"high"} else []
            line += f"{'-' if off is None else ' '.join(f'{x:+.0f}' for x in off):>14s} {next(iter(sure), ''):6s}"
        print(f"{name:50s} true {' '.join(f'{100 * x:3.0f}' for x in loop.shares())} {line}", flush=True)
    for way, found in errors.items():
        high = f"{np.mean(confident[way]):.1f}, at most {np.max(confident[way]):.0f}" if confident[way] else "none"
        print(f"{way}: {len(found) // 3} named, mean error {np.mean(found):.1f} points, at most {np.max(found):.0f}")
        print(f"    of high confidence: {high}")
    for name, parts in CANNOT.items():
        named = [w for w, seen in WAYS.items() if shares(profile(seen(simulate(parts, seed=1).run))) is not None]
        print(f"{name}: {'named in ' + ', '.join(named) if named else 'cannot tell, every time'}")


if __name__ == "__main__":
    main()
