"""The phases of each GPU as pictures in the page: over some steps of the run, and over the average step."""

import numpy as np

from rl_advisor.gpu.strip import CELLS, Strip, Strips, strips
from rl_advisor.reports.html.words import figures, text
from rl_advisor.run import Run

_HIGH = 26


def gpu_strips(run: Run) -> str:
    """Two rows of strips a GPU; empty where telemetry cannot be split."""
    found = strips(run)
    return "" if found is None else _rows(found, "time") + _rows(found, "step")


def _rows(found: Strips, kind: str) -> str:
    rows = found.over_time if kind == "time" else found.over_step
    if not rows:
        return ""
    first = f", from step {found.first_step:g} on" if np.isfinite(found.first_step) else ""
    title = f"{figures(found.seconds)} s{first}" if kind == "time" else "the average step"
    top = max((float(np.nanmax(r.power)) for r in rows if np.isfinite(r.power).any()), default=0.0)
    more = f"<p>{found.more} more GPUs are not shown.</p>" if found.more else ""
    return f"<h3>Phases and power over {title}</h3>" + "".join(_strip(r, top) for r in rows) + more


def _strip(row: Strip, top: float) -> str:
    """Coloured phases, and power as a line above them, up to the highest of all GPUs."""
    bars, begin = "", 0
    for end in range(1, CELLS + 1):
        if end == CELLS or row.names[end] != row.names[begin]:
            if row.names[begin]:
                bars += f'<rect class="phase {row.names[begin]}" x="{begin}" y="0" width="{end - begin}" height="{_HIGH}"/>'
            begin = end
    known = np.flatnonzero(np.isfinite(row.power)) if top > 0 else np.empty(0, int)
    points = " ".join(f"{i + 0.5:.1f},{_HIGH * (1 - 0.9 * row.power[i] / top):.1f}" for i in known)
    line = f'<polyline class="watts" fill="none" points="{points}"/>' if points else ""
    shares = {n: row.names.count(n) / CELLS for n in dict.fromkeys(row.names) if n}
    said = f"GPU {row.gpu}: " + (", ".join(f"{n} {100 * s:.0f} %" for n, s in shares.items()) or "phases not told")
    picture = f'<svg class="strip" viewBox="0 0 {CELLS} {_HIGH}" preserveAspectRatio="none" role="img" aria-label="{text(said)}">'
    return f'<div class="gpu-strip"><span>GPU {text(row.gpu, 60)}</span>{picture}{bars}{line}</svg></div>'
