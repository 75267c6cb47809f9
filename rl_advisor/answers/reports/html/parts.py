"""Each block of a document as HTML in which nothing of a run's own words can act."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from rl_advisor.answers.document.blocks import Bars, Card, Charts, Code, Columns, Facts, Fold, Lines, Table, Words
from rl_advisor.answers.document.curves import Drawn
from rl_advisor.answers.reports.html.pictures import bars
from rl_advisor.answers.reports.html.words import plain, prose, text
from rl_advisor.output.layout import spark
from rl_advisor.output.wording import span, value


@singledispatch
def html_of(block: Any) -> str:
    """A block as HTML."""
    raise TypeError(f"{type(block).__name__} is no block of a document")


def beside(blocks: Sequence[Any]) -> str:
    """Blocks below each other, cards beside each other."""
    rest = [b for b in blocks if not isinstance(b, Card)]
    cards = "".join(html_of(b) for b in blocks if isinstance(b, Card))
    return (f'<div class="findings">{cards}</div>' if cards else "") + "".join(map(html_of, rest))


@html_of.register
def _(block: Words) -> str:
    return f'<p class="{block.kind}">{prose(block.text, 8000)}</p>'


@html_of.register
def _(block: Lines) -> str:
    """A list, what stands before a colon in bold."""
    parts = ((text(head), colon, prose(body)) for head, colon, body in (item.partition(": ") for item in block.items))
    items = "".join(f"<li><b>{head}</b>: {body}</li>" if colon else f"<li>{head}</li>" for head, colon, body in parts)
    return (f"<h3>{text(block.title)}</h3>" if block.title else "") + f'<ul class="lines">{items}</ul>'


@html_of.register
def _(block: Facts) -> str:
    return (
        f'<dl class="{block.kind}">{"".join(f"<div><dt>{text(name)}</dt><dd>{prose(said)}</dd></div>" for name, said in block.rows)}</dl>'
    )


@html_of.register
def _(block: Table) -> str:
    """A table that scrolls inside itself on a narrow screen."""
    tops = "".join(f'<th scope="col">{text(h, 120)}</th>' for h in block.head)
    keys = [f'<i class="key {key}"></i>' if key else "" for key in block.keys] or [""] * len(block.rows)
    lines = "".join(
        f'<tr><th scope="row">{key}{text(first, 200)}</th>{"".join(f"<td>{text(c, 200)}</td>" for c in cells)}</tr>'
        for key, (first, *cells) in zip(keys, block.rows, strict=True)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {block.label}"><table><thead><tr>{tops}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


@html_of.register
def _(block: Bars) -> str:
    return f'<p class="note">{prose(block.said)}</p>{bars(block.counts, block.said)}'


@html_of.register
def _(block: Fold) -> str:
    key = f' id="{block.key}"' if block.key else ""
    kind = "fold bulk" if block.bulk else "fold"
    return f'<details class="{kind}"{key}><summary>{text(block.title)}</summary>{beside(block.blocks)}</details>'


@html_of.register
def _(block: Charts) -> str:
    return f'<div class="charts">{"".join(map(figure, block.curves))}</div>'


def figure(d: Drawn) -> str:
    """The frame of a curve, which the page's script fills."""
    said, name = text(d.told), text(d.quantity.label, 120)
    among = f"<p>{text(d.among)}</p>" if d.among else ""
    return (
        f'<figure class="chart" id="{d.key}"><figcaption><h3>{name}</h3><p>{said}</p>{among}</figcaption>'
        f'<p class="static" aria-hidden="true">{spark(list(d.quantity.blocks))}</p>'
        f'<div class="plot" tabindex="0" role="group" aria-label="{name}: {said}" aria-describedby="hint"></div>'
        '<output class="readout" aria-live="off">&nbsp;</output></figure>'
    )


@html_of.register
def _(card: Card) -> str:
    """A finding with links to where else to look, its measures, and its curve."""
    f = card.finding
    when = f' <span class="when">began at {span(f.onset["low"], f.onset["high"])}</span>' if f.onset else ""
    badge = ' <strong class="badge">first break</strong>' if card.first else ""
    links = "".join(_evidence(*place) for place in card.look)
    measures = [(n, v) for n, v in f.measures.items() if v is not None]
    rows = "".join(f"<div><dt>{plain(n)}</dt><dd>{text(value(v, digits=3))}</dd></div>" for n, v in measures)
    return (
        f'<article class="finding" id="{card.key}" tabindex="-1"><h3>{plain(f.pattern)}{badge}</h3>'
        f'<p class="meta"><span class="chip">{plain(f.link)}</span>{when}</p><p>{prose(f.statement)}</p>'
        + (f'<p class="look">Look at: {links}</p>' if links else "")
        + (f'<details><summary>Measures</summary><dl class="measures">{rows}</dl></details>' if rows else "")
        + (figure(card.curve) if card.curve else "")
        + "</article>"
    )


def _evidence(key: str, name: str, low: float, high: float) -> str:
    said = f"{text(name, 200)}, {span(low, high)}"
    if not key:
        return f'<span class="evidence">{said}</span>'
    return f'<a class="evidence" href="#{key}" data-first="{low:g}" data-last="{high:g}">{said}</a>'


@html_of.register
def _(block: Code) -> str:
    return f'<pre class="{block.kind}" dir="auto">{text(block.text)}</pre>'


@html_of.register
def _(block: Columns) -> str:
    return f'<div class="columns">{"".join(f"<section><h3>{title}</h3>{beside(part)}</section>" for title, part in block.parts)}</div>'
