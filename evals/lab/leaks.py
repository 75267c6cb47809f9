"""What a view of a labelled run tells that an advisor should not know: the independent check of ``rl_advisor.evals.blind``."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rl_advisor.evals.blind import LABEL_KEYS, NAME, PATH, blind, tells_later
from rl_advisor.evals.corpus import WHOLE, Corpus, Label
from rl_advisor.run import Run

_EPOCH = 1e8
"""Seconds: anything above is a date, not a time since the start."""


def leaks(view: Run, label: Label, cut: float = WHOLE) -> list[str]:
    """Everything in a view that an advisor should not have seen, one sentence each; an empty list when the view is clean."""
    step = label.step_at(cut)
    later = [] if cut == WHOLE else list(_later(view, step))
    return [*later, *_telling_words(view, label), *_telling_config(view, step), *_telling_times(view), *_hidden_score(view, label)]


def leaks_of(corpus: Corpus, cuts: Sequence[float], read: Callable[[Path], Run]) -> dict[str, list[str]]:
    """What the views of a corpus leak, by run and cut; empty when all are clean."""
    found = {}
    for label in corpus.labels.values():
        run = read(corpus.folder(label.run))
        for cut in sorted({*cuts, WHOLE}):
            found[f"{label.run} at {cut:g}"] = leaks(blind(run, label.step_at(cut), whole=cut == WHOLE), label, cut)
    return {where: told for where, told in found.items() if told}


def _later(view: Run, step: float) -> Iterator[str]:
    """What was written after the cut."""
    yield from (f"curve {n} goes on after the cut" for n, c in view.curves.items() if c.step.size and c.step[-1] > step)
    if len(view.rollouts) and float(view.rollouts["step"].max()) > step:
        yield "rollouts go on after the cut"
    yield from (f"checkpoint of step {c.step} is later than the cut" for c in view.checkpoints if c.step > step)
    yield from (f"event {e.kind} is later than the cut, or of no known step" for e in view.events if e.step is None or e.step > step)
    yield from (f"file {f} is named after a step later than the cut" for f in view.files if tells_later(f, step))
    yield from (f"gap at {g.where} tells of a step later than the cut" for g in view.gaps if tells_later(g.why, step))
    if len(view.telemetry):
        times = view.clock()[1]
        if not times.size or float(view.telemetry["time"].max()) > float(times.max()):
            yield "telemetry goes on after the cut"
    yield from _after_its_time(view)


def _after_its_time(view: Run) -> Iterator[str]:
    """Curves that went on after the seconds that the trainer had counted: their steps stand before the cut, on an axis of their own."""
    elapsed = view.curves["time/elapsed"].finite()[1] if "time/elapsed" in view.curves else np.empty(0)
    if elapsed.size < 2 or (np.diff(elapsed) < 0).any():
        return
    end = float(elapsed[-1] + 2 * np.diff(elapsed).max() + 2)  # rows come at intervals, in whole seconds
    for name, curve in view.curves.items():
        if curve.time is not None and curve.time.size and end < float(np.nanmax(curve.time)) < _EPOCH:
            yield f"curve {name} goes on after the time of the cut"


def _telling_words(view: Run, label: Label) -> Iterator[str]:
    """The label's own words, or a path, in a name or a text."""
    words = [w for w in (label.family, label.source, label.note) if w]
    names, text = _any_of(words), _any_of([w for w in words if re.search(r"[-_ ]", w)])
    for place, word in _names(view):
        if names.search(word):
            yield f"{place} names the scenario: {word!r}"
        elif PATH.search(word):
            yield f"{place} is a path: {word!r}"
    for place, line in _texts(view):
        if text.search(line):  # a family of one word, like ``nan``, is what an honest log says too
            yield f"{place} names the scenario: {line!r}"
        elif any(PATH.search(word) for word in line.split(" ")):
            yield f"{place} tells a path: {line!r}"
    if view.name != NAME:
        yield f"the run is called {view.name!r}"


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9])({'|'.join(map(re.escape, words))})(?![a-z])" if words else r"(?!)", re.IGNORECASE)


def _names(view: Run) -> Iterator[tuple[str, str]]:
    yield "name", view.name
    yield from (("a file", f) for f in view.files)
    yield from ((f"the source of {n}", s) for n, c in view.curves.items() for s in c.source.split(", "))
    yield from (("a checkpoint", c.path) for c in view.checkpoints)
    yield from (("an event", e.where) for e in view.events)
    yield from (("a gap", g.where) for g in view.gaps)
    if "source" in view.rollouts:
        yield from (("a rollout's source", str(s)) for s in view.rollouts["source"].unique())
    flat = [*_flat(view.config), *_flat(view.settings)]
    yield from ((f"config {key}", value) for key, value in flat if isinstance(value, str))


def _texts(view: Run) -> Iterator[tuple[str, str]]:
    yield from (("an event", e.text) for e in view.events)
    yield from (("a gap", g.why) for g in view.gaps)


def _telling_config(view: Run, step: float) -> Iterator[str]:
    """Keys of the label, and counters that have run past the cut."""
    for key, value in _flat(view.config):
        last = re.split(r"[/.]", key)[-1].lower()
        if last in LABEL_KEYS:
            yield f"config {key} is part of the label"
        elif last.startswith(("global_step", "best_")) and isinstance(value, int | float) and value > step:
            yield f"config {key} counts further than the cut: {value}"


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        items: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
        for item in items:
            if isinstance(item, Mapping):
                yield from _flat(item, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}", item


def _telling_times(view: Run) -> Iterator[str]:
    """Dates, by which one run is told from another."""
    for name, curve in view.curves.items():
        if curve.time is not None and curve.time.size and float(np.nanmax(curve.time)) > _EPOCH:
            yield f"curve {name} carries absolute times"
    if len(view.telemetry) and float(pd.to_numeric(view.telemetry["time"]).max()) > _EPOCH:
        yield "telemetry carries absolute times"


def _hidden_score(view: Run, label: Label) -> Iterator[str]:
    """The hidden true score as a curve, in a run whose own log did not have it."""
    if label.eval_visible or not label.truth.size or np.ptp(label.truth) == 0:
        return
    for name, curve in view.curves.items():
        both = np.isin(curve.step, label.truth_steps)
        true = np.interp(curve.step[both], label.truth_steps, label.truth)
        # where the true score stands still, whatever stands at the same level would look like it
        if both.sum() >= 3 and np.ptp(true) > 1e-3 and np.allclose(curve.value[both], true, atol=5e-4):
            yield f"curve {name} is the hidden true score"
