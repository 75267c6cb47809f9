"""Parts with raw names become one Run: translated, told apart, aligned, joined."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from rl_advisor.discovery import modules
from rl_advisor.gpu.signals import zone_shift
from rl_advisor.reading.closing_row import without_closing_row
from rl_advisor.reading.episodes import merged_episodes
from rl_advisor.reading.guessing import OUTCOMES, guess
from rl_advisor.reading.joining import Source, joined, settle
from rl_advisor.reading.responses import groups_apart, logged_once
from rl_advisor.reading.restarts import chained
from rl_advisor.reading.row_steps import steps_of_rows
from rl_advisor.reading.separating import foreign_folders, on_the_way, place_of, with_evaluations
from rl_advisor.reading.translating import Translated, recognise, settings_of, translate
from rl_advisor.run import UNSAID, Curve, Event, Gap, Run
from rl_advisor.vocabulary import Dialect, metric

NOTHING_NEW = "nothing in it that other files do not tell better"
_CONSOLE = ("console", "stdout", "output")


def assemble(name: str, parts: Sequence[tuple[str, Run]], mapping: Mapping[str, str]) -> Run:
    """One run of all parts, each given with its file's place in the run."""
    parts = [(path, without_closing_row(part)) for path, part in merged_episodes(parts)]
    parts = with_evaluations(parts)
    dialects = [module.DIALECT for module in modules("rl_advisor.dialects", "DIALECT")]
    foreign = foreign_folders(parts, dialects)
    own = [(path, part) for path, part in parts if not any(PurePosixPath(path).is_relative_to(f) for f in foreign)]
    inside = [(p.place, p.others) for _, p in own if p.others]
    place = place_of(own) if foreign else inside[0][0] if inside else ""
    gaps = [_several(place, foreign)] if foreign else []
    stray = [path for path, part in own if not part.curves and place and not on_the_way(path, place)]
    gaps += [Gap(path, "lies beside several runs, and nothing says of which it is; left out") for path in stray]
    own = [(path, part) for path, part in own if path not in stray]
    own = chained(own)
    raw_of = _overrides(mapping, own)
    main = recognise([n for _, p in own for n in p.curves], dialects)
    spoken = [(recognise(p.curves, dialects) or main, p) for _, p in own]
    settings = _settings(own, main)
    sources, events, more = _sources(spoken, raw_of, settings)
    curves, conflicts = joined(sources)
    if main is None or not any(name.startswith(("reward/mean", "reward/used", "reward/success", "eval/score/")) for name in curves):
        # A framework's log without any outcome in its words is that of somebody who gave it a name of his own.
        curves = guess(curves, OUTCOMES if main else (), _unit(own, main.step if main else UNSAID))
    gaps += [g for _, p in own for g in p.gaps] + more + conflicts + _missing_reward(curves)
    frameworks = tuple(dict.fromkeys(d.name for d, p in spoken if d is not None and p.curves))
    run = Run(
        name=re.sub(r"^[^#]*/", "", place) or name,
        place=place,
        others=(*foreign, *(other for _, others in inside for other in others)),
        curves=curves,
        checkpoints=tuple(c for _, p in own for c in p.checkpoints),
        rollouts=groups_apart(_stacked(logged_once([p.rollouts for _, p in own]), "step")),
        telemetry=_stacked([p.telemetry for _, p in own], "time"),
        events=tuple(sorted(events, key=lambda e: e.step or 0.0)),
        config={k: v for _, p in own for k, v in p.config.items()},
        settings=settings,
        gaps=gathered(gaps),
        ignored=tuple(Gap(path, NOTHING_NEW) for path, part in own if not _says_something(part)),
        frameworks=tuple(sorted(frameworks, key=lambda n: main is None or n != main.name)),
        formats=tuple(dict.fromkeys(f for _, p in own if _says_something(p) for f in p.formats)),
        files=tuple(f for _, p in own if _says_something(p) for f in p.files),
        planned_steps=_planned(own, settings),
        step_unit=_unit(own, main.step if main else UNSAID),
    )
    return _in_the_runs_zone(run)


def _unit(parts: Sequence[tuple[str, Run]], usual: str) -> str:
    """What the steps count: what the files say, where they say one thing, else what the framework usually counts."""
    said = {p.step_unit for _, p in parts if p.curves} - {UNSAID}
    return said.pop() if len(said) == 1 else usual


def _several(place: str, others: Sequence[str]) -> Gap:
    """What to say of a folder with several runs: which one this is, and how to read another."""
    listed = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    return Gap(
        place or ".",
        f"one of {len(others) + 1} runs in this folder, the one with most points; give the path of another to read it: {listed}",
    )


def _in_the_runs_zone(run: Run) -> Run:
    """The run with its telemetry on its own clock, before anyone cuts it at a step: monitoring tools write local times without a zone."""
    if not len(run.telemetry):
        return run
    shift, gap = zone_shift(run)
    telemetry = run.telemetry.assign(time=run.telemetry["time"] + shift) if shift else run.telemetry
    return replace(run, telemetry=telemetry, gaps=(*run.gaps, *((gap,) if gap and shift else ())))


def _sources(
    spoken: Sequence[tuple[Dialect | None, Run]], raw_of: Mapping[str, str], settings: Mapping[str, Any]
) -> tuple[list[Source], list[Event], list[Gap]]:
    sources: list[Source] = []
    events: list[Event] = []
    gaps: list[Gap] = []
    for dialect, part in sorted(spoken, key=lambda s: s[1].axis == "row"):
        items = translate(part, dialect, raw_of)
        if part.axis == "row":
            items, part, why = _stepped(items, part, joined(sources)[0], settings)  # noqa: PLW2901
            gaps += why
        settled, restarts = _settled(items)
        if restarts:
            events += [Event("resume", "steps go back here: the run was resumed or restarted", part.files[0], step) for step in restarts]
            gaps.append(
                Gap(
                    part.files[0], f"steps go back to {_listed(restarts)} (a resumed run); what had been written from there on was replaced"
                )
            )
        sources += [Source(item, _is_console(part)) for item in settled]
        events += part.events
    return sources, events, gaps


def _is_console(part: Run) -> bool:
    return any(word in f for f in part.formats for word in _CONSOLE)


def _settled(items: Sequence[Translated]) -> tuple[list[Translated], list[float]]:
    """Every curve with increasing steps; the restarts are those of the densest curve, and no curve goes beyond its end then."""
    pairs = [(item, *settle(item.curve)) for item in items]
    if not pairs:
        return [], []
    _, longest, restarts = max(pairs, key=lambda p: p[0].curve.step.size)
    end = longest.step[-1] if restarts else np.inf
    return [replace(item, curve=curve.until(end)) for item, curve, _ in pairs], restarts


def _stepped(
    items: Sequence[Translated], part: Run, reference: Mapping[str, Curve], settings: Mapping[str, Any]
) -> tuple[list[Translated], Run, list[Gap]]:
    """A part whose steps only count rows, on the run's own steps."""
    where = part.files[0]
    training = [i.curve for i in items if not i.curve.name.startswith("eval/")]
    found = steps_of_rows(training, reference) if reference else None
    if found is not None:
        row, step = found
        gaps: list[Gap] = []
    else:
        every = settings.get("logging_steps")
        pace = float(every) if isinstance(every, int | float) and every >= 1 else 1.0
        row, step = np.array([0.0, 1.0]), np.array([0.0, pace])
        how = f"logging_steps = {pace:g}" if every else "none is known, so rows are counted"
        gaps = [Gap(where, f"the log names no steps; {how}")] if training else []
        if reference and training:
            gaps = [Gap(where, "the log names no steps and its numbers were not found in the other files; left out")]
            return [], replace(part, events=_moved(part.events, row, step)), gaps
    moved = [replace(i, curve=_beyond(replace(i.curve, step=_at(i.curve.step, row, step)), reference)) for i in items]
    return [i for i in moved if i.curve.step.size], replace(part, events=_moved(part.events, row, step)), gaps


def _beyond(curve: Curve, reference: Mapping[str, Curve]) -> Curve:
    """Of an evaluation only what comes after the points that have exact steps: here it has the step of the training row before it."""
    known = reference.get(curve.name)
    if known is None or not curve.name.startswith("eval/"):
        return curve
    keep = curve.step > known.step[-1]
    return replace(curve, step=curve.step[keep], value=curve.value[keep])


def _at(rows: Any, row: Any, step: Any) -> Any:
    """The steps of row numbers, going on at the last pace outside of what is known."""
    if row.size == 1:
        return rows - row[0] + step[0]
    first, last = (step[1] - step[0]) / (row[1] - row[0]), (step[-1] - step[-2]) / (row[-1] - row[-2])
    out = np.interp(rows, row, step)
    out = np.where(rows < row[0], np.maximum(step[0] - (row[0] - rows) * first, 0), out)
    return np.where(rows > row[-1], step[-1] + (rows - row[-1]) * last, out)


def _moved(events: Sequence[Event], row: Any, step: Any) -> tuple[Event, ...]:
    return tuple(e if e.step is None else replace(e, step=float(_at(np.array([e.step]), row, step)[0])) for e in events)


def _overrides(mapping: Mapping[str, str], parts: Sequence[tuple[str, Run]]) -> dict[str, str]:
    """Raw name -> our name, after a look that both exist."""
    names = sorted({n for _, p in parts for n in p.curves})
    for ours, raw in mapping.items():
        if metric(ours) is None:
            raise KeyError(f"{ours!r} is none of our metrics; see rl_advisor.vocabulary.METRICS")
        if raw not in names and not any(n.endswith(f"/{raw}") for n in names):
            near = difflib.get_close_matches(raw, names, n=5, cutoff=0.3) or names[:20]
            raise KeyError(f"no file has a metric named {raw!r}; there is {', '.join(near)}")
    return {raw: ours for ours, raw in mapping.items()}


def _settings(parts: Sequence[tuple[str, Run]], dialect: Dialect | None) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for _, part in parts:
        out = settings_of(part.config, dialect) | out
    return out


def _planned(parts: Sequence[tuple[str, Run]], settings: Mapping[str, Any]) -> int | None:
    known = [p.planned_steps for _, p in parts if p.planned_steps]
    if known:
        return max(known)
    value = settings.get("planned_steps")
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _says_something(part: Run) -> bool:
    return bool(part.curves or len(part.rollouts) or len(part.telemetry) or part.events or part.config or part.gaps or part.checkpoints)


def gathered(gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """The gaps without repetition; the same of more than three files is said once."""
    files: dict[str, list[str]] = {}
    for gap in gaps:
        files.setdefault(gap.why, []).append(gap.where)
    out: list[Gap] = []
    for why, places in files.items():
        unique = list(dict.fromkeys(places))
        out += [Gap(f"{unique[0]} and {len(unique) - 1} more", why)] if len(unique) > 3 else [Gap(place, why) for place in unique]
    return tuple(out)


def _missing_reward(curves: Mapping[str, Curve]) -> list[Gap]:
    if not curves or any(n.startswith("reward/") for n in curves):
        return []
    on_policy = any(n.startswith(("kl/", "ratio/", "advantage/", "value/", "rollout/", "entropy/coef", "response/")) for n in curves)
    # An episode is never a word of supervised training.
    loss = any("loss" in n for n in curves) and not any(re.search(r"return|reward|episode", c.raw.lower()) for c in curves.values())
    if any(n.startswith("eval/score/") for n in curves) and (on_policy or not loss):
        return []
    return [
        Gap("reward", "no reward metric: this looks like supervised training" if loss and not on_policy else "no reward metric was found")
    ]


def _stacked(tables: Sequence[pd.DataFrame], by: str) -> pd.DataFrame:
    full = [t for t in tables if len(t)]
    if len(full) <= 1:
        return full[0] if full else pd.DataFrame()
    whole = pd.concat(full, ignore_index=True).sort_values(by, kind="stable", ignore_index=True)
    if by == "time" and whole.duplicated(["gpu", "time"]).any():  # counters of one moment from several files
        whole["gpu"] = whole["gpu"].astype(str)
        whole = whole.groupby(["time", "gpu"], sort=True, as_index=False).first()
    return whole


def _listed(steps: Sequence[float]) -> str:
    return ", ".join(f"{s:g}" for s in steps[:5]) + (", ..." if len(steps) > 5 else "")
