"""Files that one run wrote one after another become one part, so that a restart with overlapping steps is seen as such."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.run import Curve, Event, Run


def chained(parts: Sequence[tuple[str, Run]]) -> list[tuple[str, Run]]:
    """The parts, with those of one format that follow each other in time and overlap in steps written behind each other, oldest first."""
    out = [(path, part) for path, part in parts if _span(part) is None]
    timed = [(path, part) for path, part in parts if _span(part) is not None]
    for path, part in sorted(timed, key=lambda p: _span(p[1]) or (0.0, 0.0)):
        at = next((i for i, (_, before) in enumerate(out) if _follows(before, part)), None)
        if at is None:
            out.append((path, part))
        else:
            out[at] = (out[at][0], behind(out[at][1], part))
    return out


def _span(part: Run) -> tuple[float, float] | None:
    """First and last time of a part of which every curve has times."""
    times = [c.time for c in part.curves.values() if c.time is not None and c.time.size]
    if not times or len(times) < len(part.curves) or part.axis != "step":
        return None
    return float(min(np.nanmin(t) for t in times)), float(max(np.nanmax(t) for t in times))


def _follows(before: Run, part: Run) -> bool:
    if before.formats != part.formats or before.curves.keys().isdisjoint(part.curves):
        return False
    first, later = _span(before), _span(part)
    if first is None or later is None or later[0] < first[1]:
        return False
    return part.first_step <= before.last_step


def behind(before: Run, part: Run) -> Run:
    """The first part with the points, events, gaps and settings of the second written behind its own."""
    curves = {**part.curves, **before.curves}
    curves |= {name: _joined(before.curves[name], part.curves[name]) for name in before.curves.keys() & part.curves.keys()}
    return replace(
        before,
        curves=curves,
        events=(*(_told_before(event, part) for event in before.events), *part.events),
        gaps=before.gaps + part.gaps,
        files=before.files + part.files,
        config={**before.config, **part.config},
    )


def _told_before(event: Event, part: Run) -> Event:
    """An event of the first part: an error after which the second has rows was not the end."""
    went_on = event.kind == "error" and event.step is not None and part.last_step > event.step
    return replace(event, kind="warning") if went_on else event


def _joined(a: Curve, b: Curve) -> Curve:
    time = np.concatenate([a.time, b.time]) if a.time is not None and b.time is not None else None
    source = f"{a.source}, {b.source}"
    return replace(a, step=np.concatenate([a.step, b.step]), value=np.concatenate([a.value, b.value]), time=time, source=source)
