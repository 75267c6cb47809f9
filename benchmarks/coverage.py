"""What is read of each run given, beside what a person checked. Run: python benchmarks/coverage.py [--write] RUN..."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.run import Run

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"


def summary(run: Run) -> dict[str, Any]:
    """What a golden file says of a run."""
    return {
        "frameworks": list(run.frameworks),
        "formats": sorted(run.formats),
        "step_unit": run.step_unit,
        "first_step": run.first_step,
        "last_step": run.last_step,
        "mapped": {n: c.raw for n, c in sorted(run.curves.items()) if c.mapped},
        "guessed": {n: c.raw for n, c in sorted(run.curves.items()) if c.guessed},
        "unmapped": sum(not c.mapped and not c.guessed for c in run.curves.values()),
        "rollouts": len(run.rollouts),
        "telemetry": len(run.telemetry),
        "checkpoints": len(run.checkpoints),
        "gaps": [f"{g.where}: {g.why}" for g in run.gaps],
    }


def main(arguments: list[str]) -> int:
    """Print the table; with ``--write`` keep it as golden files. Answers 1 when a golden file says otherwise."""
    wrong = 0
    for path in (Path(a) for a in arguments if a != "--write"):
        name = ".".join(path.parts[-2:])
        begin = time.perf_counter()
        try:
            got = summary(read_run(path))
        except UnreadableRun as error:
            got = {"unreadable": str(error).replace(str(path), ".")[:200]}
        spent = time.perf_counter() - begin
        golden = GOLDEN / f"{name}.json"
        if "--write" in arguments:
            golden.write_text(json.dumps(got, indent=1) + "\n")
        known = json.loads(golden.read_text()) if golden.exists() else None
        verdict = "new" if known is None else "ok" if known == got else "DIFFERS"
        wrong += verdict == "DIFFERS"
        print(_line(name, got, spent), verdict, flush=True)
    return wrong > 0


def _line(name: str, got: dict[str, Any], spent: float) -> str:
    if "unreadable" in got:
        return f"{name:60s} unreadable {spent:5.2f} s: {got['unreadable']}"
    axis = f"{got['step_unit']} {got['first_step']:g}..{got['last_step']:g}"
    counts = f"{len(got['mapped']):3d} mapped {len(got['guessed']):2d} guessed {got['unmapped']:3d} not {len(got['gaps']):2d} gaps"
    return f"{name:60s} {'+'.join(got['frameworks']) or '-':16s} {axis:28s} {counts} {spent:5.2f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
