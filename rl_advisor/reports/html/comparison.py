"""The page on several runs: what they say together first, then curves over each other, variants, runs and settings."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rl_advisor.curves import outcome_shape
from rl_advisor.reports.html.curves import binned
from rl_advisor.reports.html.document import locked
from rl_advisor.reports.html.words import figures, plain, text
from rl_advisor.run import Curve, Run

Answer = dict[str, Any]
COLOURS = 6
WIDE, HIGH = 1000, 300


def comparison(runs: Sequence[Run], answer: Answer) -> str:
    """The page as HTML text; ``answer`` is what ``compare`` says of these runs."""
    parts = [
        ("curves", "Outcome over the run", _curves(runs, answer)),
        ("variants", "Seeds of each variant together", _variants(answer)),
        ("runs", "Runs", _runs(answer)),
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
    """What can be said, and what cannot."""
    told = [f"{p['a']} and {p['b']}: {p['said']}" for p in answer["between"]] or ["There is one variant: nothing to set against another."]
    lines = "".join(f'<p class="summary">{text(line)}</p>' for line in (*told, *answer["notes"]))
    return f'<header class="verdict open"><h1><span class="word">{title}</span></h1>{lines}</header>'


def _colour(name: str, answer: Answer) -> str:
    """The class of a variant's colour; it is named in words beside it everywhere."""
    names = list(dict.fromkeys(r["variant"] for r in answer["runs"]))
    return f"c{names.index(name) % COLOURS}"


def _curves(runs: Sequence[Run], answer: Answer) -> str:
    """The outcome of every run in one picture, coloured by variant."""
    drawn = [(row, c) for row, run in zip(answer["runs"], runs, strict=True) if (c := outcome_shape.outcome(run)) is not None]
    drawn = [(row, c) for row, c in drawn if np.isfinite(c.value).sum() > 1]
    if not drawn or len({c.name for _, c in drawn}) > 1:
        return ""
    ends = _ends([c for _, c in drawn])
    paths = "".join(f'<path class="{_colour(row["variant"], answer)}" d="{_path(c, *ends)}"/>' for row, c in drawn)
    (first, last), (low, high) = ends
    names = dict.fromkeys(row["variant"] for row, _ in drawn)
    of = {v["variant"]: v["settings"] for v in answer["variants"]}
    legend = "".join(f'<li><i class="{_colour(n, answer)}"></i>{text(n)}{_named(of.get(n, {}))}</li>' for n in names)
    said = f"{drawn[0][1].name} of {len(drawn)} runs, {figures(low)} to {figures(high)}, over steps {first:.0f} to {last:.0f}"
    return (
        f'<figure class="chart overlay"><figcaption><h3>{text(drawn[0][1].name, 120)}</h3></figcaption><ul class="legend">{legend}</ul>'
        f'<p class="end">{figures(high)}</p><svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(said)}">{paths}</svg><p class="end">{figures(low)}</p>'
        f'<div class="ticks" aria-hidden="true"><span>{first:.0f}</span><span>{text(runs[0].step_unit)}</span>'
        f"<span>{last:.0f}</span></div></figure>"
    )


def _named(settings: Answer) -> str:
    """The settings that tell a variant from the others, where they are few."""
    return text(": " + ", ".join(f"{k} {v}" for k, v in settings.items()), 200) if 0 < len(settings) <= 4 else ""


Ends = tuple[float, float]


def _ends(curves: Sequence[Curve]) -> tuple[Ends, Ends]:
    """First and last step, lowest and highest value of all curves; never of no width."""
    steps, values = (np.concatenate(part) for part in zip(*(c.finite() for c in curves), strict=True))
    first, low = float(steps.min()), float(values.min())
    return (first, max(float(steps.max()), first + 1)), (low, max(float(values.max()), low + 1e-9 + 1e-6 * abs(low)))


def _path(curve: Curve, across: Ends, up: Ends) -> str:
    points = binned(curve)
    x = WIDE * (np.array(points["x"]) - across[0]) / (across[1] - across[0])
    y = HIGH * (1 - (np.array(points["y"]) - up[0]) / (up[1] - up[0]))
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _variants(answer: Answer) -> str:
    rows = []
    for v in answer["variants"]:
        known = [_estimate(v[field]) if field in v else "one run: not known" for field in ("last", "best")]
        name = f'<i class="key {_colour(v["variant"], answer)}"></i>{text(v["variant"])}'
        rows.append([name, str(len(v["runs"])), *known])
    pairs = [
        [f"{text(p['b'])} over {text(p['a'])}", _estimate(p["b_minus_a"]), _estimate(p["probability_of_improvement"]), figures(p["p"])]
        for p in answer["between"]
    ]
    means = _table("Interquartile means", ("variant", "seeds", "last level (95 % interval)", "best level (95 % interval)"), rows)
    return means + _table("Variants against each other", ("pair", "difference of the last level", "probability of improvement", "p"), pairs)


def _estimate(e: Answer) -> str:
    return f"{figures(e['value'])} ({figures(e['low'])} to {figures(e['high'])})"


def _runs(answer: Answer) -> str:
    def cell(row: Answer, field: str) -> str:
        return figures(row[field]) if field in row else "not known"

    rows = [
        [
            f'<i class="key {_colour(r["variant"], answer)}"></i>{text(r["run"], 200)}',
            text(r["variant"]),
            plain(r["verdict"]),
            plain(r["first_broken_link"]),
            *(cell(r, field) for field in ("start", "best", "best_step", "last")),
        ]
        for r in answer["runs"]
    ]
    return _table("Runs", ("run", "variant", "verdict", "first broken link", "start", "best", "at step", "last"), rows)


def _settings(answer: Answer) -> str:
    names = [text(r["run"], 60) for r in answer["runs"]]
    rows = [[text(key, 120), *(text(v, 80) for v in values)] for key, values in answer["settings_that_differ"].items()]
    return _table("Settings that differ", ("setting", *names), rows) if rows else "<p>None that is logged.</p>"


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
