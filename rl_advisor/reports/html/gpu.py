"""Where the GPUs' time went: the phases of a step as one strip and a table."""

from typing import Any

from rl_advisor.gpu.profile import profile
from rl_advisor.reports.html.strips import gpu_strips
from rl_advisor.reports.html.words import figures, plain, text
from rl_advisor.run import Run

SMALL = 0.0005
"""Share below which a phase is left out."""


def gpu(run: Run) -> str:
    """The strip, the table and what telemetry cannot tell; empty without telemetry and timers."""
    found = phases(run)
    if found is None:
        return ""
    period = found["step_period_s"]
    head = f"<p>{text(found['says'])}</p>" + (f"<p>One step takes {figures(period)} s on average.</p>" if period else "")
    untold = "".join(f"<li>{text(line)}</li>" for line in found["cannot_tell"])
    note = f"<details><summary>What this cannot tell</summary><ul>{untold}</ul></details>" if untold else ""
    return head + _strip(found["phases"]) + _table(found["phases"]) + gpu_strips(run) + note


def phases(run: Run) -> dict[str, Any] | None:
    """The profile of the GPUs, where there is telemetry or are timers to make one of."""
    found = profile(run) if len(run.telemetry) or run.family("time/phase/") else None
    return found if found is not None and found["phases"] else None


def _strip(phases: list[dict[str, Any]]) -> str:
    edge, bars = 0.0, ""
    for p in phases:
        width = 1000 * p["share"]
        bars += f'<rect class="phase {p["name"]}" x="{edge:.1f}" y="0" width="{max(width, 0):.1f}" height="20"/>'
        edge += width
    said = ", ".join(f"{p['name']} {100 * p['share']:.0f} %" for p in phases)
    return f'<svg class="strip" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label="{text(said)}">{bars}</svg>'


def _table(phases: list[dict[str, Any]]) -> str:
    head = "".join(f'<th scope="col">{h}</th>' for h in ("phase", "share", "s a step", "W", "J a step", "confidence"))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Phases of a step"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(_phase(p) for p in phases if p['share'] > SMALL)}</tbody></table></div>"
    )


def _phase(p: dict[str, Any]) -> str:
    share = f"{100 * p['share']:.0f} %"
    if p["share_high"] - p["share_low"] > SMALL:
        share += f" ({100 * p['share_low']:.0f} to {100 * p['share_high']:.0f})"
    cells = [share, *(figures(p[k]) if p[k] is not None else "not known" for k in ("seconds_per_step", "power_w", "energy_j_per_step"))]
    row = "".join(f"<td>{c}</td>" for c in (*cells, text(p["confidence"])))
    return f'<tr><th scope="row"><i class="key {p["name"]}"></i>{plain(p["name"])}</th>{row}</tr>'
