"""The judgement of a run on a terminal: twenty lines, the action before line six; ``-v`` shows the rest."""

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
LINES, MANY, ENTRIES = 3, 40, 11
"""Lines that one entry may take, that the action may take, and that all entries take together."""
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
    yield _headline(answer, look)
    yield ""
    yield from _wrapped(f"  {story['call']}", look, "  ")
    yield from _entries(story, look)
    yield from _curves(story, look)
    yield from _foot(answer, look, whole=whole)


def _headline(answer: Answer, look: Look) -> str:
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
    return f"{left}{' ' * room}{painted}" if room > 1 else f"{left}\n{painted}"


def _entries(story: Answer, look: Look) -> Iterable[str]:
    """Label and text of what the story tells: the action whole, of the rest the first that fit, whole before many."""
    told = [(label, _entry(label, text, look)) for label, text in story["facts"].items()]
    left = ENTRIES
    for label, lines in told:
        if label == WHOLE or len(lines) <= left:
            left -= len(lines)
            yield from lines


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


def _curves(story: Answer, look: Look) -> Iterable[str]:
    """A sparkline of the outcome and of the cause's metric, side by side where they fit."""
    drawn = [f"{said(q['label'])} {spark(list(q['blocks']))} {q['last_said']}" for q in story["curves"][: SHOWN["curves"]]]
    together = "  " + "   ".join(drawn)
    if drawn:
        yield from ([together] if len(together) <= look.width else [f"  {row}" for row in drawn])


def _foot(answer: Answer, look: Look, *, whole: bool) -> Iterable[str]:
    """What was not checked, and where to read on."""
    story = answer["story"]
    lacking = [str(x) for x in story["not_logged"]]
    not_checked = f"Not checked: {listed(lacking, SHOWN['not_logged'])} (not logged)." if lacking else ""
    present = sum(f["outcome"] == "present" for f in answer["findings"])
    count = "Details" if present == 0 else f"{present} findings" if present > 1 else "1 finding"
    on = "" if whole else f"{count}: -v. Page: rl-advisor report RUN --out run.html"
    yield from (look.painted(row, FAINT) for text in (not_checked, on) if text for row in _wrapped(f"  {text}", look, "  "))
