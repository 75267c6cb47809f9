"""The text of the report, section by section, in the order of the Markdown report; the verdict and the call first."""

from rl_advisor.answers.checklist import deliverables
from rl_advisor.answers.story.quantities import label, quantity, unit_of
from rl_advisor.answers.story.telling import Story
from rl_advisor.assessment import BROKEN, Assessment
from rl_advisor.output.layout import spark
from rl_advisor.output.wording import listed, sentence, value
from rl_advisor.reports.html.curves import Drawn, axes, logarithmic
from rl_advisor.reports.html.words import plain, prose, text
from rl_advisor.run import Curve, Run

OPEN = 8
"""Lines of a list that are seen without unfolding it."""
NOT_LOGGED = 4
"""Metrics that are named as not logged."""
NAMED = 24
"""Curves without a picture that are named; the rest is counted."""


def mood(a: Assessment) -> str:
    """The class that colours the verdict."""
    return "bad" if a.verdict in BROKEN else {"improving": "good", "plateaued": "even"}.get(a.verdict, "open")


def verdict(a: Assessment, story: Story, picture: str) -> str:
    """Verdict with how sure it is, the call and its reason; then the picture, and the story beside it."""
    where = " · ".join(text(part, 200) for part in (a.run or "run", story.progress, story.framework) if part)
    words = f'<p class="summary">{text(story.words, 8000)}</p>' if story.words else ""
    sure = story.verdict.partition(" (")[2].rstrip(")")
    beside = f'<div class="first{"" if picture else " alone"}">{picture}{_story(story)}</div>'
    return (
        f'<header class="verdict {mood(a)}"><p class="eyebrow">{where}</p>'
        f'<h1><span class="word">{plain(a.verdict).capitalize()}</span> <span class="sure">{text(sure)}</span> '
        f'<span class="call">{text(a.call)}</span></h1><p class="lede">{text(story.call)}</p>{words}{beside}</header>'
    )


def _story(story: Story) -> str:
    facts = "".join(f"<div><dt>{name}</dt><dd>{prose(said)}</dd></div>" for name, said in rows(story))
    return f'<dl class="story">{facts}</dl>'


def rows(story: Story) -> list[tuple[str, str]]:
    """The facts of the story, but for words that stand above them, and what was not checked."""
    unseen = f"{listed(list(story.not_logged), NOT_LOGGED)} (not logged)" if story.not_logged else ""
    return [(label, said) for label, said in (*story.facts, ("Not checked", unseen)) if said and label != "In words"]


def weighed(a: Assessment) -> str:
    """What spoke for the verdict and what against it, the weightiest first."""
    told = "".join(f"<h3>{name}</h3>{_list(said)}" for name, said in sides(a))
    return f'{told}<p class="note">"About" marks a level over several points; other numbers are logged values.</p>' if told else ""


def sides(a: Assessment) -> list[tuple[str, list[str]]]:
    """What was weighed for the verdict, and against it or for another."""
    ours = [(e.weight if e.for_ == a.verdict else -abs(e.weight), e.says) for e in a.evidence]
    for_ = [said for weight, said in sorted(ours, reverse=True) if weight > 0]
    against = [said for weight, said in sorted(ours) if weight <= 0]
    return [(name, said[:OPEN]) for name, said in (("For", for_), ("Against, or for another", against)) if said]


def counted(a: Assessment) -> str:
    """How many patterns were ruled out, could not be decided and were not logged, in one line."""
    told = (("absent", "ruled out"), ("unclear", "could not be decided"), ("not_logged", "not logged"))
    counts = [(sum(f.outcome == outcome for f in a.findings), words) for outcome, words in told]
    return f"{len(a.findings)} patterns: {listed([f'{n} {words}' for n, words in counts if n])}."


def tools(curves: list[Drawn], run: Run) -> str:
    """The buttons that move all curves at once, and how the curves are read."""
    if not curves:
        return ""
    buttons = "".join(f'<button type="button" data-axis="{name}">{title}</button>' for name, title in axes_of(run))
    chosen = f'<span class="axes" role="group" aria-label="Axis">{buttons}</span>' if buttons else ""
    return _TOOLS.replace("<output", chosen + "<output", 1)


def charts(curves: list[Drawn], still: list[Curve], rest: list[str]) -> str:
    """A frame for every curve, with what is measured on it in words; those that never moved, and the names of those that are not drawn."""
    more = f" and {len(rest) - NAMED} more" if len(rest) > NAMED else ""
    names = ", ".join(f"<code>{text(n, 120)}</code>" for n in rest[:NAMED])
    summary = f"<summary>{len(rest)} curves read but not drawn</summary>"
    left = f'<details class="fold">{summary}<p class="note">{names}{more}.</p></details>' if rest else ""
    frames = "".join(figure(d) for d in curves)
    same = ", ".join(f"<code>{text(label(c), 120)}</code> {value(float(c.finite()[1][0]), unit_of(c))}" for c in still[:NAMED])
    note = f'<p class="note">Constant throughout: {same}.</p>' if same else ""
    return (f'<div class="charts">{frames}</div>' if frames else "") + note + left


def axes_of(run: Run) -> list[tuple[str, str]]:
    """The axes that the curves can be read over besides steps."""
    named = {"hours": "Hours", "tokens": "Tokens"}
    found = [(name, named[name]) for name in axes(run)]
    return [("step", "Steps"), *found] if found else []


_TOOLS = (
    '<div class="tools" role="toolbar" aria-label="Zoom of all curves">'
    '<button type="button" data-do="in">Zoom in</button><button type="button" data-do="out">Zoom out</button>'
    '<button type="button" data-do="left" aria-label="Earlier steps">&larr;</button>'
    '<button type="button" data-do="right" aria-label="Later steps">&rarr;</button>'
    '<button type="button" data-do="all">Whole run</button><output id="range" aria-live="polite"></output></div>'
    '<details class="fold key-fold"><summary>How to read the curves</summary>'
    '<ul class="legend"><li class="k-line">median of neighbours</li><li class="k-raw">logged points</li>'
    '<li class="k-band">lowest to highest</li>'
    '<li class="k-first">first break</li><li class="k-onset">onset on this curve</li>'
    '<li class="k-change">change point</li>'
    '<li class="k-best">checkpoint to keep</li><li class="k-look">evidence looked at</li></ul>'
    '<p class="note" id="hint">Drag to zoom all curves, double-click to reset; keys: arrows, plus, minus, 0.</p></details>'
)


def figure(d: Drawn) -> str:
    """The frame of a curve, which the page's script fills."""
    said = text(told(d.curve, d.run))
    ours = f" ({d.curve.name})" if d.curve.mapped and label(d.curve) != d.curve.name else ""
    name = text(f"{label(d.curve)}{ours}", 120)
    return (
        f'<figure class="chart" id="{d.key}"><figcaption><h3>{name}</h3><p>{said}</p></figcaption>'
        f'<p class="static" aria-hidden="true">{spark(list(q.blocks)) if (q := quantity(d.curve, d.run)) else ""}</p>'
        f'<div class="plot" tabindex="0" role="group" aria-label="{name}: {said}" aria-describedby="hint"></div>'
        '<output class="readout" aria-live="off">&nbsp;</output></figure>'
    )


def told(curve: Curve, run: Run) -> str:
    """What a curve did, in the values that were logged; every report says the same."""
    q = quantity(curve, run)
    if q is None:
        return "no finite value"
    unit = f" {q.unit}" if q.unit in ("nats", "tokens", "s", "tokens/s", "GiB") else ""
    return f"{q.spelled(q.first)} → {q.spelled(q.last)}{unit}{q.best_said}" + (" (log axis)" if logarithmic(curve) else "")


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
    """The one next thing to try, and what each outcome of it would mean."""
    e = a.next_experiment
    return (
        f'<p class="do">{prose(sentence(e.do))}</p><dl class="expect"><div><dt>If right</dt><dd>{prose(e.expect_if_right)}</dd></div>'
        f"<div><dt>If wrong</dt><dd>{prose(e.expect_if_wrong)}</dd></div></dl>"
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
    there = '<li class="there"><b aria-hidden="true">✓</b> {}</li>'
    gone = '<li class="gone"><b aria-hidden="true">✗</b> {} <span class="missing">(missing)</span></li>'
    rows = "".join((there if found else gone).format(text(name)) for name, found in deliverables(run, a))
    return f'<ul class="checklist">{rows}</ul>'
