"""The lines of a log that repeat: forms that are written again and again, and the numbers that stand in them.

A line is cut at its numbers. Lines between whose numbers the same texts stand are of one form; how the numbers are called is told once for
each form. Forms with the same names are a family, whose numbers are kept as one table.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rl_advisor.reading.parsing.bytes_in import plain_text
from rl_advisor.reading.parsing.line_forms import Family, Form, Places, taken_at_once
from rl_advisor.reading.parsing.log_lines import INTERESTING, Watch
from rl_advisor.reading.parsing.printed_numbers import NUMBER, spelled
from rl_advisor.reading.parsing.printed_tables import Header, cells_of, header_of, row_of
from rl_advisor.reading.parsing.slot_names import Slot, slots
from rl_advisor.run import Floats

LIMIT = 2_000_000
"""Lines with named numbers that are kept."""
ROOM = 75_000
"""Names, and texts of eight numbers, of all forms: about 15,000 forms; lines of further ones are no rows."""
LINE = 1 << 18
"""Characters of one line that are looked at."""
MOST = 20_000
"""Named numbers of a line."""
DIGITS = 15
"""Digits of a total."""
KEPT_APART = 100
"""Forms of a family that are told apart."""
COMMON, RARE = 8, 20
"""Forms whose lines are taken at once, and of how many lines of the block before one was such a line at least."""
MOST_STAMPS = 1_000
_BARS = re.compile(r"(?<=\])(?=[^\[\]|]{0,60}?\d+%\|)")
_INDEXED = re.compile(r"\[\(\d+, '([-+.\deE]+)'\)\]")
_BLOCK = re.compile(r"Result for (\S+):$")
"""Ray Tune's block, in which the count comes last; trials take turns."""
TITLE = 80
"""Characters of a heading."""
_GROUP = re.compile(r"\| *+([\w. -]++/) *+\| *+\|")
_RULE = re.compile(r"[-=_#*+|:─━│┃┏┓┗┛┡┩╇┳┻┬┴┼├┤┌┐└┘╞╡╪/ ~]*")


def _parts(line: str) -> Iterator[str]:
    """The line, or what stood in its place one after the other, where a progress bar was drawn again and again."""
    for part in line.split("\r") if "\r" in line[:-1] else (line.rstrip("\r"),):
        if part.count("%|", 0, LINE) > 1:
            yield from (piece[:LINE] for piece in _BARS.split(part))
        else:
            yield part[:LINE]


class Shapes:
    """What a log repeats, of each block of lines those of the commonest forms taken at once, the others one after the other."""

    def __init__(self, text: Iterable[list[str]], watch: Watch, headings: bool) -> None:
        """The families of the lines of a log; what is none goes to the watch, with its record as the step."""
        self.watch, self.headings = watch, headings
        self.families: dict[tuple[object, ...], Family] = {}
        self.labels: list[tuple[int, str]] = []
        """Names of runs by the record that they begin at."""
        self.cut = ""
        """What to say where there is more than is kept."""
        self.record, self.kept, self.room = 0, 0, ROOM
        self.known: dict[tuple[object, ...], Form | None] = {}
        self.widths: dict[tuple[str, ...], int] = {}
        """How many numbers lines have that have these names, those beside a named one among them."""
        self.seen = Counter[Form]()
        """How many lines of the block were of each form."""
        self.rows: dict[Form, list[tuple[int, Sequence[float], str]]] = {}
        """Records, numbers and times of the lines of the block that are taken one after the other."""
        self.group = ""
        """What stands before the names of a box, as ``train/``."""
        self.together: set[str] = set()
        """The names of the record that is being put together line by line."""
        self.block = False
        self.header: Header | None = None
        self.header_at = 0
        for block in text:
            self._block(block)
            if self.kept >= LIMIT:
                self.cut = f"more than {LIMIT:,} lines with numbers; only the first of them were read"
                break

    def _block(self, block: list[str]) -> None:
        """Take in a block of lines."""
        common = [form for form, often in self.seen.most_common(COMMON) if RARE * often > len(block) and form.regular]
        alike = [(form, *found) for form in common if (found := taken_at_once(form, block))[0].size]
        self.seen.clear()
        odd, makes, begun, behind = np.ones(len(block), bool), np.ones(len(block), np.int64), self.record, 0
        for _, at, *_ in alike:
            odd[at] = False
        for i in [*np.flatnonzero(odd).tolist(), len(block)]:
            if i > behind:
                self.together.clear()
                self.record += i - behind
                self.watch.line += i - behind
            behind, before = i + 1, self.record
            for line in block[i:behind]:
                self.watch.line += 1
                for part in _parts(line):
                    self._line(part)
                makes[i] = self.record - before
        record = begun + makes.cumsum()
        for form, at, number, times in alike:
            self._keep(form, record[at], number, times)
        for form, rows in self.rows.items():
            self._keep(form, np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), [row[2] for row in rows])
        self.rows.clear()

    def _line(self, raw: str) -> None:
        """Take in one line."""
        line = spelled(plain_text(raw))
        if self.watch.inside:
            self.watch.look(raw, self.record)
            return
        parts = NUMBER.split(_INDEXED.sub(r"\1", line) if "[(" in line else line)
        if self.header is not None and (row := row_of(line, self.header)):
            self.record += 1
            self.rows.setdefault(self._row(row[0], self.header.names), []).append((self.record, row[1], ""))
            return
        if len(parts) < 3:
            self._words(line, raw)
            return
        key = (self.group, *parts[::2])
        form = self.known[key] if key in self.known else self._learn(key, parts)
        if form is None:
            self.together.clear()
            self.watch.look(raw, self.record)
            return
        self._take(form, parts[1::2])
        if form.told:
            self.watch.look(raw, self.record)

    def _learn(self, key: tuple[object, ...], parts: Sequence[str]) -> "Form | None":
        """The form of lines with these texts, None for one without named numbers; times are no numbers."""
        if self.room < 0:
            why = f"from line {self.watch.line:,} on only lines of the forms met before were read: there are too many"
            self.cut = self.cut or why
            return None
        texts, tokens = parts[::2], parts[1::2]
        found = tuple(
            slot for slot in slots(texts) if ":" not in tokens[slot.at] and "-" not in tokens[slot.at][1:].lower().replace("e-", "")
        )
        firm = tuple(slot for slot in found if not slot.beside)
        if self.widths.setdefault((self.group, *(slot.name for slot in firm)), len(found)) != len(found):
            found = firm  # lists of other lengths are no columns
        self.room -= 2 + len(found) + len(texts) // 8
        self.known[key] = self._form(found[:MOST], parts) if found else None
        return self.known[key]

    def _form(self, found: tuple[Slot, ...], parts: Sequence[str]) -> Form:
        texts = parts[::2]
        alone = len(found) == 1 and len(texts) == 2 and texts[0].strip(" |│┃:=\t•-") == found[0].name and len(texts[1].strip(" |│┃")) < 6
        if alone and texts[0].startswith("|  "):
            found = (replace(found[0], name=self.group + found[0].name),)
        family = self._family(found)
        text = " ".join("\0".join(texts).split())
        if text in family.texts:
            index = family.texts.index(text)
        else:
            index = min(len(family.texts), KEPT_APART)
            family.texts += [text] if len(family.texts) < KEPT_APART else []
            family.forms += 1
        return Form(family, found, index, texts, alone, INTERESTING.search("".join(parts)) is not None, parts[1::2])

    def _family(self, found: Sequence[Slot], header: tuple[str, ...] = ()) -> Family:
        key = (*((slot.name, slot.counts) for slot in found), header)
        return self.families.setdefault(key, Family(found, header=header))

    def _row(self, names: tuple[str, ...], header: tuple[str, ...]) -> Form:
        """The form of the rows of a table in which these columns hold numbers."""
        key = names, header
        if (form := self.known.get(key)) is None:
            found = [Slot(at, name) for at, name in enumerate(names)]
            form = self.known[key] = Form(self._family(found, header), found, 0)
        return form

    def _take(self, form: Form, tokens: Sequence[str]) -> None:
        """Take in the numbers of a line; lines of one name each make one record until a name comes back."""
        name = form.slots[0].name
        if not form.alone or name in self.together:
            self.together.clear()
        if not self.block and not (form.alone and self.together):
            self.record += 1
        if form.alone:
            self.together.add(name)
        try:
            numbers = [float(tokens[at].replace(",", "")) for at in form.places]
        except ValueError:  # a clock where other lines have a number
            return
        self.rows.setdefault(form, []).append((self.record, numbers, tokens[0]))

    def _keep(self, form: Form, record: Places, number: Floats, times: Sequence[str]) -> None:
        """The numbers of lines of one form go to its family, with the totals of its counts, and the times at which a count goes back."""
        family, width, number = form.family, len(form.slots), number * form.times
        totals = iter(number[:, width:].T)
        for slot, count in zip(form.slots, number.T, strict=False):
            total = next(totals) if slot.total >= 0 else np.zeros(1)
            if slot.counts:
                family.totals[slot.name] = max(
                    family.totals.get(slot.name, 0.0), total.max(where=np.isfinite(total) & (np.trunc(total) == total), initial=0.0)
                )
                for back in np.flatnonzero(np.r_[True, count[1:] < count[:-1]])[: MOST_STAMPS - len(family.stamps)].tolist():
                    family.stamps[int(record[back])] = time if slot.at and ":" in (time := str(times[back])) else ""
        family.pieces.append((record, np.full(record.size, form.index), number[:, :width]))
        self.seen[form] += record.size
        self.kept += record.size

    def _words(self, line: str, raw: str) -> None:
        """A line without a number: it may open a block, a box's group or a table, or tell of an error."""
        bare = line.strip()
        if group := _GROUP.fullmatch(bare):
            self.group = group[1]
            return
        if block := _BLOCK.match(line):
            self.record, self.block = self.record + 1, True
            self.labels.append((self.record, block[1]))
        elif self.headings and bare.lstrip("#").startswith(" ") and bare.startswith("#"):
            self.labels.append((self.record + 1, bare.strip("#* ")[:TITLE]))
        if not _RULE.fullmatch(bare):
            cells = cells_of(line)
            if not (self.header and self.header_at == self.record and len(cells[0]) == len(self.header.names)):  # else a row of units
                self.header, self.header_at = header_of(line), self.record
            self.watch.look(raw, self.record)
        if not bare or _RULE.fullmatch(bare):
            self.group = ""
        self.together.clear()
