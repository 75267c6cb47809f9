"""The text of the report, section by section, in the order of the Markdown report; the verdict and the call first."""

import re

from rl_advisor.assessment import BROKEN, Assessment
from rl_advisor.doors.deliverables import deliverables
from rl_advisor.finding import number
from rl_advisor.page.curves import Drawn
from rl_advisor.page.words import figures, plain, text
from rl_advisor.run import Run

_TURNS = re.compile(r"(?<=[.!?]) (?=What broke first:|Keep |Looked for and not found:|Could not see:|Next:)")
_LATER = ("Looked for and not found:", "Could not see:")
"""Paragraphs of the summary that stand below the facts: what was not found has its own sections."""
OPEN = 8
"""Lines of a list that are seen without unfolding it."""
NAMED = 24
"""Curves without a picture that are named; the rest is counted."""


def mood(a: Assessment) -> str:
    """The class that colours the verdict."""
    return "bad" if a.verdict in BROKEN else {"improving": "good", "plateaued": "even"}.get(a.verdict, "open")


def verdict(a: Assessment) -> str:
    """Verdict and call, the summary, and the facts beside them."""
    planned = f" of {a.planned_steps} planned" if a.planned_steps else ""
    best = a.best_checkpoint
    onset = (
        f"step {a.onset.step:g} (between {a.onset.low:g} and {a.onset.high:g})"
        if a.onset
        else "not known"
        if a.first_broken_link != "none"
        else "no break found"
    )
    rows = [
        ("Chance that going on pays", f"{figures(a.p_continue_pays)}{_meter(a.p_continue_pays)}"),
        ("Confidence", a.confidence),
        ("Judged at", f"step {a.step}{planned}"),
        ("First broken link", plain(a.first_broken_link)),
        ("Onset", onset),
        ("Best checkpoint", f"<b>{text(best.path or 'none on disk')}</b> (step {best.step}): {text(best.why)}"),
    ]
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    return (
        f'<header class="verdict {mood(a)}"><p class="eyebrow">{text(a.run or "run", 200)}</p>'
        f'<h1><span class="word">{plain(a.verdict).capitalize()}</span> <span class="call">{text(a.call)}</span></h1>'
        f'{_summary(a, later=False)}<dl class="facts">{facts}</dl>{_summary(a, later=True)}</header>'
    )


def _summary(a: Assessment, *, later: bool) -> str:
    """The summary in paragraphs, broken where it turns to another question; those above the facts, or those below."""
    kind = "summary aside" if later else "summary"
    parts = (part for part in _TURNS.split(a.summary) if part.strip() and part.startswith(_LATER) == later)
    return "".join(f'<p class="{kind}">{text(part, 8000)}</p>' for part in parts)


def _meter(p: float) -> str:
    width = 100 * min(1.0, max(0.0, p))
    return (
        '<svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="all" width="100" height="6" rx="3"/><rect class="part" width="{width:.1f}" height="6" rx="3"/></svg>'
    )


def charts(curves: list[Drawn], run: Run) -> str:
    """A frame for every curve, with what is measured on it in words, and the names of those that are not drawn."""
    if not curves:
        return ""
    shown = {d.curve.name for d in curves}
    rest = sorted(n for n in run.curves if n not in shown)
    more = f" and {len(rest) - NAMED} more" if len(rest) > NAMED else ""
    names = ", ".join(f"<code>{text(n, 120)}</code>" for n in rest[:NAMED])
    left = f'<p class="note">Read but not drawn: {names}{more}.</p>' if rest else ""
    across = f'<p class="note">From left to right: {text(run.step_unit)}.</p>'
    return f'{_TOOLS}{across}<div class="charts">{"".join(_figure(d) for d in curves)}</div>{left}'


_TOOLS = (
    '<div class="tools" role="toolbar" aria-label="Zoom of all curves">'
    '<button type="button" data-do="in">Zoom in</button><button type="button" data-do="out">Zoom out</button>'
    '<button type="button" data-do="left" aria-label="Earlier steps">&larr;</button>'
    '<button type="button" data-do="right" aria-label="Later steps">&rarr;</button>'
    '<button type="button" data-do="all">Whole run</button><output id="range" aria-live="polite"></output></div>'
    '<ul class="legend"><li class="k-line">median</li><li class="k-band">lowest to highest</li>'
    '<li class="k-first">first break</li><li class="k-onset">onset on this curve, with its interval</li>'
    '<li class="k-change">change point</li>'
    '<li class="k-best">best checkpoint</li><li class="k-look">evidence looked at</li></ul>'
    '<p class="note" id="hint">Drag over a curve to zoom all of them; double-click for the whole run. With the keyboard: arrows move the '
    "line, plus and minus zoom, 0 shows everything.</p>"
)


def _figure(d: Drawn) -> str:
    said = _said(d)
    name = text(d.curve.name, 120)
    return (
        f'<figure class="chart" id="{d.key}"><figcaption><h3>{name}</h3><p>{said}</p></figcaption>'
        f'<div class="plot" tabindex="0" role="group" aria-label="{name}: {said}" aria-describedby="hint"></div>'
        '<output class="readout" aria-live="off">&nbsp;</output></figure>'
    )


def _said(d: Drawn) -> str:
    return text(told(d))


def told(d: Drawn) -> str:
    """What is measured on a curve, in words; both reports say it."""
    m = d.measured
    if "start" not in m:
        return "too few points to measure"
    said = f"starts at {number(m['start'])}, ends at {number(m['end'])}" + (f" ({m['unit']})" if m.get("unit") else "")
    if "highest" in m:
        said += f"; smoothed, highest at {number(m['highest']['value'])} near step {m['highest']['step']:.0f}"
    if "recent" in m:
        way = m["recent"]["direction"]
        said += f"; since step {m['recent']['from_step']:.0f} " + ("its direction cannot be told" if way == "undecidable" else way)
    return said


def lines(items: list[str]) -> str:
    """A list of sentences, the pattern that opens each in bold; a long one is folded behind its first."""
    if len(items) <= OPEN + 2:
        return _list(items)
    more = f'<details class="fold"><summary>{len(items) - OPEN} more</summary>{_list(items[OPEN:])}</details>'
    return _list(items[:OPEN]) + more


def _list(items: list[str]) -> str:
    return f'<ul class="lines">{"".join(f"<li>{_headed(i)}</li>" for i in items)}</ul>' if items else ""


def _headed(item: str) -> str:
    head, colon, body = item.partition(": ")
    return f"<b>{text(head)}</b>: {text(body)}" if colon else text(item)


def experiment(a: Assessment) -> str:
    """The one next thing to try, and what each explanation predicts."""
    e = a.next_experiment
    return (
        f'<p class="do">{text(e.do)}</p><dl class="expect"><div><dt>If right</dt><dd>{text(e.expect_if_right)}</dd></div>'
        f"<div><dt>If wrong</dt><dd>{text(e.expect_if_wrong)}</dd></div></dl>"
    )


def read(run: Run) -> str:
    """What the report rests on."""
    known = sum(c.mapped for c in run.curves.values())
    rows = [
        f"Framework: {text(', '.join(run.frameworks) or 'not recognised')}; formats: {text(', '.join(run.formats))}",
        f"Files: {len(run.files)}",
        f"Curves: {known} with a known meaning, {len(run.curves) - known} without",
        f"Samples: {len(run.rollouts)}; telemetry rows: {len(run.telemetry)}; checkpoints: {len(run.checkpoints)}",
    ]
    return f"<ul>{''.join(f'<li>{r}</li>' for r in rows)}</ul>"


def checklist(run: Run, a: Assessment) -> str:
    """What a finished run should leave behind, and whether it is there."""
    rows = "".join(
        f'<li class="{"there" if there else "gone"}"><b>{"there" if there else "missing"}</b> {text(name)}</li>'
        for name, there in deliverables(run, a)
    )
    return f'<ul class="checklist">{rows}</ul>'
