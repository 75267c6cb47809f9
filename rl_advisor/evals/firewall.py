"""What an advisor may see of a labeled run: nothing later than the cut, and no name, path or time that gives the answer away.

``blind`` makes such a view; ``leaks`` is the independent check of one, and knows the label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.evals.corpus import WHOLE, Label
from rl_advisor.run import Curve, Gap, Run

if TYPE_CHECKING:
    pass

NAME = "run"
_PROGRESS = ("global_step", "epoch", "total_flos", "num_input_tokens_seen", "best_")
_NAMES = re.compile(
    r"(.*[/._-])?(((run|exp|experiment|trial|project|job|study|session|wandb|group)_?(name|id))|(run|base|root)|name|project|group|entity|user"
    r"|tags?|notes?|host|path|dir|paths|file|files|folder|url|uri|token|hostname|repo|model_id|space_id|bucket_id)",
    re.IGNORECASE,
)
_PATH = re.compile(r"(^|\s)(~|\.{0,2})/\S|[A-Za-z]:\\|://|\S/\S+/\S")
_LABEL_KEYS = frozenset(
    {
        "verdict",
        "verdicts",
        "links",
        "scenario",
        "continue_pays",
        "gain_after",
        "injected_at",
        "true_score_drop_at",
        "truth",
        "eval_visible",
    }
)
_EPOCH = 1e8
"""Seconds: anything above is a date, not a time since the start."""


def blind(run: Run, cut: float, *, whole: bool = False) -> Run:
    """The run as it looked at step ``cut``, renamed, its clock started at 0, without paths, names or counters that tell the end.

    ``whole`` leaves out the cutting, for the full length.
    """
    seen = run if whole else run.until(cut)
    start = _start(seen)
    return replace(
        seen,
        name=NAME,
        curves={name: _blind_curve(c, start) for name, c in seen.curves.items()},
        rollouts=seen.rollouts.drop(columns=[c for c in ("source",) if c in seen.rollouts]),
        telemetry=seen.telemetry.assign(time=seen.telemetry["time"] - start) if len(seen.telemetry) else seen.telemetry,
        checkpoints=tuple(replace(c, path=f"checkpoint-{c.step}") for c in seen.checkpoints),
        events=tuple(replace(e, text=_without_paths(e.text), where=_kind(e.where)) for e in seen.events),
        config=_blind_config(seen.config),
        settings=_blind_config(seen.settings),
        gaps=tuple(_blind_gap(g) for g in seen.gaps if whole or not _later_number(g.why, cut)),
        files=tuple(sorted({_kind(f) for f in seen.files})),
    )


def _start(run: Run) -> float:
    times = [c.time[np.isfinite(c.time)] for c in run.curves.values() if c.time is not None]
    times += [run.telemetry["time"].to_numpy(np.float64)] if len(run.telemetry) else []
    return min((float(t.min()) for t in times if t.size), default=0.0)


def _blind_curve(curve: Curve, start: float) -> Curve:
    sources = sorted({_kind(s) for s in curve.source.split(", ")})
    return replace(curve, source=", ".join(sources), time=None if curve.time is None else curve.time - start)


def _blind_gap(gap: Gap) -> Gap:
    where = ", ".join(sorted({_kind(file) for file in gap.where.split(", ")}))
    return Gap(where, _without_paths(gap.why))


def _without_paths(text: str) -> str:
    """The text with every word that looks like a path taken out; file names that carry a host or a date count as paths."""
    return " ".join("<path>" if _PATH.search(word) or "tfevents" in word else word for word in text.split(" "))


def _kind(file: str) -> str:
    """A file by its kind: the last part of its path, without numbers, dates and hosts."""
    last = file.replace("\\", "/").rsplit("/", 1)[-1]
    return "events.out.tfevents" if "tfevents" in last else re.sub(r"[-_.]?\d+", "", last)


def _blind_config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _clean(v) for k, v in config.items() if not _tells(k) and not (isinstance(v, str) and _PATH.search(v))}


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _blind_config({str(k): v for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value if not (isinstance(v, str) and _PATH.search(v))]
    return value


def _tells(key: str) -> bool:
    last = re.split(r"[/.]", key)[-1]
    return bool(_NAMES.fullmatch(key)) or last.startswith(_PROGRESS) or last.lower() in _LABEL_KEYS


def _later_number(text: str, cut: float) -> bool:
    return any(float(n) > cut for n in re.findall(r"\d+", text))


def leaks(view: Run, label: Label, cut: float = WHOLE) -> list[str]:
    """Everything in a view that an advisor should not have seen, one sentence each; an empty list when the view is clean."""
    step = label.steps if cut == WHOLE else label.prefixes[cut].step
    later = [] if cut == WHOLE else list(_later(view, step))
    return [*later, *_telling_words(view, label), *_telling_config(view, step), *_telling_times(view), *_hidden_score(view, label)]


def _later(view: Run, step: float) -> Iterator[str]:
    """What was written after the cut."""
    yield from (f"curve {n} goes on after the cut" for n, c in view.curves.items() if c.step.size and c.step[-1] > step)
    if len(view.rollouts) and float(view.rollouts["step"].max()) > step:
        yield "rollouts go on after the cut"
    yield from (f"checkpoint of step {c.step} is later than the cut" for c in view.checkpoints if c.step > step)
    yield from (f"event {e.kind} is later than the cut, or of no known step" for e in view.events if e.step is None or e.step > step)
    yield from (f"file {f} is named after a step later than the cut" for f in view.files if _later_number(f, step))
    yield from (f"gap at {g.where} tells of a step later than the cut" for g in view.gaps if _later_number(g.why, step))
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
        elif _PATH.search(word):
            yield f"{place} is a path: {word!r}"
    for place, line in _texts(view):
        if text.search(line):  # a family of one word, like ``nan``, is what an honest log says too
            yield f"{place} names the scenario: {line!r}"
        elif any(_PATH.search(word) for word in line.split(" ")):
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
        if last in _LABEL_KEYS:
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
    import pandas as pd

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
