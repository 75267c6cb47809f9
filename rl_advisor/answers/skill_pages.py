"""``python -m rl_advisor.answers.skill_pages`` writes the skill's list of patterns from the detectors' own manual pages.

The knowledge about a pattern is written once, in its detector; a test keeps the page in step with them.
"""

import inspect
import re
import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType

from rl_advisor.judgement.diagnosis import detectors, pattern_of
from rl_advisor.output import shipped

HEADINGS = ("Looks for", "Means", "Not to be confused with", "Next test", "Source")
_HEAD = """# Patterns

Written by `python -m rl_advisor.answers.skill_pages` from the detectors; change a detector's page, not this one. Patterns stand in the
order of the loop. Each answer is `present`, `absent` (measured and not there), `unclear` or `not_logged`; the last two are no answer.
A pattern names what was seen; what it is worth in this run is yours to judge.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for link, group in groupby(detectors(), key=lambda m: m.LINK):
        parts.append(f"## {str(link.value).replace('_', ' ')}\n")
        parts += [_entry(module) for module in group]
    return "\n".join(parts)


def _entry(module: ModuleType) -> str:
    """One pattern: what it is, then its manual page under the fixed headings."""
    summary, sections = manual(module)
    lines = [f"### {pattern_of(module)}", f"{summary} Needs {_needs(module)}.", ""]
    lines += [f"- **{heading}**: {text}" for heading, text in sections.items() if heading != "Source"]
    return "\n".join([*lines, ""])


def _needs(module: ModuleType) -> str:
    return " and ".join(" or ".join(f"`{name}`" for name in need.split("|")) for need in module.NEEDS) or "nothing in particular"


def manual(module: ModuleType) -> tuple[str, dict[str, str]]:
    """The first sentence of a detector's manual page, and its sections by heading, each on one line."""
    text = inspect.cleandoc(module.__doc__ or "")
    pieces = re.split(rf"^({'|'.join(HEADINGS)}):", text, flags=re.MULTILINE)
    sections = dict(zip(pieces[1::2], (" ".join(p.split()) for p in pieces[2::2]), strict=True))
    return " ".join(pieces[0].split()), sections


def path() -> Path:
    """Where the page stands."""
    return shipped.folder("skills") / shipped.SKILL / "references" / "patterns.md"


if __name__ == "__main__":
    path().write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{path().name}: {len(detectors())} patterns\n")
