"""The pictures of the pages as SVG: curves over one axis of steps, and where the time of GPUs went."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.document.curves import WHOLE, binned, logarithmic, thinned
from rl_advisor.gpu.strip import CELLS, Strip, Strips
from rl_advisor.output.wording import tick, value
from rl_advisor.reports.html.words import figures, text
from rl_advisor.run import Curve, Floats

WIDE, HIGH, STRIP = 1000, 150, 26
Span = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A curve in a panel."""

    curve: Curve
    kind: str
    name: str = ""
    """What it is called where it is pointed at."""


@dataclass(frozen=True)
class Mark:
    """A line through all panels, and its name above them; a band where it has a width."""

    at: float
    name: str
    kind: str
    between: Span | None = None


@dataclass(frozen=True)
class Panel:
    """Curves over one height."""

    lines: Sequence[Line]
    legend: str
    """Ready items that say which line is which."""
    said: str
    unit: str = ""


def drawing(panels: Sequence[Panel], ends: Span, axis: str, marks: Sequence[Mark] = (), kind: str = "") -> str:
    """Panels above each other over one axis of steps, with marks through all of them."""
    inside = "".join(_panel(p, ends, marks, faint=not kind) for p in panels)
    return f'<figure class="hero of{len(panels)} {kind}">{_names(marks, ends)}{inside}{_axis(ends, axis)}</figure>'


def _panel(panel: Panel, ends: Span, marks: Sequence[Mark], *, faint: bool) -> str:
    log = all(logarithmic(line.curve) for line in panel.lines)
    up = heights([line.curve for line in panel.lines], log=log)
    paths = "".join(_line(line, ends, up, log=log, faint=faint) for line in panel.lines)
    rules = "".join(f'<path class="{m.kind}" d="M{_across(m.at, ends):.1f} 0V{HIGH}"/>' for m in marks)
    bands = ((_across(m.between[0], ends), _across(m.between[1], ends)) for m in marks if m.between)
    band = "".join(f'<path class="band" d="M{low:.1f} 0H{high:.1f}V{HIGH}H{low:.1f}Z"/>' for low, high in bands if high > low)
    return (
        f'<ul class="names">{panel.legend}{"<li>log axis</li>" if log else ""}</ul><div class="panel">'
        f'<p class="ends" aria-hidden="true"><span>{value(up[1], panel.unit)}</span><span>{value(up[0], panel.unit)}</span></p>'
        f'<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(panel.said, 400)}">{band}{rules}{paths}</svg></div>'
    )


def heights(curves: Sequence[Curve], *, log: bool = False) -> Span:
    """Lowest and highest value of curves; on a logarithmic axis the lowest above zero."""
    values = np.concatenate([c.finite()[1] for c in curves])
    return float((values[values > 0] if log else values).min()), float(values.max())


def _line(line: Line, ends: Span, up: Span, *, log: bool, faint: bool) -> str:
    """Single points of a short curve; of a long one the medians of neighbours, over the logged points where ``faint`` ones are wanted."""
    step, x = line.curve.finite()
    points = binned(line.curve)
    path = _path(np.array(points["x"]), np.array(points["y"]), ends, up, log=log)
    title = f"<title>{text(line.name, 100)}</title>" if line.name else ""
    whole = f'<g class="{line.kind}">{title}<path d="M{"L".join(path)}"/></g>'
    if not faint:
        return whole
    if x.size <= WHOLE:
        return f'{whole}<path class="dots {line.kind}" d="{"".join(f"M{p}h0" for p in path)}"/>'
    return f'<path class="raw {line.kind}" d="M{"L".join(_path(*thinned(step, x), ends, up, log=log))}"/>{whole}'


def _path(step: Floats, y: Floats, ends: Span, up: Span, *, log: bool) -> list[str]:
    low, high = up
    if log:
        y, low, high = np.log10(np.maximum(y, low)), math.log10(low), math.log10(high)
    height = HIGH - 6 - (HIGH - 12) * (y - low) / max(high - low, 1e-12)
    return [f"{_across(a, ends):.1f} {b:.1f}" for a, b in zip(step.tolist(), height.tolist(), strict=True)]


def _across(step: float, ends: Span) -> float:
    return min(WIDE, max(0.0, WIDE * (step - ends[0]) / (ends[1] - ends[0])))


def _names(marks: Sequence[Mark], ends: Span) -> str:
    """The names of the marks above the panels, each at its line on a row of its own, where there is room for it."""
    names = ""
    for row, m in enumerate(marks):
        x = 100 * _across(m.at, ends) / WIDE
        dx, anchor = (4, "start") if x < 50 else (-4, "end")
        names += f'<text class="{m.kind}" x="{x:.2f}%" y="{13 + 15 * row}" dx="{dx}" text-anchor="{anchor}">{m.name}</text>'
    return f'<svg class="marks" height="{17 + 15 * (len(marks) - 1)}" aria-hidden="true" focusable="false">{names}</svg>' if marks else ""


def _axis(ends: Span, name: str) -> str:
    """Round steps below the panels, and what they count."""
    names = ""
    for t in ticks(*ends):
        x = 100 * _across(t, ends) / WIDE
        anchor = "start" if x < 3 else "end" if x > 97 else "middle"
        names += f'<text x="{x:.2f}%" y="13" text-anchor="{anchor}">{tick(t)}</text>'
    return f'<svg class="xticks" height="18" aria-hidden="true" focusable="false">{names}</svg><p class="axis">{text(name, 120)}</p>'


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About as many round numbers between two steps."""
    raw = max((high - low) / about, 1.0)
    size = 10.0 ** math.floor(math.log10(raw))
    wide = next(m * size for m in (1, 2, 5, 10) if m * size >= raw)
    return [float(t) for t in np.arange(math.ceil(low / wide) * wide, high + 1e-9 * wide, wide)]


def shares(phases: Sequence[Mapping[str, object]]) -> str:
    """The phases of a step as one strip."""
    return _strip([(str(p["name"]), float(str(p["share"]))) for p in phases], "")


def _strip(bars: Sequence[tuple[str, float]], said: str, line: str = "") -> str:
    """Phases beside each other, each as wide as its share, and a line over them; an empty name is a gap."""
    inside, at, total = "", 0.0, dict.fromkeys((name for name, _ in bars if name), 0.0)
    for name, share in bars:
        if name:
            inside += f'<rect class="phase {name}" x="{WIDE * at:.1f}" y="0" width="{WIDE * share:.1f}" height="{STRIP}"/>'
            total[name] += share
        at += share
    told = said + (", ".join(f"{name} {100 * share:.0f} %" for name, share in total.items()) or "phases not told")
    picture = f'<svg class="strip" viewBox="0 0 {WIDE} {STRIP}" preserveAspectRatio="none" role="img" aria-label="{text(told)}">'
    return f"{picture}{inside}{line}</svg>"


def gpu_strips(found: Strips) -> str:
    """The phases and the power of each GPU, over some steps of the run and over the average step."""
    first = f", from step {found.first_step:g} on" if np.isfinite(found.first_step) else ""
    more = f"<p>{found.more} more GPUs are not shown.</p>" if found.more else ""
    out = ""
    for title, rows in ((f"{figures(found.seconds)} s{first}", found.over_time), ("the average step", found.over_step)):
        top = max((float(np.nanmax(r.power)) for r in rows if np.isfinite(r.power).any()), default=0.0)
        out += f"<h3>Phases and power over {title}</h3>{''.join(_gpu(r, top) for r in rows)}{more}" if rows else ""
    return out


def _gpu(row: Strip, top: float) -> str:
    """Coloured phases, and power as a line above them, up to the highest of all GPUs."""
    known = np.flatnonzero(np.isfinite(row.power)) if top > 0 else np.empty(0, int)
    points = " ".join(f"{WIDE * (i + 0.5) / CELLS:.1f},{STRIP * (1 - 0.9 * row.power[i] / top):.1f}" for i in known)
    line = f'<polyline class="watts" fill="none" points="{points}"/>' if points else ""
    strip = _strip([(name, 1 / CELLS) for name in row.names], f"GPU {row.gpu}: ", line)
    return f'<div class="gpu-strip"><span>GPU {text(row.gpu, 60)}</span>{strip}</div>'
