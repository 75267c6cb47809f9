"""Text on its way into HTML: made readable, then escaped, so that nothing of a run's own words can act."""

import re
from html import escape
from typing import Any

from rl_advisor.output import wording
from rl_advisor.output.clean import readable


def text(value: Any, longest: int = 4000) -> str:
    """Any text as inert HTML: no escapes, invisible characters, keys or markup."""
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", escape(readable(str(value), longest), quote=True))


def prose(value: Any, longest: int = 4000) -> str:
    """A sentence as inert HTML, with what it spells in backticks as code, and no line broken inside a number."""
    whole = re.sub(r"(?<![\w.-])(-?\d[\d.]{0,9}e-\d+)", r'<span class="whole">\1</span>', text(value, longest))
    return re.sub(r"`([^`\n]{1,80})`", r"<code>\1</code>", whole)


def plain(name: str) -> str:
    """A pattern or link in words, as inert HTML."""
    return text(wording.plain(name))
