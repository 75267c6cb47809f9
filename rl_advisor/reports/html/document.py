"""The whole page in one file: sections, styles, script and data, locked by a policy that lets only our own script and styles act."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rl_advisor import __version__
from rl_advisor.answers.story.naming import named, named_story
from rl_advisor.answers.story.telling import tell
from rl_advisor.assessment import Assessment
from rl_advisor.output.clean import clean, readable
from rl_advisor.reports.html import sections
from rl_advisor.reports.html.curves import Drawn, constant, drawn, payload
from rl_advisor.reports.html.findings import anchors, cards, evidence
from rl_advisor.reports.html.gpu import gpu
from rl_advisor.reports.html.hero import hero
from rl_advisor.reports.html.samples import samples
from rl_advisor.reports.html.timeline import timeline
from rl_advisor.reports.html.words import plain, text
from rl_advisor.run import Run

_ASSETS = Path(__file__).parent / "assets"
_LONGEST = 10_000_000
Part = tuple[str, str, str]
"""Key, title and body of a section."""


@cache
def asset(*names: str) -> str:
    """Files of the page joined, exactly as they will stand in it."""
    return readable("\n".join((_ASSETS / n).read_text(encoding="utf-8").strip() for n in names), _LONGEST)


def document(run: Run, signed: Assessment) -> str:
    """The page as HTML text."""
    told = tell(run, signed)
    a, story = named(signed, told.names), named_story(told)
    curves, said, phases = drawn(run, signed), samples(run), gpu(run)
    held = [part for part in _parts(run, a, curves, (said, phases)) if part[2]]
    nav = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title, _ in held)
    main = "".join(_section(part) for part in held)
    title = f"{text(a.run or 'run', 100)}: {plain(a.verdict)}, {text(a.call)}"
    head = sections.verdict(a, story, hero(run, a, story))
    body = f'<nav aria-label="Contents"><ul>{nav}</ul></nav><main id="main">{head}{sections.tools(curves, run)}{main}</main>'
    return locked(title, sections.mood(a), body, payload(run, a, curves))


def _parts(run: Run, a: Assessment, curves: list[Drawn], beside: tuple[str, str]) -> list[Part]:
    """The sections in order: evidence with its curves, the other curves, samples and GPUs; all else that was looked at is folded."""
    said, phases = beside
    links = {"samples": bool(said), "gpu": bool(phases)}
    present, used = evidence(a, curves, **links)
    still = constant(run)
    told = {c.name for c in (*(d.curve for d in curves), *still)}
    folded = [
        ("first", "What moved when", timeline(run, a, anchors(a))),
        ("weighed", "What was weighed", sections.weighed(a)),
        ("unclear", "Could not be decided", cards(a, "unclear", curves, **links)),
        ("ruled-out", "Ruled out", sections.lines(a.ruled_out)),
        ("could-not-see", "Could not be seen", sections.lines(a.could_not_see)),
        ("read", "What was read", sections.read(run)),
    ]
    folds = "".join(_fold(part) for part in folded if part[2])
    others = sections.charts([d for d in curves if d.key not in used], still, sorted(n for n in run.curves if n not in told))
    return [
        ("findings", "Evidence", present),
        ("curves", "More curves" if used else "Curves", others),
        ("samples", "Samples", said),
        ("gpu", "GPU time", phases),
        ("next", "Next test", sections.experiment(a)),
        ("checked", "What was checked", f'<p class="note">{sections.counted(a)}</p>{folds}'),
        ("deliverables", "Reproducibility checklist", sections.checklist(run, a)),
    ]


BULK = ("unclear", "ruled-out", "could-not-see")
"""Lists that stay folded on paper, too; how long they are is said above them."""


def _fold(part: Part) -> str:
    key, title, body = part
    return f'<details class="fold{" bulk" if key in BULK else ""}" id="{key}"><summary>{title}</summary>{body}</details>'


def _section(part: Part) -> str:
    key, title, body = part
    return f'<section id="{key}" tabindex="-1" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{body}</section>'


def locked(  # noqa: PLR0913
    title: str,
    mood: str,
    body: str,
    data: dict[str, Any] | None = None,
    styles: Sequence[str] = ("uplot.min.css", "report.css"),
    scripts: Sequence[str] = ("uplot.min.js", "report.js"),
) -> str:
    """A page of ready HTML with our styles, and with our script where there is data for it; nothing else can act in it."""
    style, script = asset(*styles), asset(*scripts) if data is not None else ""
    allowed = f"'sha256-{_digest(script)}'" if script else "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'sha256-{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'; img-src 'none'; connect-src 'none'"
    )
    acting = (
        f'<script type="application/json" id="data">{_inert_json(data)}</script>\n<script>{script}</script>\n' if data is not None else ""
    )
    meta = (
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{meta}<title>{title}</title>\n<style>{style}</style>\n</head>\n'
        f'<body class="{mood}">\n<a class="skip" href="#main">Skip to the verdict</a>\n{body}\n'
        f"<footer><p>Written by rl-advisor {__version__}. This file is complete: it loads nothing and sends nothing.</p></footer>\n"
        f"{acting}</body>\n</html>\n"
    )


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _inert_json(data: dict[str, Any]) -> str:
    """JSON that no parser of HTML can leave: every angle bracket, ampersand and line separator is an escape."""
    plain_json = json.dumps(clean(data), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        plain_json = plain_json.replace(sign, f"\\u{ord(sign):04x}")
    return plain_json
