"""Curves of one run from several files become one: resumed steps, equal and unequal copies, files that were written one after another."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.output.wording import listed
from rl_advisor.reading.translating import Translated
from rl_advisor.run import Curve, Curves, Event, Floats, Gap, Run

OVERLAP, PACES = 0.5, 8.0
"""Share of their length by which two pieces of one curve may overlap, and by how much their intervals may differ."""
FEWEST_ROWS, FAR, PAUSE, MOST_PAUSES = 20, 10.0, 600.0, 3
"""Rows from which a jump of the clock or of the steps is seen, how many times the usual it is, its seconds, and how many there may be."""
_OTHER_AXIS = "stand at other steps in the two, which count different things; taken were only those of"
_UNEQUAL = "differ between the two at common steps; kept were the numbers of"


def settle(curve: Curve) -> tuple[Curve, list[float]]:
    """The curve with strictly increasing steps, and the steps at which a resumed run started again.

    Where steps go back, the last writer counts: everything written before from that step on is left out, as TensorBoard does on a
    restart. Many small jumps are no restarts but rows out of order, and are sorted. Points of one step are averaged.
    """
    jumps = np.diff(curve.step)
    if curve.step.size < 2 or (jumps > 0).all():
        return curve, []
    back = np.flatnonzero(jumps < 0) + 1
    if back.size > max(8, curve.step.size // 20):
        turn = np.argsort(curve.step, kind="stable")
        return _averaged(curve.points(turn)), []
    again = np.full(curve.step.size, np.inf)
    again[back - 1] = curve.step[back]
    keep = curve.step < np.minimum.accumulate(again[::-1])[::-1]  # before whatever was written later from there on
    return _averaged(curve.points(keep)), [float(curve.step[at]) for at in back]


def pauses(curve: Curve) -> list[Event]:
    """Where a run stood still or rows are missing: the clock, or steps of one pace, jump by far more than nearly ever, and only there."""
    if curve.step.size <= FEWEST_ROWS:
        return []
    rows, times = (np.empty(0) if at is None or not np.isfinite(at).any() else np.diff(at) for at in (curve.step, curve.time))
    far = np.flatnonzero((rows > FAR * np.quantile(rows, 0.95)) & (2 * (rows == np.median(rows)).sum() > rows.size))
    long = np.flatnonzero(times > max(PAUSE, FAR * np.nanquantile(times, 0.95))) if np.isfinite(times).any() else far[:0]
    return [
        Event(kind, f"{what} here: rows are missing, or the run stood still or was started again", "", float(curve.step[i + 1]))
        for kind, what, found in (("jump", "the steps jump", far), ("pause", "the clock jumps", long))
        for i in (found if found.size <= MOST_PAUSES else ())
    ]


def _averaged(curve: Curve) -> Curve:
    if (np.diff(curve.step) > 0).all():
        return curve
    step, first, group, count = np.unique(curve.step, return_index=True, return_inverse=True, return_counts=True)
    value = np.bincount(group, curve.value) / count
    return replace(curve, step=step, value=value, time=None if curve.time is None else curve.time[first])


def agree(a: Curve, b: Curve) -> tuple[int, bool]:
    """How many steps two curves share, and whether the values there are the same within what printing keeps (three decimals or digits)."""
    _, i, j = np.intersect1d(a.step, b.step, assume_unique=True, return_indices=True)
    x, y = a.value[i], b.value[j]
    known = [v[np.isfinite(v) & (v != 0)] for v in (x, y)]
    fixed = 6e-4 if any(_are_whole(v * 1e3) for v in known) else 1e-9
    relative = 6e-3 if any(v.size and _are_whole(v / 10.0 ** (np.floor(np.log10(np.abs(v))) - 2)) for v in known) else 1e-3
    with np.errstate(invalid="ignore"):
        near = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.isfinite(y) & (np.abs(x - y) <= fixed + relative * np.abs(y)))
    return int(i.size), bool(near.all())


def _are_whole(value: Floats) -> bool:
    return bool((np.abs(value - np.round(value)) <= 1e-6).all())


def united(a: Curve, b: Curve) -> Curve:
    """The union of two curves of one metric; where both have a point the first one's value counts."""
    step = np.union1d(a.step, b.step)
    value, time = np.full(step.size, np.nan), np.full(step.size, np.nan)
    for curve in (b, a):
        at = np.searchsorted(step, curve.step)
        value[at] = curve.value
        if curve.time is not None:
            known = np.isfinite(curve.time)
            time[at[known]] = curve.time[known]
    sources = dict.fromkeys([*a.source.split(", "), *b.source.split(", ")])
    return replace(a, step=step, value=value, time=time if np.isfinite(time).any() else None, source=", ".join(sources))


def joined(items: Sequence[Translated]) -> tuple[Curves, list[Gap]]:
    """One curve for each of our names.

    Copies that agree are united; of copies that do not, the one that keeps all digits stays and a gap names both. Another raw name with
    the same meaning but other numbers keeps its raw name.
    """
    curves: Curves = {}
    bases: dict[str, str] = {}
    left_out: dict[tuple[str, str, str], list[str]] = {}
    for item in sorted(items, key=lambda i: (i.order, i.printed, i.curve.raw != i.base, -i.curve.step.size)):
        curve = item.curve
        name = curve.name
        if name in curves and bases[name] != item.base and not _same_thing(curves[name], curve):
            told = f"{name} is taken from {curves[name].raw}"
            other = item.beside if item.beside not in curves else ""
            spare = "" if other else name
            curve = replace(curve, name=other or item.base, mapped=bool(other), note=told, spare=spare)
            name = curve.name
        if name not in curves:
            curves[name], bases[name] = curve, item.base
            continue
        shared, same = agree(curves[name], curve)
        if not shared and not _goes_on(curves[name], curve):
            left_out.setdefault((_OTHER_AXIS, curves[name].source, curve.source), []).append(name)
        elif same:
            curves[name] = united(curves[name], curve)
        else:
            left_out.setdefault((_UNEQUAL, curves[name].source, curve.source), []).append(name)
    gaps = [Gap(f"{kept}, {left}", f"{listed(names, 5)} {why} {kept}") for (why, kept, left), names in left_out.items()]
    return {name: curves[name] for name in sorted(curves, key=lambda n: (not curves[n].mapped, n))}, gaps


def _same_thing(a: Curve, b: Curve) -> bool:
    """Whether two raw names are one measurement: they share most steps and agree there, or one is the other below a prefix, elsewhere."""
    shared, same = agree(a, b)
    if not shared:
        return a.raw.endswith(f"/{b.raw}") or b.raw.endswith(f"/{a.raw}")
    return same and shared * 2 >= min(a.step.size, b.step.size)


def _goes_on(a: Curve, b: Curve) -> bool:
    """Whether two curves without a common step may be one: one follows the other at about its pace, and they overlap little."""
    if min(a.step.size, b.step.size) <= 2:
        return True
    first, later = (a, b) if a.step[0] <= b.step[0] else (b, a)
    overlap = min(first.step[-1], later.step[-1]) - later.step[0]
    span = min(float(np.ptp(a.step)), float(np.ptp(b.step)))
    paces = sorted(float(np.median(np.diff(c.step))) for c in (a, b))
    return bool(overlap <= OVERLAP * span and paces[1] <= PACES * paces[0])


def chained(parts: Sequence[Run]) -> list[Run]:
    """The parts, with those of one format that follow each other in time and overlap in steps written behind each other, oldest first."""
    out: list[Run] = []
    for part in sorted(parts, key=_span):
        at = next((i for i, before in enumerate(out) if _follows(before, part)), None) if _span(part) > _NEVER else None
        if at is None:
            out.append(part)
        else:
            out[at] = _behind(out[at], part)
    return out


_NEVER = -np.inf, -np.inf


def _span(part: Run) -> tuple[float, float]:
    """First and last time of a part of which every curve has times; before all times where that is not so."""
    times = [c.time for c in part.curves.values() if c.time is not None and c.time.size]
    timed = times and len(times) == len(part.curves) and part.axis == "step"
    return (min(map(np.nanmin, times)), max(map(np.nanmax, times))) if timed else _NEVER


def _follows(before: Run, part: Run) -> bool:
    return (
        before.formats == part.formats
        and not before.curves.keys().isdisjoint(part.curves)
        and _span(part)[0] >= _span(before)[1] > -np.inf
        and part.first_step <= before.last_step
    )


def _behind(before: Run, part: Run) -> Run:
    """The first part with the points, events, gaps and settings of the second written behind its own."""
    curves = {**part.curves, **before.curves}
    curves |= {name: _in_turn(before.curves[name], part.curves[name]) for name in before.curves.keys() & part.curves.keys()}
    return replace(
        before,
        curves=curves,
        events=before.events + part.events,
        gaps=before.gaps + part.gaps,
        files=before.files + part.files,
        config={**before.config, **part.config},
    )


def _in_turn(a: Curve, b: Curve) -> Curve:
    time = np.concatenate([a.time, b.time]) if a.time is not None and b.time is not None else None
    source = f"{a.source}, {b.source}"
    return replace(a, step=np.concatenate([a.step, b.step]), value=np.concatenate([a.value, b.value]), time=time, source=source)
