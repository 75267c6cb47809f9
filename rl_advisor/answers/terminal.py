"""The judgement of a run on a terminal: sixteen lines, the action before line six; ``-v`` shows the rest."""

import os
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from rl_advisor.output import Answer
from rl_advisor.output.layout import page_width, said, spark
from rl_advisor.output.wording import WORDS, listed

COLOURS = {"good": "32", "even": "36", "bad": "31", "open": "33"}
FAINT, STRONG = "2", "1"
LABEL = 9
LINES, MANY, ALL = 4, 40, 16
"""Lines that one entry may take, that the action may take, and that the page has."""
GIVE_WAY = ("Slow", "Also", "At odds", "Beside", "", "Why", "Effect", "Kind")
"""What is left out of a page that would be longer, in this order; without a name the curves."""
WHOLE = "Do now"
"""The entry that is never cut."""
SHOWN = {"curves": 2, "not_logged": 3}


@dataclass(frozen=True)
class Look:
    """How wide the page is, and whether it may have colours."""

    width: int = 100
    colour: bool = False

    def painted(self, text: str, code: str) -> str:
        """The text in a colour, where there are any."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def look_of_terminal() -> Look:
    """The terminal's width; colours only on a terminal that was not asked to go without (https://no-color.org)."""
    plain_wanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Look(page_width(), bool(os.environ.get("FORCE_COLOR") or sys.stdout.isatty()) and not plain_wanted)


def answer_page(answer: Answer, look: Look, *, whole: bool = False) -> Iterable[str]:
    """The lines of the page; ``whole`` where everything that was looked at follows it."""
    story = answer["story"]
    head = [*_headline(answer, look), "", *_wrapped(f"  {story['call']}", look, "  ")]
    told = {label: _entry(label, text, look) for label, text in story["facts"].items()} | {"": _curves(story, look)}
    foot = [*_foot(answer, look, whole=whole)]
    for label in GIVE_WAY:
        if len(head) + sum(map(len, told.values())) + len(foot) > ALL:
            told.pop(label, None)
    return [*head, *(line for lines in told.values() for line in lines), *foot]


def _headline(answer: Answer, look: Look) -> list[str]:
    """What the run is on the left, the verdict on the right."""
    story = answer["story"]
    parts = [said(part) for part in (answer["run"], story["progress"], story["framework"]) if part]
    verdict, _, sure = story["verdict"].partition(" (")
    right = f"{verdict.upper()} ({sure}"
    if len("  ".join(parts)) + len(right) + 2 > look.width:
        parts = parts[:2]  # the framework is the first to give way
    left = "  ".join(parts)
    room = look.width - len(left) - len(right)
    painted = look.painted(right, f"{STRONG};{COLOURS[WORDS['verdict'][answer['verdict']]['mood']]}")
    return [f"{left}{' ' * room}{painted}"] if room > 1 else [left, painted]


def _entry(label: str, text: str, look: Look) -> list[str]:
    line = f"  {look.painted(label.ljust(LABEL), FAINT)}{said(text)}"
    return _wrapped(line, look, "  " + " " * LABEL, MANY if label == WHOLE else LINES)


def _wrapped(line: str, look: Look, indent: str, most: int = LINES) -> list[str]:
    """The line as at most ``most`` lines of the page; what is cut is marked."""
    painted = 8 if "\x1b[" in line else 0  # escapes take no room
    return textwrap.wrap(
        line,
        max(40, look.width) + painted,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" ...",
    )


def _curves(story: Answer, look: Look) -> list[str]:
    """A sparkline of the outcome, and of the cause's metric beside it where it fits."""
    drawn = [f"{said(q['label'])} {spark(list(q['blocks']))} {q['last_said']}" for q in story["curves"][: SHOWN["curves"]]]
    together = "  " + "   ".join(drawn)
    return [together if len(together) <= look.width else f"  {drawn[0]}"] if drawn else []


def _foot(answer: Answer, look: Look, *, whole: bool) -> Iterable[str]:
    """What was not checked, and where to read on."""
    story = answer["story"]
    lacking = [str(x) for x in story["not_logged"]]
    not_checked = f"Not checked: {listed(lacking, SHOWN['not_logged'])} (not logged)." if lacking else ""
    present = sum(f["outcome"] == "present" for f in answer["findings"])
    count = "Details" if present == 0 else f"{present} findings" if present > 1 else "1 finding"
    on = "" if whole else f"{count}: -v. Page: rl-advisor report RUN --out run.html"
    yield from (look.painted(row, FAINT) for text in (not_checked, on) if text for row in _wrapped(f"  {text}", look, "  "))
