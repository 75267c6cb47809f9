"""The text of the report, section by section, in the order of the Markdown report; the verdict and the call first."""

from rl_advisor.answers.checklist import deliverables
from rl_advisor.answers.story.quantities import label, quantity
from rl_advisor.answers.story.telling import Story
from rl_advisor.assessment import BROKEN, Assessment
from rl_advisor.output.wording import listed, pair, sentence, value
from rl_advisor.reports.html.curves import Drawn, logarithmic
from rl_advisor.reports.html.words import plain, text
from rl_advisor.run import Run

OPEN = 8
"""Lines of a list that are seen without unfolding it."""
EFFECTS = 4
"""Effects that are named beside the picture."""
NAMED = 24
"""Curves without a picture that are named; the rest is counted."""


def mood(a: Assessment) -> str:
    """The class that colours the verdict."""
    return "bad" if a.verdict in BROKEN else {"improving": "good", "plateaued": "even"}.get(a.verdict, "open")


def verdict(a: Assessment, story: Story, picture: str) -> str:
    """Verdict, call and reason; then the picture, and the story beside it."""
    where = " · ".join(text(part, 200) for part in (a.run or "run", story.progress, story.framework) if part)
    words = f'<p class="summary">{text(story.words, 8000)}</p>' if story.words else ""
    sure = story.verdict.partition(" (")[2].rstrip(")")
    return (
        f'<header class="verdict {mood(a)}"><p class="eyebrow">{where}</p>'
        f'<h1><span class="word">{plain(a.verdict).capitalize()}</span> <span class="call">{text(a.call)}</span></h1>'
        f'<p class="lede">{text(story.call)} <span class="sure">{text(sure)}.</span></p>{words}'
        f'<div class="first">{picture}{_story(a, story)}</div></header>'
    )


def _story(a: Assessment, story: Story) -> str:
    """What to do, what broke, what came of it, what to keep."""
    rows = (
        ("Do now", text(story.do)),
        ("Why", text(sentence(a.why))),
        ("Cause", text(story.cause)),
        ("Effect", text(listed(list(story.effects), EFFECTS))),
        ("Score", text("; ".join(story.outcome))),
        ("Keep", text(story.keep)),
        ("At odds", text("; ".join(story.at_odds[:2]))),
        ("Also there", text(listed([line.partition(":")[0] for line in story.also], 3))),
    )
    facts = "".join(f"<div><dt>{name}</dt><dd>{said}</dd></div>" for name, said in rows if said)
    return f'<dl class="story">{facts}</dl>'


def not_checked(a: Assessment, story: Story) -> str:
    """What was not checked, in one line."""
    lacking = f"Not logged: {listed(list(story.not_logged), 4)}. " if story.not_logged else ""
    count = {o: sum(f.outcome == o for f in a.findings) for o in ("absent", "unclear")}
    return f'<p class="note">{text(lacking)}{count["absent"]} patterns ruled out, {count["unclear"]} could not be decided.</p>'


def charts(curves: list[Drawn], run: Run) -> str:
    """A frame for every curve, with what is measured on it in words, and the names of those that are not drawn."""
    if not curves:
        return ""
    shown = {d.curve.name for d in curves}
    rest = sorted(n for n in run.curves if n not in shown)
    more = f" and {len(rest) - NAMED} more" if len(rest) > NAMED else ""
    names = ", ".join(f"<code>{text(n, 120)}</code>" for n in rest[:NAMED])
    summary = f"<summary>{len(rest)} curves read but not drawn</summary>"
    left = f'<details class="fold">{summary}<p class="note">{names}{more}.</p></details>' if rest else ""
    axes = "".join(f'<button type="button" data-axis="{name}">{title}</button>' for name, title in axes_of(run))
    chosen = f'<span class="axes" role="group" aria-label="Axis">{axes}</span>' if axes else ""
    return f'{_TOOLS.replace("<output", chosen + "<output", 1)}<div class="charts">{"".join(_figure(d) for d in curves)}</div>{left}'


def axes_of(run: Run) -> list[tuple[str, str]]:
    """The axes that the curves can be read over besides steps."""
    hours = run.clock()[0].size > 1
    return (
        [("step", "Steps")] * (hours or "progress/tokens" in run.curves)
        + [("hours", "Hours")] * hours
        + [("tokens", "Tokens")] * ("progress/tokens" in run.curves)
    )


_TOOLS = (
    '<div class="tools" role="toolbar" aria-label="Zoom of all curves">'
    '<button type="button" data-do="in">Zoom in</button><button type="button" data-do="out">Zoom out</button>'
    '<button type="button" data-do="left" aria-label="Earlier steps">&larr;</button>'
    '<button type="button" data-do="right" aria-label="Later steps">&rarr;</button>'
    '<button type="button" data-do="all">Whole run</button><output id="range" aria-live="polite"></output></div>'
    '<ul class="legend"><li class="k-line">median of neighbours</li><li class="k-raw">logged points</li>'
    '<li class="k-band">lowest to highest</li>'
    '<li class="k-first">first break</li><li class="k-onset">onset on this curve</li>'
    '<li class="k-change">change point</li>'
    '<li class="k-best">best checkpoint</li><li class="k-look">evidence looked at</li></ul>'
    '<p class="note" id="hint">Drag to zoom all curves, double-click to reset; keys: arrows, plus, minus, 0.</p>'
)


def _figure(d: Drawn) -> str:
    said = text(told(d))
    ours = f" ({d.curve.name})" if d.curve.mapped and label(d.curve) != d.curve.name else ""
    name = text(f"{label(d.curve)}{ours}", 120)
    return (
        f'<figure class="chart" id="{d.key}"><figcaption><h3>{name}</h3><p>{said}</p></figcaption>'
        f'<div class="plot" tabindex="0" role="group" aria-label="{name}: {said}" aria-describedby="hint"></div>'
        '<output class="readout" aria-live="off">&nbsp;</output></figure>'
    )


def told(d: Drawn) -> str:
    """What a curve did, in the values that were logged; every report says the same."""
    q = quantity(d.curve)
    if q is None:
        return "no finite value"
    when = f", best {value(q.best, q.unit)} at step {q.best_step:.0f}" if q.best is not None and q.best not in (q.first, q.last) else ""
    a, b = pair(q.first, q.last, q.unit)
    unit = f" {q.unit}" if q.unit in ("nats", "tokens", "s", "tokens/s", "GiB") else ""
    return f"{a} → {b}{unit}{when}" + (" (log axis)" if logarithmic(d.curve) else "")


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
    """The one next thing to try; what each explanation predicts for it is folded."""
    e = a.next_experiment
    return (
        f'<p class="do">{text(e.do)}</p><details class="fold"><summary>What each explanation predicts</summary><dl class="expect">'
        f"<div><dt>If right</dt><dd>{text(e.expect_if_right)}</dd></div>"
        f"<div><dt>If wrong</dt><dd>{text(e.expect_if_wrong)}</dd></div></dl></details>"
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
        f'<li class="{"there" if there else "gone"}"><b>{"✓" if there else "missing"}</b> {text(name)}</li>'
        for name, there in deliverables(run, a)
    )
    return f'<ul class="checklist">{rows}</ul>'
