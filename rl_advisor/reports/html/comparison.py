"""The page on several runs: what differs first, then curves over each other with their names, runs, variants and settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rl_advisor.answers.comparable import common
from rl_advisor.answers.compare import spelled, spelled_levels
from rl_advisor.output.wording import value
from rl_advisor.reports.html.curves import binned
from rl_advisor.reports.html.document import locked
from rl_advisor.reports.html.hero import axis
from rl_advisor.reports.html.words import plain, text
from rl_advisor.run import Curve, Run

Answer = dict[str, Any]
COLOURS = 8
"""Variants that have a colour and a dash of their own; the others of many are grey, but for the best and the worst."""
NAMED = 4
"""Settings and runs of a variant that its legend names."""
WIDE, HIGH = 1000, 300


def comparison(runs: Sequence[Run], answer: Answer) -> str:
    """The page as HTML text; ``answer`` is what ``compare`` says of these runs."""
    style = _Style(answer)
    parts = [
        ("curves", "Outcome over the run", _curves(runs, answer, style)),
        ("runs", "Runs", _runs(answer, style)),
        ("variants", "Seeds of each variant together", _variants(answer, style)),
        ("settings", "Settings that differ", _settings(answer)),
    ]
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{inside}</section>'
        for key, title, inside in parts
        if inside
    )
    title = f"{len(runs)} runs side by side"
    return locked(title, "open", f'<main id="main">{_said(answer, title)}{body}</main>')


def _said(answer: Answer, title: str) -> str:
    """What differs, or why that cannot be said; then what to keep in mind."""
    lines = "".join(f'<p class="lede">{text(line)}</p>' for line in answer["said"])
    notes = "".join(f'<p class="note">{text(line)}</p>' for line in answer["notes"])
    return f'<header class="verdict open"><h1><span class="word">{title}</span></h1>{lines}{notes}</header>'


@dataclass(frozen=True)
class _Style:
    """The colours of the variants: each its own while there are enough; of many runs only the best and the worst are coloured."""

    answer: Answer

    def of(self, row: Answer) -> str:
        """The class of a run's line and of its key."""
        names = list(dict.fromkeys(r["variant"] for r in self.answer["runs"]))
        if len(names) <= COLOURS:
            return f"c{names.index(row['variant'])}"
        ranked = self.ranked
        return "c3" if row is ranked[0] else "c4" if row is ranked[-1] else "grey"

    @cached_property
    def ranked(self) -> list[Answer]:
        """The runs, the best final level first."""
        return sorted(self.answer["runs"], key=lambda r: -(r["final"] if r.get("final") is not None else -np.inf))

    @property
    def many(self) -> bool:
        """Whether there are more variants than colours."""
        return len({r["variant"] for r in self.answer["runs"]}) > COLOURS

    def key(self, row: Answer) -> str:
        """A piece of the run's line."""
        line = '<path d="M0 6H22"/>'
        return f'<svg class="key-line {self.of(row)}" width="22" height="12" aria-hidden="true" focusable="false">{line}</svg>'


def _curves(runs: Sequence[Run], answer: Answer, style: _Style) -> str:
    """The compared curve of every run in one picture with round axes; empty where the runs do not compare."""
    able = zip(answer["runs"], common(runs).curves, strict=True)
    drawn = [(row, c) for row, c in able if c is not None and np.isfinite(c.value).sum() > 1]
    if not drawn or answer["refused"]:
        return ""
    ends = _ends([c for _, c in drawn])
    paths = "".join(
        f'<g class="{style.of(row)}"><title>{text(row["run"], 100)}</title><path d="{_path(c, *ends)}"/></g>'
        for row, c in sorted(drawn, key=lambda pair: style.of(pair[0]) != "grey")
    )
    (first, last), (low, high) = ends
    said = f"{answer['by']} of {len(drawn)} runs, {value(low)} to {value(high)}, over steps {first:.0f} to {last:.0f}"
    spread = f'<p class="ends" aria-hidden="true"><span>{value(high)}</span><span>{value(low)}</span></p>'
    picture = f'<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" aria-label="{text(said)}">{paths}</svg>'
    across = axis(ends[0], f"{answer['by']} over {runs[0].step_unit}")
    return (
        f'<figure class="hero of1 overlay"><ul class="names">{_legend(answer, style)}</ul><div class="panel">{spread}{picture}</div>'
        f"{across}</figure>"
    )


def _legend(answer: Answer, style: _Style) -> str:
    """Each variant with its runs and its settings; of too many, the best and the worst run."""
    rows = answer["runs"]
    if style.many:
        marked = [(row, "best") for row in rows if style.of(row) == "c3"][:1] + [(row, "worst") for row in rows if style.of(row) == "c4"][
            :1
        ]
        return "".join(f"<li>{style.key(row)} {name}: {text(row['run'], 80)}</li>" for row, name in marked) + "<li>grey: the others</li>"
    settings = {v["variant"]: v["settings"] for v in answer["variants"]}
    out = ""
    for name in dict.fromkeys(row["variant"] for row in rows):
        own = [row for row in rows if row["variant"] == name]
        named = ", ".join(text(row["run"], 60) for row in own[:NAMED]) + (f" and {len(own) - NAMED} more" if len(own) > NAMED else "")
        told = ", ".join(f"{k} {spelled(v)}" for k, v in list(settings.get(name, {}).items())[:NAMED])
        out += f"<li>{style.key(own[0])} <b>{text(name)}</b> {named}{f' ({text(told, 160)})' if told else ''}</li>"
    return out


Ends = tuple[float, float]


def _ends(curves: Sequence[Curve]) -> tuple[Ends, Ends]:
    """First and last step, lowest and highest value of all curves; never of no width."""
    steps, values = (np.concatenate(part) for part in zip(*(c.finite() for c in curves), strict=True))
    first, low = float(steps.min()), float(values.min())
    return (first, max(float(steps.max()), first + 1)), (low, max(float(values.max()), low + 1e-9 + 1e-6 * abs(low)))


def _path(curve: Curve, across: Ends, up: Ends) -> str:
    points = binned(curve)
    x = WIDE * (np.array(points["x"]) - across[0]) / (across[1] - across[0])
    y = HIGH - 4 - (HIGH - 8) * (np.array(points["y"]) - up[0]) / (up[1] - up[0])
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _variants(answer: Answer, style: _Style) -> str:
    """Interquartile means of the variants that have seeds, and the pairs that seeds can tell apart."""
    first = {r["variant"]: r for r in reversed(answer["runs"])}
    rows = [
        [f"{style.key(first[v['variant']])} {text(v['variant'])}", str(len(v["runs"])), _estimate(v["final"]), _estimate(v["best"])]
        for v in answer["variants"]
        if "final" in v
    ]
    pairs = [
        [
            f"{text(p['b'])} over {text(p['a'])}",
            _estimate(p["b_minus_a"]),
            _estimate(p["probability_of_improvement"], "share"),
            value(p["p"]),
        ]
        for p in answer["between"]
        if p["b_minus_a"]["low"] != p["b_minus_a"]["high"]
    ]
    means = _table("Interquartile means", ("variant", "seeds", "final level (95 % interval)", "best (95 % interval)"), rows)
    return means + _table("Variants against the first", ("pair", "difference at the end", "chance that it beats it", "p"), pairs)


def _estimate(e: Answer, unit: str = "") -> str:
    return f"{value(e['value'], unit)} ({value(e['low'], unit)} to {value(e['high'], unit)})"


def _runs(answer: Answer, style: _Style) -> str:
    """A row a run, the best first where they are many."""

    def cell(row: Answer, field: str) -> str:
        return "-" if row.get(field) is None else f"{row[field]:.0f}" if field == "best_step" else spelled_levels(row)[field]

    rows = [
        [
            f"{style.key(r)} {text(r['run'], 200)}",
            text(r["variant"]),
            plain(r["verdict"]),
            plain(r["first_broken_link"]),
            *(cell(r, field) for field in ("start", "best", "best_step", "last", "final")),
        ]
        for r in (style.ranked if style.many else answer["runs"])
    ]
    note = '<p class="note">Start and last as logged; best and final: levels.</p>'
    return _table("Runs", ("run", "variant", "verdict", "broke first", "start", "best", "at step", "last", "final"), rows) + note


def _settings(answer: Answer) -> str:
    names = [text(r["run"], 60) for r in answer["runs"]]
    rows = [[text(key, 120), *(text(spelled(v), 80) for v in values)] for key, values in answer["settings_that_differ"].items()]
    return _table("Settings that differ", ("setting", *names), rows) if rows else "<p>None that all of them log.</p>"


def _table(label: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of ready HTML cells that scrolls inside itself on a narrow screen; empty without rows."""
    if not rows:
        return ""
    tops = "".join(f'<th scope="col">{h}</th>' for h in head)
    lines = "".join(f'<tr><th scope="row">{r[0]}</th>{"".join(f"<td>{c}</td>" for c in r[1:])}</tr>' for r in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {label}"><table><thead><tr>{tops}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
