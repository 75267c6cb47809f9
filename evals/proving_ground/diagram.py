"""A reliability diagram as an SVG: what was said against what happened, a dot a tenth, as large as it has runs."""

from collections.abc import Mapping

SIDE, EDGE = 260, 44
INK, SOFT, DOT = "#57606a", "#d0d7de", "#0969da"
Tenths = Mapping[str, Mapping[str, float]]
"""Of each tenth the number of runs, what was said and what happened."""


def diagram(panels: Mapping[str, Tenths]) -> str:
    """The panels side by side."""
    width, height = (SIDE + EDGE + 16) * len(panels), SIDE + 2 * EDGE
    drawn = [panel(name, tenths, i * (SIDE + EDGE + 16) + EDGE) for i, (name, tenths) in enumerate(panels.items())]
    style = 'font-family="system-ui, sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {style} role="img">'
    return "\n".join([head, "<title>What was said against what happened</title>", *drawn, "</svg>", ""])


def panel(name: str, tenths: Tenths, left: int) -> str:
    """One square with its diagonal and its dots."""
    top, most = EDGE - 16, max((t["runs"] for t in tenths.values()), default=1)
    parts = [
        f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{SOFT}"/>',
        f'<line x1="{left}" y1="{top + SIDE}" x2="{left + SIDE}" y2="{top}" stroke="{SOFT}" stroke-dasharray="4 3"/>',
        f'<text x="{left}" y="{top - 8}" fill="{INK}" font-weight="600">{name}</text>',
    ]
    for share in (0, 50, 100):
        x, y = left + SIDE * share / 100, top + SIDE - SIDE * share / 100
        parts.append(f'<text x="{x:.0f}" y="{top + SIDE + 14}" fill="{INK}" text-anchor="middle">{share} %</text>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.0f}" fill="{INK}" text-anchor="end">{share} %</text>')
    parts.append(f'<text x="{left + SIDE / 2:.0f}" y="{top + SIDE + 30}" fill="{INK}" text-anchor="middle">said (up: happened)</text>')
    for where, t in tenths.items():
        x, y, r = left + SIDE * t["said"], top + SIDE - SIDE * t["happened"], 3 + 7 * (t["runs"] / most) ** 0.5
        title = f"{where}: said {t['said']:.2f}, happened {t['happened']:.2f}, {t['runs']:.0f} runs"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{DOT}" fill-opacity=".75"><title>{title}</title></circle>')
    return "\n".join(parts)
