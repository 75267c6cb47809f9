"""The pictures of the pages as SVG: curves over one axis of steps, and histograms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rl_advisor.answers.document.curves import Frame, binned, raw
from rl_advisor.answers.reports.html.words import text
from rl_advisor.output.wording import tick, value
from rl_advisor.run import Curve, Floats

WIDE, HIGH = 1000, 150
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
    inside = "".join(_panel(p, Frame.of([line.curve for line in p.lines], ends), marks, faint=not kind) for p in panels)
    return f'<figure class="hero of{len(panels)} {kind}">{_names(marks, ends)}{inside}{_axis(ends, axis)}</figure>'


def _panel(panel: Panel, frame: Frame, marks: Sequence[Mark], *, faint: bool) -> str:
    paths = "".join(_line(line, frame, faint=faint) for line in panel.lines)
    rules = "".join(f'<path class="{m.kind}" d="M{WIDE * frame.across(m.at):.1f} 0V{HIGH}"/>' for m in marks)
    bands = (WIDE * frame.across(np.array(m.between)) for m in marks if m.between)
    band = "".join(f'<path class="band" d="M{low:.1f} 0H{high:.1f}V{HIGH}H{low:.1f}Z"/>' for low, high in bands if high > low)
    return (
        f'<ul class="names">{panel.legend}{"<li>log axis</li>" if frame.log else ""}</ul><div class="panel">'
        f'<p class="ends" aria-hidden="true"><span>{value(frame.high, panel.unit)}</span><span>{value(frame.low, panel.unit)}</span></p>'
        f'<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(panel.said, 400)}">{band}{rules}{paths}</svg></div>'
    )


def _line(line: Line, frame: Frame, *, faint: bool) -> str:
    """Single points of a short curve; of a long one the medians of neighbours, over the logged points where ``faint`` ones are wanted."""
    points, logged = binned(line.curve), raw(line.curve)
    path = _path(np.array(points["x"]), np.array(points["y"]), frame)
    title = f"<title>{text(line.name, 100)}</title>" if line.name else ""
    whole = f'<g class="{line.kind}">{title}<path d="M{"L".join(path)}"/></g>'
    if not faint:
        return whole
    if not logged[0].size:
        return f'{whole}<path class="dots {line.kind}" d="{"".join(f"M{p}h0" for p in path)}"/>'
    return f'<path class="raw {line.kind}" d="M{"L".join(_path(*logged, frame))}"/>{whole}'


def _path(step: Floats, y: Floats, frame: Frame) -> list[str]:
    return [f"{a:.1f} {b:.1f}" for a, b in zip(WIDE * frame.across(step), HIGH - 6 - (HIGH - 12) * frame.up(y), strict=True)]


def _names(marks: Sequence[Mark], ends: Span) -> str:
    """The names of the marks above the panels, each at its line on a row of its own, where there is room for it."""
    rows = enumerate((m, float(Frame(ends, 0, 1).across(m.at))) for m in marks)
    names = "".join(
        f'<text class="{m.kind}" x="{x:.2%}" y="{13 + 15 * row}" {_LEFT if x < 0.5 else _RIGHT}>{m.name}</text>' for row, (m, x) in rows
    )
    return f'<svg class="marks" height="{17 + 15 * (len(marks) - 1)}" aria-hidden="true" focusable="false">{names}</svg>' if marks else ""


_LEFT, _RIGHT = 'dx="4" text-anchor="start"', 'dx="-4" text-anchor="end"'


def _axis(ends: Span, name: str) -> str:
    """Round steps below the panels, and what they count."""
    places = ((t, float(Frame(ends, 0, 1).across(t))) for t in ticks(*ends))
    anchored = ((t, x, "start" if x < 0.03 else "end" if x > 0.97 else "middle") for t, x in places)
    names = "".join(f'<text x="{x:.2%}" y="13" text-anchor="{anchor}">{tick(t)}</text>' for t, x, anchor in anchored)
    return f'<svg class="xticks" height="18" aria-hidden="true" focusable="false">{names}</svg><p class="axis">{text(name, 120)}</p>'


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About as many round numbers between two steps."""
    raw = max((high - low) / about, 1.0)
    size = 10.0 ** math.floor(math.log10(raw))
    wide = next(m * size for m in (1, 2, 5, 10) if m * size >= raw)
    return [float(t) for t in np.arange(math.ceil(low / wide) * wide, high + 1e-9 * wide, wide)]


def bars(counts: Sequence[int], said: str) -> str:
    """A histogram: a bar for each count, as high as its part of the largest."""
    wide, tall = WIDE / len(counts), HIGH / max(counts)
    path = "".join(f"M{wide * i:.1f} {HIGH}v{-tall * n:.1f}h{wide - 4:.1f}V{HIGH}z" for i, n in enumerate(counts))
    box = f'viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none"'
    return f'<svg class="bars" {box} role="img" aria-label="{text(said, 400)}"><path d="{path}"/></svg>'
