"""Every run of a collection against what a person expects of it, and every number of it against a plain reading of its files.

    python -m benchmarks.coverage FOLDER...                 # folders that hold the collections `logs` and `public`, or one of them
    python -m benchmarks.coverage --write FOLDER RUN...     # what is read of these runs becomes the expectation: look at it

The expectations lie in `tests/golden`: a file for each run of `logs`, a line for each run of `public`. Of a run they hold the framework,
the files taken, the axis, the gaps, and for each role the raw name, the count of points, the first and the last value in our words.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.plain_reading import Points, Series, plain_reading
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.run import Curve, Run

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
SCALES = {
    ("sb3", "train/entropy_loss"): (-1.0, 0.0),
    ("areal", "ppo_actor/update/approx_kl/avg"): (-1.0, 0.0),
    ("tinker_cookbook", "env/all/by_group/frac_mixed"): (-1.0, 1.0),
    ("verl", "actor/lr(1e-4)"): (1e-4, 0.0),
}
"""Names of a framework whose numbers mean something else in our words, read off its source by hand: factor and what is added."""
AS_IT_IS = (1.0, 0.0)
LEFT_OUT = {"train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos", "train_loss", "timestamp"}
"""The closing summary of transformers' Trainer, totals and no points of a curve, and the clock, which every curve has as its times."""
PREFIXES = ("ray/tune/", "train/")
Golden = dict[str, Any]
Told = dict[str, Points]


def summary(run: Run) -> Golden:
    """What an expectation says of a run."""
    curves = sorted(run.curves.items())
    return {
        "frameworks": list(run.frameworks),
        "formats": sorted(run.formats),
        "files": sorted(run.files) if len(run.files) <= 12 else len(run.files),
        "step_unit": run.step_unit,
        "steps": [run.first_step, run.last_step],
        "mapped": {name: _role(c) for name, c in curves if c.mapped},
        "guessed": {name: _role(c) for name, c in curves if c.guessed},
        "unmapped": sum(not c.mapped and not c.guessed for _, c in curves),
        "rollouts": len(run.rollouts),
        "telemetry": len(run.telemetry),
        "checkpoints": len(run.checkpoints),
        "events": [e.kind for e in run.events],
        "gaps": [f"{g.where}: {g.why}" for g in run.gaps],
    }


def _role(curve: Curve) -> list[Any]:
    """Raw name, count of points, first and last value."""
    return [curve.raw, int(curve.step.size), *(float(f"{v:.6g}") if math.isfinite(v) else None for v in curve.value[[0, -1]])]


def expected() -> dict[str, Golden]:
    """Every expectation by its run's place in the collections."""
    files = {f"logs/{path.name[:-5].replace('.', '/', 1)}": json.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.json"))}
    lines = [json.loads(line) for line in (GOLDEN / "public.jsonl").read_text().splitlines()]
    return files | {line.pop("run"): line for line in lines}


def disagreements(run: Run, plain: dict[str, Series]) -> list[str]:
    """Where our reading and the plain one differ: points that one of them does not have, other values, names that were lost."""
    told: Told = {}
    for series in plain.values():
        for name, points in series.items():
            told.setdefault(_bare(name), []).extend(points)
    scales = {raw: scale for (framework, raw), scale in SCALES.items() if framework in run.frameworks}
    said = [line for curve in run.curves.values() for line in _against(curve, told, scales.get(curve.raw, AS_IT_IS))]
    ours = {_bare(c.raw) for c in run.curves.values()}
    lost = [n for n in told if n not in ours and n not in LEFT_OUT and not any(_holds(c, told[n]) for c in run.curves.values())]
    return said + ([f"lost: {', '.join(sorted(lost)[:8])}"] if lost else [])


def _bare(name: str) -> str:
    return next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), name)


def _against(curve: Curve, told: Told, scale: tuple[float, float]) -> Iterator[str]:
    points = told.get(_bare(curve.raw))
    if points is None:
        if not _of_tracker(curve.raw):
            yield f"{curve.raw}: no plain file has it"
        return
    at: dict[float, list[float]] = {}
    for step, value in points:
        if step is not None:
            at.setdefault(step, []).append(value)
    own = set(at)
    for name in (n for n in told if curve.raw.endswith(f"/{n}")):  # the same below a prefix, at other steps
        at = {s: [v] for s, v in told[name] if s is not None} | at
    if not at:
        yield from _in_order(curve, [value for _, value in points])
        return
    # An episode's step depends on the files beside it, so that a monitor is compared by its clock.
    axis = curve.time if curve.raw.startswith("monitor/") and curve.time is not None else curve.step
    missing = [s for s in own - set(axis.tolist()) if not all(math.isnan(v) for v in at[s])]
    invented = set(axis.tolist()) - set(at)
    other = [s for s, v in zip(axis.tolist(), curve.value.tolist(), strict=True) if s in at and not _one_of(v, at[s], *scale)]
    if missing or invented or other:
        yield f"{curve.raw}: {len(missing)} steps missing, {len(invented)} invented, {len(other)} values differ (at {other[:3]})"
    if axis is not curve.step and (np.diff(curve.step) < 0).any():
        yield f"{curve.raw}: episodes out of order"


def _in_order(curve: Curve, values: list[float]) -> Iterator[str]:
    """A log without steps: its values in the order of writing, which print four digits of what a tracker has."""
    if len(values) != curve.value.size or not np.allclose(values, curve.value, rtol=6e-4, atol=0, equal_nan=True):
        yield f"{curve.raw}: {curve.value.size} values, {len(values)} in the log"


def _one_of(value: float, values: list[float], factor: float, added: float) -> bool:
    """Whether a value is one of those written at its step, or their mean, in our words."""
    meant = [factor * v + added for v in (*values, float(np.mean(values)))]
    return any((math.isnan(value) and math.isnan(m)) or math.isclose(value, m, rel_tol=2e-6, abs_tol=1e-9) for m in meant)


def _holds(curve: Curve, points: Points) -> bool:
    """Whether a curve of another name has these very points, within what printing keeps: then they are there under that name."""
    if curve.value.tolist() == [v for _, v in points]:
        return True
    known = dict(zip(curve.step.tolist(), curve.value.tolist(), strict=True))
    at: dict[float, list[float]] = {}
    for step, value in points:
        at.setdefault(math.nan if step is None else step, []).append(value)
    means = {step: float(np.mean(values)) for step, values in at.items() if not math.isnan(step)}
    return all(math.isnan(v) or math.isclose(known.get(s, math.nan), v, rel_tol=1e-3, abs_tol=6e-4) for s, v in means.items())


def _of_tracker(raw: str) -> bool:
    """Columns that only a tracker writes; the plain reading has the run's own log instead of the tracker's packed file."""
    return raw.startswith(("profiling/", "_", "completions/n", "completions/size")) or raw == "train/global_step"


def checked(place: Path) -> tuple[Golden, list[str], float]:
    """What is read of a run, where the plain reading disagrees, and the seconds that reading took."""
    begin = time.perf_counter()
    try:
        run = read_run(place)
    except UnreadableRun as error:
        return {"unreadable": str(error).replace(str(place), ".")[:200]}, [], time.perf_counter() - begin
    spent = time.perf_counter() - begin
    return json.loads(json.dumps(summary(run))), disagreements(run, plain_reading(place)), spent


def main(arguments: list[str]) -> int:
    """Print a line for each run that differs and the counts; answers 1 when any differs or lies there without an expectation."""
    if arguments[:1] == ["--write"]:
        return _write(Path(arguments[1]), arguments[2:])
    counts = dict.fromkeys(("runs", "as expected", "agreeing with the plain reading"), 0)
    slowest = 0.0
    known = expected()
    for root in map(Path, arguments):
        base = root.parent if root.name in ("logs", "public") else root
        here = {name: golden for name, golden in known.items() if (base / name).exists() and (base / name).is_relative_to(root)}
        for name, golden in here.items():
            got, said, spent = checked(base / name)
            counts["runs"] += 1
            counts["as expected"] += got == golden
            counts["agreeing with the plain reading"] += not said
            slowest = max(slowest, spent)
            for line in [f"{key}: {got.get(key)} instead of {golden.get(key)}" for key in golden if golden[key] != got.get(key)] + said:
                print(f"{name}: {line}"[:400], flush=True)
        for path in _uncovered(root, [base / name for name in here]):
            print(f"no expectation for {path.relative_to(base)}")
            counts["runs"] += 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()), f"(slowest read {slowest:.1f} s)")
    return 0 if len(set(counts.values())) == 1 else 1


def _uncovered(root: Path, runs: list[Path]) -> Iterator[Path]:
    """The files of a collection that belong to no run."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.name != "README.md" and not any(path.is_relative_to(run) for run in runs):
            yield path


def _write(base: Path, names: list[str]) -> int:
    public = [json.dumps({"run": n, **g}) for n, g in expected().items() if n.startswith("public/") and n not in names]
    for name in names:
        golden, said, _ = checked(base / name)
        print(f"{name}: {'; '.join(said) or 'agrees with the plain reading'}"[:600])
        if name.startswith("public/"):
            public.append(json.dumps({"run": name, **golden}))
        else:
            (GOLDEN / f"{name.removeprefix('logs/').replace('/', '.')}.json").write_text(_page(golden))
    (GOLDEN / "public.jsonl").write_text("".join(line + "\n" for line in sorted(public)))
    return 0


def _page(golden: Golden) -> str:
    """An expectation as JSON with a line for each role."""
    text = []
    for key, value in golden.items():
        if isinstance(value, dict) and value:
            rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(r)}" for n, r in value.items())
            text.append(f" {json.dumps(key)}: {{\n{rows}\n }}")
        else:
            text.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(text) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
