"""Turns a user's own past runs into a corpus: proposes hindsight labels from what each run logged and lets a person correct them.

The proposal knows the end of the run and nothing else that an advisor would not see. The checkpoint that going on would have given is
chosen on every other evaluation and judged on the ones between, so that no noise is picked as a gain; where a run logged no
held-out score, the training reward stands for it and the note says so.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import orjson
from rl_advisor.curves import outcomes
from rl_advisor.evals.harness import CUTS, reader
from rl_advisor.evals.scoring import Floats, score_error, smooth
from rl_advisor.finding import BrokenLink
from rl_advisor.run import Run

FEWEST = 8
Ask = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Shows a person the proposal for a run; gives back what they changed in it."""


def propose(run: Run) -> dict[str, Any]:
    """A label in the form of ``labels.json``.

    The score alone does not tell what broke: where it looks broken every link is admitted, until a person says more.

    Raises:
        ValueError: fewer than eight evaluations and rewards, too few to judge by.

    """
    held, reward = outcomes.held_out(run), run.curves.get("reward/mean")
    curve = held if held is not None and held.finite()[0].size >= FEWEST else None
    used = curve or reward
    steps, scores = used.finite() if used else (np.empty(0), np.empty(0))
    if steps.size < FEWEST:
        raise ValueError(f"only {steps.size} values of a held-out score or reward were found; hindsight needs {FEWEST}")
    truth = smooth(scores)
    margin = max(0.05 * float(np.ptp(truth)), 2 * score_error(scores))
    return {
        "scenario": run.name or "run",
        "note": "proposed from the logged held-out score" if curve else "proposed from the training reward; no held-out score was logged",
        "verdicts": (said := verdicts(truth, margin)),
        "links": [] if {"improving", "plateaued"} & set(said) else list(get_args(BrokenLink)),
        "eval_visible": curve is not None,
        "cuts": {f"{share:g}": _cut(share * run.last_step, steps, scores, margin) for share in CUTS},
        "best_step": float(steps[truth.argmax()]),
        "injected_at": None,
        "true_score_drop_at": _fell(steps, truth, margin),
        "steps": float(run.last_step),
        "truth": [[float(s), float(v)] for s, v in zip(steps, scores, strict=True)],
    }


def verdicts(truth: Floats, margin: float) -> list[str]:
    """Readings of a smoothed score that hindsight admits; both where the last quarter moved by about the margin."""
    gained, lost = float(truth.max() - truth[0]), float(truth.max() - truth[-1])
    late = float(truth[-1] - truth[-max(2, truth.size // 4)])
    if gained <= margin:
        return ["degrading"] if lost > 2 * margin else ["not_learning", "plateaued"]
    if lost > max(gained / 2, margin):
        return ["collapsed", "degrading"]
    if lost > max(gained / 5, margin):
        return ["degrading"]
    return ["improving"] if late > 2 * margin else ["improving", "plateaued"] if late > margin / 2 else ["plateaued"]


def _cut(cut: float, steps: Floats, scores: Floats, margin: float) -> dict[str, Any]:
    """Whether going on after a step paid; chosen on every other evaluation, judged on the ones between."""
    picked, judged = smooth(scores[0::2]), smooth(scores[1::2])

    def worth(keep: Callable[[Floats], Any]) -> float | None:
        mine = keep(steps[0::2])
        if not mine.any():
            return None
        best = float(steps[0::2][mine][picked[mine].argmax()])
        return float(np.interp(best, steps[1::2], judged))

    before, after = worth(lambda s: s <= cut), worth(lambda s: s > cut)
    gain = 0.0 if before is None or after is None else after - before
    return {"cut": float(cut), "gain_after": round(gain, 6), "continue_pays": bool(gain > margin)}


def _fell(steps: Floats, truth: Floats, margin: float) -> float | None:
    """First step from which the score stays below its best by more than a third of what it had gained and by more than noise."""
    best = int(truth.argmax())
    limit = truth[best] - max(margin, (truth[best] - truth[0]) / 3)
    stays = np.maximum.accumulate(truth[::-1])[::-1] < limit
    stays[: best + 1] = False
    return float(steps[int(stays.argmax())]) if stays.any() else None


def label_runs(
    runs: Sequence[Path], out: Path, ask: Ask = lambda _run, _label: {}, *, read: Callable[[Path], Run] | None = None
) -> dict[str, Any]:
    """Writes a corpus that points at the runs, with labels as proposed and corrected; ``{labeled, skipped, out}``.

    Runs that were labeled before stay. Each run is linked under a name that says nothing; its files are not copied.

    Raises:
        FileNotFoundError: a run does not exist.

    """
    reading, path = read or reader(), out / "labels.json"
    labels: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    (out / "runs").mkdir(parents=True, exist_ok=True)
    known = {(out / "runs" / name).resolve() for name in labels}
    labeled, skipped = [], []
    for run in runs:
        folder = run.resolve(strict=True)
        if folder in known:
            skipped.append({"run": str(run), "why": "labeled before"})
            continue
        try:
            proposed = propose(reading(folder))
        except ValueError as why:
            skipped.append({"run": str(run), "why": str(why)})
            continue
        said = ask(str(run), proposed)
        name = f"run-{len(labels) + 1:02d}"
        (out / "runs" / name).symlink_to(folder, target_is_directory=True)
        labels[name] = proposed | {"source": str(run)} | dict(said)
        path.write_bytes(orjson.dumps(labels, option=orjson.OPT_INDENT_2) + b"\n")  # after each run: a break loses no work
        labeled.append({"run": name, **{k: labels[name][k] for k in ("source", "verdicts", "links", "note")}})
    return {"labeled": labeled, "skipped": skipped, "out": str(out)}
