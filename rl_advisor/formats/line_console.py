"""Logs with lines of named numbers and a count: ``Episode 10/500, Reward: 12.5``, ``global_step=512, episodic_return=[23.]``, ..."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd

from rl_advisor.intake.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.intake.log_lines import Watch
from rl_advisor.intake.metric_table import part_of, step_columns
from rl_advisor.intake.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "line_console"
CONSOLE = True
GENERAL = True
"""Asked only when no other format claims a file."""
_SUFFIXES = (".log", ".txt", ".out", ".err", "stdout", "stderr", "output", "console")
_HEAD = 1 << 19
_LOOKED_AT = 1 << 16
"""Bytes behind the first count that are looked at to tell whether it is such a log."""
_SOME_COUNT = re.compile(
    rb"(?i)(?:ep|eps|episodes?|steps?|timesteps?|iter\w*|itr|epochs?|updates?|frames?|t_env)[ :=#\[]{1,16}\d|^Result for ", re.MULTILINE
)
LIMIT = 1_000_000
"""Rows that are read."""
LINE = 2_000
"""Characters of one line that are looked at."""
FEWEST = 3
"""Rows in which a name must come back."""
_FAR = 40
"""Lines behind the one with a count that still belong to it."""
_NUM = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf"
_NAME = r"[A-Za-z][\w./%-]*(?: [A-Za-z(][\w./%()-]*){0,3}"
_PAIR = re.compile(rf"({_NAME})(?: ?[:=] ?| is )({_NUM})(?![\w:-])(?!\.\d)")
_BARE = re.compile(rf"({_NAME}) ({_NUM})(?: ?[A-Za-z%/]+)?")
_COUNT = re.compile(r"([A-Za-z][\w ]*?)( ?[:=] ?| ?#? ?)(\d+)(?: ?(?:/|of) ?(\d+))?\.?")
_CLEANING = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]?|\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b"), " | "),
    (re.compile(r"(?:(?<=[\s:])|^)/\S+"), " | "),
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),
    (re.compile(r"([:=]) +"), r"\1 "),
    (re.compile(r"([:=] ?)\[ ?(?:\(\d+, ')?([-+.\deE]+)(?:'\))? ?\]"), r"\1\2"),
    (re.compile(rf"(\w+)/(\w+) (\w+) ({_NUM})/({_NUM})"), r"\1 \3: \4, \2 \3: \5"),
    (re.compile(rf"(?:±|\+/-) ?(?:{_NUM})"), ""),
)
_BREAK = re.compile(r"[|,;\t\[\](){}•✨📊]+|\. (?=[A-Z])| - | {2,}|(?<=\d)\.$|={3,}|-{3,}|\*{3,}|#{3,}|>>>")
_NO_NAMES = {"sec", "min", "max", "avg", "mean", "std", "s", "it"}
_BLOCK = re.compile(r"Result for (\S+):$")
"""Ray Tune's block, in which the count comes last; trials take turns."""
_WHO = re.compile(r"([\w-]+)[.:] Step: \d+\. (?:Time Elapsed|No episode)")
_OUTCOME = re.compile(r"\b(?:rewards?|returns?|rew|ret|episodic|avgr|r)\b")
_SCORE = re.compile(r"\bscores?\b")
_LEARNER = re.compile(
    r"\b(?:(?<!cross )entropy|mismatch kl|(?:policy|value|actor|critic|q|pg|vf) loss|clipfrac|epsilon|explained variance|td error)\b"
)
_OF_EPISODES = re.compile(r"\b(?:ep|episodes?|timesteps?|frames?|iter\w*|updates?|env)\b")
"""Counts beside which a score is one of episodes."""
Row = dict[str, float | str]


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has rows with a count that goes up and an outcome of episodes or a learner's own numbers.

    Looked for behind the first count in its first half megabyte.
    """
    if not bare_name(path).endswith(_SUFFIXES):
        return False
    start = head(path, _HEAD)
    first = _SOME_COUNT.search(start)
    if b"\x00" in start or first is None:
        return False
    start = start[max(0, first.start() - LINE) :][:_LOOKED_AT]
    rows = list(_rows(start.decode("utf-8", "replace").splitlines(), Watch(path.name), Counter()))
    seen = Counter(name for row in rows for name in row)
    often = [_words(name) for name, count in seen.items() if count >= max(FEWEST, 0.2 * len(rows)) and not step_columns([name])]
    learner = sum(_LEARNER.search(name) is not None for name in often)
    of_episodes = any(_OF_EPISODES.search(_words(name)) for name in step_columns(list(seen)))
    outcome = any(_OUTCOME.search(name) or (of_episodes and _SCORE.search(name)) for name in often)
    return (outcome or (learner >= 1 and len(often) > FEWEST)) and any(_goes_up(rows, name) for name in step_columns(list(seen)))


def read(path: Path, ask: Request = WHOLE) -> Run:
    """One row for each count; names that came up fewer than three times are left out."""
    watch, totals = Watch(path.name), Counter[str]()
    rows = [row for _, row in zip(range(LIMIT), _rows(lines(path), watch, totals), strict=False)]
    seen = Counter(name for row in rows for name in row)
    table = pd.DataFrame(rows, columns=[name for name, count in seen.items() if count >= FEWEST])
    part = part_of(table, path.name, run=ask.run)
    unknown = set(table.columns) - part.curves.keys()
    planned = next((totals[name] for name in step_columns(list(table.columns)) if name in unknown and totals[name]), None)
    return replace(part, events=watch.finish(part.last_step), formats=(FORMAT,), planned_steps=planned)


def _rows(text: Iterable[str], watch: Watch, totals: Counter[str]) -> Iterator[Row]:
    """The numbers that belong to each count: those on its line, and those of the lines up to the next, or since the last."""
    blocks = _Blocks()
    for raw in text:
        for line in raw[:LINE].split("\r"):
            if block := _BLOCK.match(line):
                yield from blocks.opened({"run": block[1]})
            elif values := _values(line, totals):
                yield from blocks.taken(values, counts=bool(step_columns(list(values))))
            elif line:
                watch.look(line, None)
                blocks.far += 1
    yield from blocks.closed()


class _Blocks:
    """Puts the lines of a log together to rows."""

    def __init__(self) -> None:
        self.row: Row = {}
        self.ahead: Row = {}
        """Numbers that no count stands before."""
        self.count_is_last = self.by_head = False
        self.far = 0

    def opened(self, row: Row) -> Iterator[Row]:
        """A line that only opens a block: all up to the next such line is one row."""
        yield from self.closed()
        self.row, self.by_head = row, True

    def taken(self, values: Row, *, counts: bool) -> Iterator[Row]:
        """Take in the numbers of a line; ``counts`` when a count is among them."""
        if self.by_head:
            self.row |= values
        elif counts and self.count_is_last:
            yield self.ahead | values
            self.ahead = {}
        elif counts:
            if any(name in self.row for name in values):
                yield self.row
                self.row = {}
            self.row |= values
            self.far = 0
        elif self.count_is_last or not self.row:
            self.ahead |= values
        elif self.ahead.keys() & values.keys():  # they came before the first count, too: the count closes a block
            yield self.ahead | self.row
            self.row, self.ahead, self.count_is_last = {}, values, True
        elif self.far <= _FAR:
            self.row |= values
            self.far += 1

    def closed(self) -> Iterator[Row]:
        """The last row."""
        if self.row:
            yield self.row


def _values(line: str, totals: Counter[str]) -> Row:
    """The named numbers of a line; empty for a line of words."""
    if not any(c.isdigit() for c in line):
        return {}
    text = plain_text(line)
    who = _WHO.search(text)
    for pattern, by in _CLEANING:
        text = pattern.sub(by, text)
    pieces = [piece.strip(" .:*#=>-") for piece in _BREAK.split(text)]
    found: Row = {}
    for piece in pieces:
        count = _COUNT.fullmatch(piece)
        if count and (name := _counter(count[1], alone=bool(count[2].strip(" #")))):
            found[name] = float(count[3])
            totals[name] = max(totals[name], int(count[4] or 0))
            continue
        pairs = _PAIR.findall(piece)
        bare = _BARE.fullmatch(piece) if not pairs and line.count("|") > 1 else None
        named = pairs or ([bare.groups()] if bare else [])
        found |= {name.strip(): float(number) for name, number in named if name.lower() not in _NO_NAMES}
    if found and who:
        found["run"] = who[1]
    return found


def _counter(text: str, *, alone: bool) -> str:
    """The name of a count that some words are, or, unless it must stand alone, that they end in; empty when there is none."""
    words = text.split()
    tails = (" ".join(words[-size:]) for size in range(len(words), len(words) - 1 if alone else 0, -1))
    return next((tail for tail in tails if step_columns([tail])), "")


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()).strip()


def _goes_up(rows: list[Row], name: str) -> bool:
    """Whether the numbers of that name are those of a count."""
    steps = [float(row[name]) for row in rows if name in row]
    back = sum(b < a for a, b in pairwise(steps))
    return len(set(steps)) >= FEWEST and steps[-1] > steps[0] and back <= max(2, len(steps) // 50)
