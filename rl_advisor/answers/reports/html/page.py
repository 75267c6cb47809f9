"""A whole page in one file: styles, script and data, locked by a policy that lets only our own script and styles act."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rl_advisor import __version__
from rl_advisor.answers.document.blocks import Section
from rl_advisor.answers.reports.html.parts import beside
from rl_advisor.output import Answer
from rl_advisor.output.clean import clean, readable

_ASSETS = Path(__file__).parent / "assets"
_LONGEST = 10_000_000


@cache
def asset(*names: str) -> str:
    """Files of the page joined, exactly as they will stand in it."""
    return readable("\n".join((_ASSETS / n).read_text(encoding="utf-8").strip() for n in names), _LONGEST)


def section(part: Section) -> str:
    """A part of the page under its heading."""
    return titled(part.key, part.title, beside(part.blocks))


def titled(key: str, title: str, body: str) -> str:
    """A section of ready HTML."""
    return f'<section id="{key}" tabindex="-1" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>{body}</section>'


def locked(  # noqa: PLR0913
    title: str,
    mood: str,
    body: str,
    data: Answer | None = None,
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


def _inert_json(data: Answer) -> str:
    """JSON that no parser of HTML can leave: every angle bracket, ampersand and line separator is an escape."""
    plain_json = json.dumps(clean(data), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        plain_json = plain_json.replace(sign, f"\\u{ord(sign):04x}")
    return plain_json
