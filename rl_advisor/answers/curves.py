"""Curves measured for a reader: shape with intervals, onset, change points, and a short numeric sketch. The answer of ``curves``."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from rl_advisor.curves import outcomes
from rl_advisor.curves.course import course
from rl_advisor.curves.pace import pace
from rl_advisor.curves.untrail import untrailed
from rl_advisor.features import TooFewPoints
from rl_advisor.features.change import change_points, onset
from rl_advisor.features.series import thinned
from rl_advisor.features.trend import Trend, direction
from rl_advisor.output import Answer
from rl_advisor.output.errors import no_such
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.settings.priors.bank import EARLY, Usual, usual
from rl_advisor.settings.priors.circumstances import circumstances
from rl_advisor.vocabulary import Link, metric

SKETCH, MOST, RECENT = 40, 12, 5
FIRST = (
    "eval/score/",
    "reward/mean",
    "reward/success",
    "kl/ref",
    "entropy/mean",
    "response/length",
    "response/truncated",
    "policy/grad_norm",
)
"""What to measure first when nobody says what: the outcome, then what most often explains it."""


def summaries(run: Run, metrics: Sequence[str] = (), words: bool = False) -> Answer:
    """Every named curve measured, or told in ``words``; without names the foremost twelve (in words all), the rest under ``left_out``.

    Names that the run does not have are told under ``unknown``, with the nearest that it has.

    Raises:
        NoSuchChoice: the run has none of the names.
    """
    known = [name for name in metrics if len(matching(run, name)) == 1]
    chosen = [named(run, name) for name in (known or metrics)] if metrics else in_order(run) if words else foremost(run)
    left = [c.name for c in in_order(run) if c.name not in {d.name for d in chosen}] if not metrics else []
    return {
        "run": run.name,
        "step": run.last_step,
        "metrics": [_in_words(run, c) if words else summary(run, c) for c in chosen],
        **({"unknown": {name: nearest(run, name) for name in metrics if name not in known}} if len(known) < len(metrics) else {}),
        "left_out": left,
        "gaps": run.gaps,
    }


def _in_words(run: Run, curve: Curve) -> Answer:
    """The curve as somebody describes it who looks before he judges."""
    from rl_advisor.answers.curve_words import described

    return {"name": curve.name, "logged_as": curve.raw, "words": described(untrailed(run, curve))}


def among_others(run: Run, curve: Curve) -> Usual | None:
    """What sound runs of others like this one measured where it stands now; None where that is not known."""
    early = 0 < run.last_step <= EARLY * (run.planned_steps or 0)
    return usual(curve.name, circumstances(run, "early" if early else "late"))


def matching(run: Run, name: str) -> list[Curve]:
    """The curves that a name means: by ours or the run's own, else by its last piece, as the penalised KL, or by its first piece."""
    curves, wanted = run.curves.values(), name.lower()

    def named_so(at: int) -> list[Curve]:
        return [c for c in curves if wanted in {re.split(r"[/.]", n.lower())[at] for n in (c.name, c.raw.removeprefix("-"))}]

    exact = [c for c in curves if name in (c.name, c.raw)][:1]
    return exact or named_so(-1) or [c for c in curves if c.name == f"{wanted}/ref"] or named_so(0)


def nearest(run: Run, name: str) -> list[str]:
    """The names of the run that are nearest to a name."""
    return difflib.get_close_matches(name, {n for c in run.curves.values() for n in (c.name, c.raw)}, 3, 0.4)


def named(run: Run, name: str) -> Curve:
    """The one curve that a name means.

    Raises:
        NoSuchChoice: the run has none, or several; the message names them.
    """
    found = matching(run, name)
    if len(found) != 1:
        raise no_such("metric", name, sorted(c.raw for c in found or run.curves.values()))
    return found[0]


def in_order(run: Run) -> list[Curve]:
    """Curves in the order in which to look at them; those without meaning last."""
    links = list(Link)

    def place(curve: Curve) -> tuple[int, int, str]:
        first = next((i for i, start in enumerate(FIRST) if curve.name.startswith(start)), len(FIRST))
        known = metric(curve.name)
        return first, links.index(known.link) if known else len(links), curve.name

    return sorted(run.curves.values(), key=place)


def foremost(run: Run) -> list[Curve]:
    """The curves that most often explain a run, as far as their meaning is known."""
    return [c for c in in_order(run) if metric(c.name)][:MOST]


def summary(run: Run, curve: Curve) -> Answer:
    """One curve of a run measured; what needs more points than there are is left out, and ``too_few`` says so.

    Of a mean over past episodes directions are those of what came between its rows.
    """
    step, value = curve.finite()
    known, others = metric(curve.name), among_others(run, curve)
    fields: Answer = {
        "name": curve.name,
        "logged_as": curve.raw,
        "link": known.link if known else None,
        "unit": known.unit if known else None,
        "points": curve.value.size,
        "steps": [step[0], step[-1]] if step.size else [],
    }
    if curve.note:
        fields["note"] = curve.note
    if value.size < curve.value.size:
        fields["not_finite"] = curve.value.size - value.size
    if not value.size:
        return fields | {"too_few": "no finite value was logged"}
    return fields | _shape(untrailed(run, curve), step, value) | ({"usual": others.says(value[-1])} if others else {})


def _shape(alone: Curve, step: Floats, value: Floats) -> Answer:
    """What it did: as logged, then its level, its directions by the ruler of the judgement, its onset and where its level changed."""
    top, newest = int(np.argmax(value)), zip(step[-RECENT:].tolist(), value[-RECENT:].tolist(), strict=True)
    fields: Answer = {
        "first": value[0],
        "last": value[-1],
        "highest": {"value": value[top], "step": step[top]},
        "newest": [[round(s), v] for s, v in newest],
        "noise": found.noise if (found := course(alone)) is not None else 0.0,
    }
    try:
        measured, known = outcomes.course_of(alone), metric(alone.name)
        fields |= {
            "smoothed_highest": {"value": measured.best, "step": measured.best_step, "step_interval": list(measured.best_between)},
            "overall": _direction(measured.overall, measured.margin),
            "recent": {"from_step": measured.recent_first} | _direction(measured.recent, measured.margin),
        }
        begun = onset(step, value)
        told = begun and {"kind": begun.kind, "step": begun.at, "interval": [begun.low, begun.high], "size": begun.size}
        fields |= {"onset": told, "change_points": [asdict(c) for c in change_points(step, value)]}
        if known is not None and known.better:
            fields["rate"] = {"pace": pace(measured, measured.margin, known.better)}
    except TooFewPoints as short:
        fields["too_few"] = str(short)
    return fields | {"sketch": sketch(step, value)}


def _direction(found: Trend, margin: float) -> Answer:
    """A trend's direction and size; where none can be told, also what could have been seen."""
    which = direction(found, margin)
    fields: Answer = {"direction": which, "change": found.slope * found.span, "interval": [found.low * found.span, found.high * found.span]}
    if which != "undecidable":
        return fields
    return fields | {"detectable_change": found.detectable}


def sketch(step: Floats, value: Floats) -> list[list[float]]:
    """At most 40 points, each the mean of a stretch of the curve; the last one is the last that was logged."""
    points = [[round(s), float(f"{v:.3g}")] for s, v in np.transpose(thinned(step, value, most=SKETCH)).tolist()]
    return [*points[:-1], [round(float(step[-1])), float(f"{value[-1]:.3g}")]]
