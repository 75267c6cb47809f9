"""Parts with raw names become one Run: translated, told apart, aligned, joined."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.curves.task import task
from rl_advisor.gpu.signals import zone_shift
from rl_advisor.output.wording import listed
from rl_advisor.reading.episodes import merged_episodes
from rl_advisor.reading.guessing import OUTCOMES, Told, guess, with_loss, with_outcome
from rl_advisor.reading.joining import chained, joined, pauses, settle
from rl_advisor.reading.measurable import FURTHEST
from rl_advisor.reading.repeats import once, without_repeats
from rl_advisor.reading.responses import groups_apart, logged_once
from rl_advisor.reading.row_steps import stepped
from rl_advisor.reading.said_names import meant_names
from rl_advisor.reading.separating import foreign_folders, on_the_way, path_of, place_of, with_evaluations
from rl_advisor.reading.translating import Translated, recognise, settings_of, translate
from rl_advisor.run import UNSAID, Curves, Event, Gap, Guess, Named, Run
from rl_advisor.vocabulary import Dialect

if TYPE_CHECKING:
    import pandas as pd

SPEAKS = ("reward/mean", "reward/used", "reward/success", "eval/score/")
"""Metrics that tell how well a run does."""
NOTHING_NEW = "nothing in it that other files do not tell better"


def assemble(name: str, parts: Sequence[Run], mapping: Mapping[str, str], readme: str = "") -> Run:
    """One run of all parts, each of which names its file; ``readme`` is what its authors say beside it."""
    own, found = _of_one_run(with_evaluations(without_repeats(merged_episodes(parts))))
    main = recognise([n for p in own for n in p.curves])
    items, spoken = _in_our_words(own, main, mapping)
    config = {k: v for p in own for k, v in p.config.items()}
    curves, guessed, unclear = _joined(own, items, main, replace(spoken, config=config), readme)
    told = [p for p in own if says_something(p)]
    said = planned if isinstance(planned := spoken.settings.get("planned_steps"), int | float) else 0
    run = replace(
        spoken,
        name=re.sub(r"^[^#]*/", "", found.place) or name,
        place=found.place,
        others=found.others,
        curves=curves,
        checkpoints=tuple(c for p in told for c in p.checkpoints),
        rollouts=groups_apart(_stacked(logged_once([p.rollouts for p in told]), "step")),
        scores={key: score for p in told for key, score in p.scores.items()},
        telemetry=_stacked([p.telemetry for p in told], "time"),
        config=config,
        gaps=gathered([*found.gaps, *(g for p in told for g in p.gaps), *spoken.gaps, *unclear]),
        ignored=tuple(Gap(p.files[0], NOTHING_NEW) for p in own if p not in told),
        formats=tuple(dict.fromkeys(f for p in told for f in p.formats)),
        files=tuple(f for p in told for f in p.files),
        outcome_guess=guessed,
        planned_steps=max((p.planned_steps for p in own if p.planned_steps), default=int(said) if 0 < said < FURTHEST else None),
        axis="step" if any(p.axis != "row" for p in told if p.curves) else "row",
    )
    return _in_the_runs_zone(run)


def _of_one_run(parts: Sequence[Run]) -> tuple[list[Run], Run]:
    """The parts of the largest run, those that follow each other in time put behind each other; where it and the others lie."""
    foreign = foreign_folders(parts)
    own = [part for part in parts if not any(path_of(part).is_relative_to(f) for f in foreign)]
    inside = [p for p in own if p.others]
    place = place_of(own) if foreign else inside[0].place if inside else ""
    stray = [p.files[0] for p in own if not p.curves and place and not on_the_way(path_of(p), place)]
    several = f"one of {len(foreign) + 1} runs in this folder, the one with most points; give the path of another to read it: "
    gaps = [Gap(place or ".", several + listed(foreign, 5))] if foreign else []
    gaps += [Gap(path, "lies beside several runs, and nothing says of which it is; left out") for path in stray]
    kept = chained([p for p in own if p.files[0] not in stray])
    return kept, Run(place=place, others=(*foreign, *(other for p in inside for other in p.others)), gaps=tuple(gaps))


def _in_our_words(parts: Sequence[Run], main: Dialect | None, mapping: Mapping[str, str]) -> tuple[list[Translated], Run]:
    """Every curve of every file by itself, by the dialect of each and by what the caller says of names; what else the parts say."""
    raw_of = meant_names(mapping, parts)
    spoken = [(recognise(p.curves) or main, p) for p in parts]
    settings = {k: v for p in reversed(parts) for k, v in settings_of(p.config, main).items()}
    items, events, gaps = _sources(spoken, raw_of, settings)
    frameworks = dict.fromkeys(d.name for d, p in spoken if d is not None and p.curves)
    ordered = tuple(sorted(frameworks, key=lambda n: main is None or n != main.name))
    # What the files say that steps count, where they say one thing, else what the framework usually counts.
    said = {p.step_unit for p in parts if p.curves} - {UNSAID}
    unit = said.pop() if len(said) == 1 else main.step if main else UNSAID
    in_order = tuple(sorted(events, key=lambda e: e.step or 0.0))
    return items, Run(frameworks=ordered, settings=settings, step_unit=unit, events=in_order, gaps=tuple(gaps))


def _joined(
    parts: Sequence[Run], items: Sequence[Translated], main: Dialect | None, spoken: Run, readme: str
) -> tuple[Curves, Guess | None, list[Gap]]:
    """One curve for each metric; where no framework names the outcome, what is likeliest to be it."""
    curves, gaps = joined(items)
    guessed: Guess | None = None
    if main is None or not any(name.startswith(SPEAKS) for name in curves):
        # A framework's log without any outcome in its words is that of somebody who gave it a name of his own.
        curves = guess(curves, OUTCOMES if main else (), spoken.step_unit)
    kind = task(Run(curves=curves, config=spoken.config, step_unit=spoken.step_unit))
    if not any(name.startswith((*SPEAKS, "pairs/accuracy")) for name in curves):
        if kind.by_reward:
            order = list(dict.fromkeys(n for p in parts for n in p.curves))
            curves, guessed = with_outcome(curves, Told(spoken.config, readme, order, kind.says))
        elif kind.kind != "preference":  # there a loss falls with the margin, whatever becomes of the answers
            curves, guessed = with_loss(curves, held_only=kind.kind == "supervised")
    if guessed and guessed.p < 1:
        rival = f"; the next best was {guessed.runner_up}" if guessed.runner_up else ""
        gaps.append(Gap("reward", f"no metric says that it is the outcome: {guessed.raw} was taken, which is a guess{rival}"))
    if curves and not any(n.startswith(("reward/", "pairs/accuracy")) for n in curves):
        # Where nothing is logged that is to grow, as it should be in this kind of training, which kind it is.
        if not kind.by_reward:
            gaps.append(Gap("reward", f"no reward metric: this looks like {kind.says}"))
        elif not any(n.startswith("eval/score/") for n in curves):
            gaps.append(Gap("reward", "no reward metric was found"))
    return curves, guessed, gaps


def _in_the_runs_zone(run: Run) -> Run:
    """The run with its telemetry on its own clock, before anyone cuts it at a step: monitoring tools write local times without a zone."""
    if not len(run.telemetry):
        return run
    shift, gap = zone_shift(run)
    telemetry = run.telemetry.assign(time=run.telemetry["time"] + shift) if shift else run.telemetry
    return replace(run, telemetry=telemetry, gaps=(*run.gaps, *((gap,) if gap and shift else ())))


def _sources(
    spoken: Sequence[tuple[Dialect | None, Run]], raw_of: Mapping[str, str], settings: Named
) -> tuple[list[Translated], list[Event], list[Gap]]:
    sources: list[Translated] = []
    events: list[Event] = []
    gaps: list[Gap] = []
    counted = any(part.axis != "row" and part.curves for _, part in spoken)  # else each file may tell another thing in its own order
    for dialect, part in sorted(spoken, key=lambda s: s[1].axis == "row"):
        items = translate(part, dialect, raw_of)
        if part.axis == "row":
            same = {item.curve.name for item in items}
            known = {name: curve for name, curve in joined(sources)[0].items() if counted or name in same}
            items, part, why = stepped(items, part, known, settings)  # noqa: PLW2901
            gaps += why
        settled, restarts = _settled(once(items))
        if restarts:
            back = listed([f"{step:g}" for step in restarts], 5)
            gaps.append(Gap(part.files[0], f"steps go back to {back} (a resumed run); what had been written from there on was replaced"))
        printed = any("console" in name for name in part.formats)
        sources += [replace(item, printed=printed) for item in settled]
        events += [e for e in part.events if e.kind != "resume"] + _resumes(part, items, restarts)
    return sources, events, gaps


def _resumes(part: Run, items: Sequence[Translated], restarts: Sequence[float]) -> list[Event]:
    """Where a run was resumed: at the row behind a line that says so, or where the steps go back; before its first row nothing is."""
    step = max((item.curve.step for item in items), key=len, default=np.empty(0))
    told = dict.fromkeys(restarts, "steps go back here: the run was resumed or restarted")
    for event in part.events:
        if event.kind == "resume" and (before := np.flatnonzero(step <= (event.step or 0.0))).size > 1:
            row = next((i for i in before if step[i] == event.step and (step[i + 1 : i + 2] < step[i]).any()), before[-1])
            told |= {float(at): event.text for at in step[row + 1 : row + 2]}
    longest = max((item.curve for item in items), key=lambda curve: curve.step.size, default=None)
    return [
        *(Event("resume", text, part.files[0], at) for at, text in sorted(told.items())),
        *(replace(event, where=part.files[0]) for event in (pauses(longest) if longest is not None and part.axis != "row" else ())),
    ]


def _settled(items: Sequence[Translated]) -> tuple[list[Translated], list[float]]:
    """Every curve with increasing steps; the restarts are those of the densest curve, and no curve goes beyond its end then."""
    pairs = [(item, *settle(item.curve)) for item in items]
    if not pairs:
        return [], []
    _, longest, restarts = max(pairs, key=lambda p: p[0].curve.step.size)
    end = longest.step[-1] if restarts else np.inf
    return [replace(item, curve=curve.until(end)) for item, curve, _ in pairs], restarts


def says_something(part: Run) -> bool:
    """Whether a part holds anything at all."""
    held = (part.curves, part.scores, part.events, part.config, part.gaps, part.checkpoints)
    return any(held) or len(part.rollouts) + len(part.telemetry) > 0


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


def _stacked(tables: Sequence[pd.DataFrame], by: str) -> pd.DataFrame:
    full = [t for t in tables if len(t)]
    if len(full) <= 1:
        return full[0] if full else Run().rollouts
    import pandas as pd

    whole = pd.concat(full, ignore_index=True).sort_values(by, kind="stable", ignore_index=True)
    if by == "time" and whole.duplicated(["gpu", "time"]).any():  # counters of one moment from several files
        whole["gpu"] = whole["gpu"].astype(str)
        whole = whole.groupby(["time", "gpu"], sort=True, as_index=False).first()
    return whole
