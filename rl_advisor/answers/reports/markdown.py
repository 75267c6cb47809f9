"""The document as Markdown, for pull requests and chats. Nothing is computed here; every number stands in the assessment."""

import re
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from rl_advisor.answers.document import of_several
from rl_advisor.answers.document.blocks import Bars, Card, Charts, Code, Columns, Facts, Fold, Lines, Section, Table, Words
from rl_advisor.answers.document.curves import drawn
from rl_advisor.answers.document.of_run import sections, story_rows
from rl_advisor.answers.story.telling import in_own_names
from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.output.layout import spark
from rl_advisor.output.wording import plain
from rl_advisor.run import Run

SUFFIX = ".md"
_ADDRESS = re.compile(r"(?i)(:(?=//)|www(?=\.)|@(?=[\w-]+\.\w)|(?<!\w)@(?=\w))")
"""Where a page makes a link of a bare address, or calls a person: a comment that nobody sees parts it."""


def render(run: Run, assessment: Assessment) -> str:
    """The report: verdict, call, the story and its sparklines, then the sections of the document."""
    a, story = in_own_names(run, assessment)
    return _joined([*_head(a, story), _sparklines(story), *map(_section, sections(run, a, drawn(run, assessment)))])


def short(run: Run, assessment: Assessment) -> str:
    """How the report begins: verdict, call and the story."""
    return _joined(_head(*in_own_names(run, assessment)))


def _head(a: Assessment, story: Answer) -> list[str]:
    return [
        f"# {inert(a.run or 'run')}: {a.verdict.replace('_', ' ')}, {a.call}",
        f"{inert(story['progress'])}. {inert(story['call'])} ({inert(story['verdict'].partition(' (')[2])}",
        inert(a.words),
        markdown_of(Facts(story_rows(story))),
    ]


def compared(_: Sequence[Run], answer: Answer) -> str:
    """Several runs: what differs first, then runs, variants and settings as tables."""
    said = [*answer["said"], *answer["notes"]]
    head = [f"# {len(answer['runs'])} runs side by side", markdown_of(Lines(said))]
    return _joined([*head, *map(_section, of_several.sections(answer, answer["runs"], {}))])


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(p for p in parts if p) + "\n"


def _section(part: Section) -> str:
    return f"## {part.title}\n\n{_all(part.blocks)}"


def _all(blocks: Sequence[Any]) -> str:
    """Blocks below each other."""
    return "\n\n".join(filter(None, map(markdown_of, blocks)))


def _sparklines(story: Answer) -> str:
    """The outcome and the cause's own metric as lines of blocks, in code, so that they keep their width."""
    rows = [f"{spark(list(q['blocks']))} {q['last_said']:>8}  {_name(q['label'])}" for q in story["curves"][:3] if q["points"] > 1]
    return "```text\n" + "\n".join(rows) + "\n```" if rows else ""


def _name(name: str) -> str:
    """A metric's name with nothing in it that could end the code it stands in."""
    return re.sub(r"[^\w/.@ -]", "?", name)[:60]


def inert(text: str) -> str:
    """Text that Markdown leaves alone: no links, mentions, images, HTML, code or table cells can come out of a run's own words."""
    flat = re.sub(r"\s+", " ", text).replace("\\", "\\\\")
    return _ADDRESS.sub(r"\1<!-- -->", re.sub(r"([`*_\[\]<>|#!~])", r"\\\1", flat))


@singledispatch
def markdown_of(block: Any) -> str:
    """A block as Markdown."""
    raise TypeError(f"{type(block).__name__} is no block of a document")


@markdown_of.register
def _(block: Words) -> str:
    return inert(block.text)


@markdown_of.register
def _(block: Lines) -> str:
    title = [f"{inert(block.title)}:\n"] if block.title else []
    return "\n".join([*title, *(f"- {inert(item)}" for item in block.items)])


@markdown_of.register
def _(block: Facts) -> str:
    return "\n".join(f"- **{name}**: {inert(said)}" for name, said in block.rows)


@markdown_of.register
def _(block: Table) -> str:
    rows = ([inert(c) for c in row] for row in (block.head, *block.rows))
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|{' --- |' * len(block.head)}", *body])


@markdown_of.register
def _(block: Bars) -> str:
    return f"{inert(block.said)} `{spark(list(block.counts))}`"


@markdown_of.register
def _(block: Fold) -> str:
    return f"<details><summary>{inert(block.title)}</summary>\n\n{_all(block.blocks)}\n\n</details>"


@markdown_of.register
def _(block: Charts) -> str:
    return "\n".join(f"- {inert(d.quantity.label)}: {inert(d.told)}. {d.among}".rstrip(" .") for d in block.curves)


@markdown_of.register
def _(card: Card) -> str:
    f, first = card.finding, "first break: " if card.first else ""
    where = ", ".join(f"{name} {low:.0f} to {high:.0f}" for _, name, low, high in card.look)
    look = f" Look at: {inert(where)}." if where else ""
    curve = f"\n  {markdown_of(Charts([card.curve]))}" if card.curve else ""
    return f"- {first}**{plain(f.pattern)}** ({plain(f.link)}): {inert(f.statement)}{look}{curve}"


@markdown_of.register
def _(block: Code) -> str:
    """What was written stands as code, in which no page of Markdown follows a link or calls a person."""
    said = re.sub(r"\s+", " ", block.text).replace("`", "'")
    return f"- {block.kind}: `{said}`"


@markdown_of.register
def _(block: Columns) -> str:
    return "\n\n".join(f"**{title}**\n\n{_all(part)}" for title, part in block.parts)
