"""A corpus of labeled runs on disk: ``CORPUS/runs/<id>`` is what an advisor may see, ``CORPUS/labels.json`` what it may not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.evals.scoring import Floats

WHOLE = 1.0
"""The share of a run that stands for all of it."""


@dataclass(frozen=True)
class Prefix:
    """What hindsight says about going on after a share of the run."""

    share: float
    step: float
    gain_after: float
    """Best true score after the cut minus the best before it."""
    continue_pays: bool


@dataclass(frozen=True)
class Label:
    """What is known about a run and hidden from the advisor."""

    run: str
    family: str
    """Runs of one family differ by seed or task only; splits and intervals never divide a family."""
    verdicts: frozenset[str]
    """Admissible verdicts on the whole run."""
    links: frozenset[str]
    """Admissible first broken links; empty when none is broken."""
    steps: float
    prefixes: Mapping[float, Prefix]
    truth_steps: Floats
    truth: Floats
    """The hidden true score at ``truth_steps``."""
    best_step: float | None = None
    injected_at: float | None = None
    drop_at: float | None = None
    """Step at which the true score fell."""
    eval_visible: bool = True
    source: str = ""
    note: str = ""
    split: str = ""
    onset: tuple[float, float] | None = None
    """Interval in which the first break begins, where it is known."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is broken in this run."""
        return not self.links

    def step_at(self, cut: float) -> float:
        """The step up to which a cut shows the run."""
        return self.steps if cut == WHOLE else self.prefixes[cut].step

    def visible_at(self, step: float) -> bool:
        """Whether the fault had been put in, or the true score had fallen, by that step; at the end always true."""
        marks = [m for m in (self.injected_at, self.drop_at) if m is not None]
        return step >= self.steps or any(m < step for m in marks)


@dataclass(frozen=True)
class Corpus:
    """Labels by run, and the folder they belong to."""

    root: Path
    labels: Mapping[str, Label]

    def folder(self, run: str) -> Path:
        """The folder that an advisor may see."""
        return self.root / "runs" / run


def read_corpus(root: Path) -> Corpus:
    """The labeled runs under ``root``, in the order of their names.

    Raises:
        FileNotFoundError: no ``labels.json``, or a labeled run has no folder.
        ValueError: a label lacks a field.

    """
    path = root / "labels.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} not found; a corpus is a folder with labels.json and runs/<id>/")
    labels = {run: read_label(run, raw) for run, raw in sorted(json.loads(path.read_text(encoding="utf-8")).items())}
    absent = [run for run in labels if not (root / "runs" / run).is_dir()]
    if absent:
        raise FileNotFoundError(f"labels.json of {root} names runs without a folder under runs/: {', '.join(absent)}")
    return Corpus(root, labels)


def read_label(run: str, raw: Mapping[str, Any]) -> Label:
    """The label of one run from its entry in ``labels.json``."""
    wanted = ("scenario", "verdicts", "links", "steps", "cuts", "truth")
    missing = [key for key in wanted if key not in raw]
    if missing:
        raise ValueError(f"label of {run} lacks {', '.join(missing)}; each needs {', '.join(wanted)}")
    truth = np.array(raw["truth"], dtype=np.float64).reshape(-1, 2)
    return Label(
        run=run,
        family=raw["scenario"],
        verdicts=frozenset(raw["verdicts"]),
        links=frozenset(raw["links"]),
        steps=float(raw["steps"]),
        prefixes={
            float(s): Prefix(float(s), float(c["cut"]), float(c["gain_after"]), bool(c["continue_pays"])) for s, c in raw["cuts"].items()
        },
        truth_steps=truth[:, 0],
        truth=truth[:, 1],
        best_step=_number(raw.get("best_step")),
        injected_at=_number(raw.get("injected_at")),
        drop_at=_number(raw.get("true_score_drop_at")),
        eval_visible=bool(raw.get("eval_visible", True)),
        source=str(raw.get("source", "")),
        note=str(raw.get("note", "")),
        split=str(raw.get("split", "")),
        onset=_onset(raw, truth[:, 0]),
    )


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _onset(raw: Mapping[str, Any], steps: Floats) -> tuple[float, float] | None:
    """The label's own interval, else the one from where the fault was put in to where the score fell, as finely as it was scored."""
    if raw.get("onset"):
        low, high = raw["onset"]
        return float(low), float(high)
    injected, fell = _number(raw.get("injected_at")), _number(raw.get("true_score_drop_at"))
    spacing = float(np.median(np.diff(steps))) if steps.size > 1 else 0.0
    marks = [m for m in (injected,) if m is not None] + ([fell - spacing, fell + spacing] if fell is not None else [])
    return (max(0.0, min(marks)), max(marks)) if marks else None
