"""What a run left behind, counted: the answer of ``load``."""

import re
from collections import Counter

import numpy as np

from rl_advisor.answers.context import context
from rl_advisor.answers.spot_check import marked
from rl_advisor.answers.story.surroundings import settings
from rl_advisor.output import Answer
from rl_advisor.output.clean import untrusted
from rl_advisor.run import Curve, Run
from rl_advisor.settings.protocol import protocol
from rl_advisor.vocabulary import metric


def inventory(run: Run) -> Answer:
    """Frameworks, files, metrics, samples, telemetry, checkpoints, configuration and gaps of a run."""
    return {
        "run": run.name,
        **({"runs": {"count": len(run.others) + 1, "this": run.place, "others": run.others}} if run.others else {}),
        "frameworks": run.frameworks,
        "formats": run.formats,
        "steps": _steps(run),
        "metrics": [_metric(c) for c in run.curves.values() if c.explained],
        "unmapped": [c.raw for c in run.curves.values() if not c.explained],
        "unmapped_moved": [{"raw": raw, "first": first, "last": last} for raw, first, last in run.unmapped_moved()],
        **({"outcome_guess": run.outcome_guess} if run.outcome_guess else {}),
        "rollouts": _rollouts(run),
        "telemetry": _telemetry(run),
        "checkpoints": run.checkpoints,
        "events": [{"kind": e.kind, "step": e.step, "where": e.where, "text": untrusted(e.text, e.where, 300)} for e in run.events[:20]],
        "gaps": run.gaps,
        "files": run.files,
        "taken": _taken(run),
        "not_taken": run.ignored,
        "settings": settings(run),
        "config": marked(dict(run.config), "the configuration"),
        "protocol": protocol(run),
        "context": context(run),
    }


def _taken(run: Run) -> list[Answer]:
    """How many metrics and samples were taken from each file, most first."""
    metrics = Counter(re.sub(r" and \d+ more$", "", file) for curve in run.curves.values() for file in curve.source.split(", "))
    samples = Counter(run.rollouts["source"].tolist() if "source" in run.rollouts else ())
    counts = {file: {"metrics": metrics[file], "samples": samples[file]} for file in run.files}
    ordered = sorted(counts.items(), key=lambda item: (-item[1]["metrics"], -item[1]["samples"]))
    return [{"from": file, **{what: n for what, n in found.items() if n}} for file, found in ordered]


def _steps(run: Run) -> Answer:
    seen = np.unique(np.concatenate([c.step for c in run.curves.values()])) if run.curves else np.empty(0)
    return {"first": run.first_step, "last": run.last_step, "count": seen.size, "planned": run.planned_steps, "unit": run.step_unit}


def _metric(curve: Curve) -> Answer:
    known, lost = metric(curve.name), (~np.isfinite(curve.value)).sum()
    row = {"name": curve.name, "raw": curve.raw, "source": curve.source, "points": curve.value.size, "link": known.link if known else None}
    return row | {what: x for what, x in (("not_finite", lost), ("guessed", curve.guessed), ("note", curve.note)) if x}


def _rollouts(run: Run) -> Answer:
    table = run.rollouts
    steps = sorted(table["step"].dropna().unique().tolist()) if len(table) else []
    return {"count": len(table), "steps": steps, "fields": [str(c) for c in table.columns]}


def _telemetry(run: Run) -> Answer:
    table = run.telemetry
    if not len(table):
        return {"gpus": 0, "samples": 0, "hours": 0}
    return {"gpus": table["gpu"].nunique(), "samples": len(table), "hours": np.ptp(table["time"]) / 3600}
