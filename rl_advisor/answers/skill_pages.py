"""``python -m rl_advisor.answers.skill_pages`` writes the skill's list of patterns from the detectors' own manual pages.

The knowledge about a pattern is written once, in its detector; a test keeps the page in step with them.
"""

import sys
from itertools import groupby
from pathlib import Path

from rl_advisor.detectors import HEADINGS, Detector, patterns
from rl_advisor.output import shipped

_HEAD = """# Patterns

Written by `python -m rl_advisor.answers.skill_pages` from the detectors; change a detector's page, not this one. Patterns stand in the
order of the loop. Each answer is `present`, `absent` (measured and not there), `unclear` or `not_logged`; the last two are no answer.
A pattern names what was seen; what it is worth in this run is yours to judge.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for link, group in groupby(patterns().values(), key=lambda d: d.link):
        parts.append(f"## {str(link.value).replace('_', ' ')}\n")
        parts += map(_entry, group)
    return "\n".join(parts)


def _entry(detector: Detector) -> str:
    """One pattern: what it is, then its manual page under the fixed headings."""
    needs = " and ".join(" or ".join(f"`{name}`" for name in need.split("|")) for need in detector.needs) or "nothing in particular"
    page = detector.page
    told = [f"- **{heading}**: {page[heading]}" for heading in HEADINGS if heading != "Source"]
    return "\n".join([f"### {detector.name}", f"{page['Title']} Needs {needs}.", "", *told, ""])


def path() -> Path:
    """Where the page stands."""
    return shipped.folder("skills") / shipped.SKILL / "references" / "patterns.md"


if __name__ == "__main__":
    path().write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{path().name}: {len(patterns())} patterns\n")
