"""A corpus of labeled runs on disk: ``CORPUS/runs/<id>`` is what an advisor may see, ``CORPUS/labels.json`` what it may not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from rl_advisor.evals.scoring import Floats

WHOLE = 1.0
"""The share of a run that stands for all of it."""
_AS_WRITTEN = ConfigDict(populate_by_name=True, arbitrary_types_allowed=True)


@checked(frozen=True, config=_AS_WRITTEN)
class Prefix:
    """What hindsight says about going on after a share of the run."""

    step: Annotated[float, Field(alias="cut")]
    gain_after: float
    """Best true score after the cut minus the best before it."""
    continue_pays: bool


@checked(frozen=True, config=_AS_WRITTEN)
class Label:
    """What is known about a run and hidden from the advisor."""

    run: str
    family: Annotated[str, Field(alias="scenario")]
    """Runs of one family differ by seed or task only; splits and intervals never divide a family."""
    verdicts: frozenset[str]
    """Admissible verdicts on the whole run."""
    links: frozenset[str]
    """Admissible first broken links; empty when none is broken."""
    steps: float
    prefixes: Annotated[dict[float, Prefix], Field(alias="cuts")]
    truth_steps: Floats
    truth: Floats
    """The hidden true score at ``truth_steps``."""
    best_step: float | None = None
    injected_at: float | None = None
    drop_at: Annotated[float | None, Field(alias="true_score_drop_at")] = None
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
    said = {"run": run, "truth_steps": truth[:, 0], "truth": truth[:, 1], "onset": raw.get("onset") or _onset(raw, truth[:, 0])}
    return TypeAdapter(Label).validate_python({**raw, **said})


def _onset(raw: Mapping[str, Any], steps: Floats) -> tuple[float, float] | None:
    """The interval from where the fault was put in to where the score fell, as finely as it was scored."""
    injected, fell = raw.get("injected_at"), raw.get("true_score_drop_at")
    spacing = float(np.median(np.diff(steps))) if steps.size > 1 else 0.0
    marks = [m for m in (injected,) if m is not None] + ([fell - spacing, fell + spacing] if fell is not None else [])
    return (max(0.0, min(marks)), max(marks)) if marks else None
