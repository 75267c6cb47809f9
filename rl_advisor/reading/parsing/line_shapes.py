"""The lines of a log that repeat: forms that are written again and again, and the numbers that stand in them.

A line is cut at its numbers. Lines between whose numbers the same texts stand are of one form; how the numbers are called is told once for
each form. Forms with the same names are a family, whose numbers are kept as one table.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rl_advisor.reading.parsing.bytes_in import plain_text
from rl_advisor.reading.parsing.log_lines import INTERESTING, Watch
from rl_advisor.reading.parsing.printed_tables import Header, cells_of, header_of, row_of
from rl_advisor.reading.parsing.slot_names import Slot, slots

_POWER, _PARTS_OF = r"(?:[eE][-+]?\d+)?", r"(?:\.\d+|\.(?=[\]),]))?"
_THOUSANDS = r"(?:,\d{3})+(?!\d|,\d)"
NUMBER = re.compile(
    r"([-+.\dnNiI](?<![\w.@][-+.\dnNiI])(?:"  # the first character first, so that the rest is tried at few places
    r"(?<=\d)(?:\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)?|\d{0,3}(?::\d\d)+(?:[.,]\d+)?"
    rf"|(?<!0)\d{{0,2}}{_THOUSANDS}{_POWER}|\d*{_PARTS_OF}{_POWER})"
    rf"|(?<=[-+])(?:\d{{1,3}}{_THOUSANDS}{_POWER}|\d+{_PARTS_OF}{_POWER}|\.\d+{_POWER}|(?:nan|NaN|NAN|inf|Inf|INF|Infinity)(?![\w-]))"
    rf"|(?<=\.)\d+{_POWER}|(?<=[nN])(?:an|aN|AN)(?![\w-])|(?<=[iI])(?:nf|NF|nfinity)(?![\w-])))"
)
"""A number, or a date or clock, as one group."""
LIMIT = 2_000_000
"""Lines with named numbers that are kept."""
LINE = 1 << 18
"""Characters of one line that are looked at."""
FORMS = 40_000
"""Forms that are remembered; the texts of more are looked at anew each time."""
MOST = 20_000
"""Named numbers of a line."""
DIGITS = 15
"""Digits of a total."""
KEPT_APART = 100
"""Forms of a family that are told apart."""
_BARS = re.compile(r"(?<=\])(?=[^\[\]|]{0,60}?\d+%\|)")
_INDEXED = re.compile(r"\[\(\d+, '([-+.\deE]+)'\)\]")
_BLOCK = re.compile(r"Result for (\S+):$")
"""Ray Tune's block, in which the count comes last; trials take turns."""
TITLE = 80
"""Characters of a heading."""
_GROUP = re.compile(r"\| *+([\w. -]++/) *+\| *+\|")
_RULE = re.compile(r"[-=_#*+|:─━│┃┏┓┗┛┡┩╇┳┻┬┴┼├┤┌┐└┘╞╡╪/ ~]*")


@dataclass
class Family:
    """Lines with the same names: the record that each belongs to, its form, and its numbers one after the other."""

    names: tuple[str, ...]
    counts: tuple[bool, ...]
    loose: tuple[bool, ...] = ()
    """Which of the names are none unless the lines come back alike."""
    record: "array[int]" = field(default_factory=lambda: array("q"))
    number: "array[float]" = field(default_factory=lambda: array("d"))
    form: "array[int]" = field(default_factory=lambda: array("B"))
    texts: list[str] = field(default_factory=list)
    """The texts of its first forms."""
    header: tuple[str, ...] = ()
    """The header of the table that its lines are rows of."""
    totals: dict[str, float] = field(default_factory=dict)
    stamps: dict[int, str] = field(default_factory=dict)
    """Record at which a count went back, and the time that the line begins with."""
    forms: int = 0
    """In how many forms it was written."""


@dataclass(frozen=True)
class _Form:
    """What is taken from the lines of one form."""

    family: Family
    slots: tuple[Slot, ...]
    index: int
    alone: bool
    """Whether a line says nothing but one name and its number."""
    told: bool
    """Whether it may also tell of an error."""
    counting: bool
    """Whether one of its numbers counts."""


@dataclass
class Shapes:
    """What a log repeats: families of lines, names of runs by the record they begin at, and whether there was more than is kept."""

    families: dict[tuple[object, ...], Family] = field(default_factory=dict)
    labels: list[tuple[int, str]] = field(default_factory=list)
    cut: bool = False
    records: int = 0


def shapes_of(text: Iterable[str], watch: Watch, *, headings: bool = False) -> Shapes:
    """The families of the lines of a log; what is none goes to the watch, with its record as the step."""
    reader = _Reader(watch, headings)
    for line in text:
        if "%|" in line or "\r" in line[:-1]:
            for part in _parts(line):
                reader.take(part)
        else:
            reader.take(line[:LINE].rstrip("\r"))
        if reader.kept >= LIMIT:
            reader.shapes.cut = True
            break
    reader.shapes.records = reader.record
    return reader.shapes


def _parts(line: str) -> Iterator[str]:
    """The line, or what stood in its place one after the other, where a progress bar was drawn again and again."""
    for part in line.split("\r") if "\r" in line else (line,):
        if part.count("%|", 0, LINE) > 1:
            yield from (piece[:LINE] for piece in _BARS.split(part))
        else:
            yield part[:LINE]


class _Reader:
    """Takes in lines one after the other."""

    def __init__(self, watch: Watch, headings: bool) -> None:
        self.shapes, self.watch, self.headings = Shapes(), watch, headings
        self.record = self.kept = 0
        self.known: dict[str, _Form | None] = {}
        self.group = ""
        """What stands before the names of a box, as ``train/``."""
        self.together: set[str] = set()
        """The names of the record that is being put together line by line."""
        self.block = False
        self.header: Header | None = None

    def take(self, raw: str) -> None:
        """Take in one line."""
        line = plain_text(raw)
        if self.watch.inside:
            self.watch.look(raw, self.record)
            return
        parts = NUMBER.split(_INDEXED.sub(r"\1", line) if "[(" in line else line)
        if self.header is not None and (row := row_of(line, self.header)):
            self._row(row, self.header.names)
            return
        if len(parts) < 3:
            self._words(line, raw)
            return
        key = self.group + "\0".join(parts[::2])
        form = self.known[key] if key in self.known else self._learn(key, parts)
        if form is None:
            self.together.clear()
            self.watch.look(raw, self.record)
            return
        self._keep(form, parts[1::2])
        if form.told:
            self.watch.look(raw, self.record)

    def _learn(self, key: str, parts: Sequence[str]) -> "_Form | None":
        """The form of lines with these texts, None for one without named numbers; times are no numbers."""
        texts, tokens = parts[::2], parts[1::2]
        found = tuple(
            slot for slot in slots(texts) if ":" not in tokens[slot.at] and "-" not in tokens[slot.at][1:].lower().replace("e-", "")
        )
        form = self._form(found[:MOST], texts) if found else None
        if len(self.known) >= FORMS:
            self.known.clear()
        self.known[key] = form
        return form

    def _form(self, found: tuple[Slot, ...], texts: Sequence[str]) -> _Form:
        alone = len(found) == 1 and len(texts) == 2 and texts[0].strip(" |│┃:=\t•-") == found[0].name and len(texts[1].strip(" |│┃")) < 6
        names = tuple(self.group + slot.name if alone and self.group and texts[0].startswith("|  ") else slot.name for slot in found)
        family = self._family(names, tuple(slot.counts for slot in found), tuple(slot.loose for slot in found))
        text = " ".join("\0".join(texts).split())
        if text in family.texts:
            index = family.texts.index(text)
        else:
            index = min(len(family.texts), KEPT_APART)
            family.texts += [text] if len(family.texts) < KEPT_APART else []
            family.forms += 1
        return _Form(family, found, index, alone, INTERESTING.search(text) is not None, any(slot.counts for slot in found))

    def _family(self, names: tuple[str, ...], counts: tuple[bool, ...], loose: tuple[bool, ...], header: tuple[str, ...] = ()) -> Family:
        key = (names, counts, header)
        if key not in self.shapes.families:
            self.shapes.families[key] = Family(names, counts, loose, header=header)
        return self.shapes.families[key]

    def _keep(self, form: _Form, tokens: Sequence[str]) -> None:
        """The numbers of a line go to its family; lines of one name each make one record until a name comes back."""
        family, name = form.family, form.family.names[0]
        if not form.alone or name in self.together:
            self.together.clear()
        if not self.block and not (form.alone and self.together):
            self.record += 1
        if form.alone:
            self.together.add(name)
        try:
            numbers = [_number(tokens[slot.at]) for slot in form.slots]
        except ValueError:  # a clock where other lines have a number
            return
        if form.counting:
            self._marked(form, numbers, tokens)
        family.record.append(self.record)
        family.number.extend(numbers)
        family.form.append(form.index)
        self.kept += 1

    def _marked(self, form: _Form, numbers: Sequence[float], tokens: Sequence[str]) -> None:
        """Totals of counts, and the time at which a count goes back."""
        family, width = form.family, len(form.slots)
        for i, slot in enumerate(form.slots):
            if slot.total >= 0 and slot.counts:
                family.totals[slot.name] = max(family.totals.get(slot.name, 0.0), _whole(tokens[slot.total]))
            if slot.counts and (not family.record or numbers[i] < family.number[i - width]) and len(family.stamps) < 1_000:
                family.stamps[self.record] = tokens[0] if ":" in tokens[0] and slot.at else ""

    def _row(self, row: tuple[tuple[str, ...], list[float]], header: tuple[str, ...]) -> None:
        """A row of a table is a record of its own."""
        names, numbers = row
        family = self._family(names, (False,) * len(names), (), header)
        self.record += 1
        family.record.append(self.record)
        family.number.extend(numbers)
        family.form.append(0)
        self.kept += 1

    def _words(self, line: str, raw: str) -> None:
        """A line without a number: it may open a block, a box's group or a table, or tell of an error."""
        bare = line.strip()
        if group := _GROUP.fullmatch(bare):
            self.group = group[1]
            return
        if block := _BLOCK.match(line):
            self.record, self.block = self.record + 1, True
            self.shapes.labels.append((self.record, block[1]))
        elif self.headings and bare.lstrip("#").startswith(" ") and bare.startswith("#"):
            self.shapes.labels.append((self.record + 1, bare.strip("#* ")[:TITLE]))
        if not _RULE.fullmatch(bare):
            self.header = header_of(cells_of(line)) if "|" in line or "│" in line or "┃" in line or "  " in line or "\t" in line else None
            self.watch.look(raw, self.record)
        if not bare or _RULE.fullmatch(bare):
            self.group = ""
        self.together.clear()


def _number(token: str) -> float:
    return float(token.replace(",", "") if "," in token else token)


def _whole(token: str) -> float:
    """A total; 0 for what is none."""
    return float(token) if token.isdecimal() and len(token) <= DIGITS else 0.0
