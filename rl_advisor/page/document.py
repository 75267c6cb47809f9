"""The whole page in one file: sections, styles, script and data, locked by a policy that lets only our own script and styles act."""

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from rl_advisor.assessment import Assessment
from rl_advisor.doors.output import clean, readable
from rl_advisor.page import sections
from rl_advisor.page.curves import drawn, payload
from rl_advisor.page.findings import anchors, cards
from rl_advisor.page.gpu import gpu
from rl_advisor.page.samples import samples
from rl_advisor.page.timeline import timeline
from rl_advisor.page.words import plain, text
from rl_advisor.run import Run

_ASSETS = Path(__file__).parent / "assets"
_LONGEST = 10_000_000
SHORT = {"next": "Next", "read": "Read", "deliverables": "Checklist"}
"""Titles that are shorter in the contents."""


@cache
def asset(*names: str) -> str:
    """Files of the page joined, exactly as they will stand in it."""
    return readable("\n".join((_ASSETS / n).read_text(encoding="utf-8").strip() for n in names), _LONGEST)


def document(run: Run, a: Assessment) -> str:
    """The page as HTML text."""
    curves = drawn(run, a)
    said, phases = samples(run), gpu(run)
    parts = [
        ("first", "What broke first", timeline(run, a, anchors(a))),
        ("curves", "Curves", sections.charts(curves, run)),
        ("findings", "Findings", cards(a, "present", curves, samples=bool(said), gpu=bool(phases))),
        ("unclear", "Unclear", cards(a, "unclear", curves, samples=bool(said), gpu=bool(phases))),
        ("samples", "Samples", said),
        ("gpu", "GPU time", phases),
        ("ruled-out", "Ruled out", sections.lines(a.ruled_out)),
        ("could-not-see", "Could not see", sections.lines(a.could_not_see)),
        ("next", "Next experiment", sections.experiment(a)),
        ("read", "What was read", sections.read(run)),
        ("deliverables", "After training: there or not", sections.checklist(run, a)),
    ]
    held = [(key, title, body) for key, title, body in parts if body]
    nav = "".join(f'<li><a href="#{key}">{SHORT.get(key, title)}</a></li>' for key, title, _ in held)
    main = "".join(
        f'<section id="{key}" tabindex="-1" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{body}</section>'
        for key, title, body in held
    )
    title = f"{text(a.run or 'run', 100)}: {plain(a.verdict)}, {text(a.call)}"
    body = f'<nav aria-label="Contents"><ul>{nav}</ul></nav><main id="main">{sections.verdict(a)}{main}</main>'
    return locked(title, sections.mood(a), body, payload(run, a, curves))


def locked(title: str, mood: str, body: str, data: dict[str, Any] | None = None) -> str:
    """A page of ready HTML with our styles, and with our script where there is data for it; nothing else can act in it."""
    style, script = asset("uplot.min.css", "report.css"), asset("uplot.min.js", "report.js") if data is not None else ""
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
        "<footer><p>Written by rl-advisor. This file is complete: it loads nothing and sends nothing.</p></footer>\n"
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
