"""What lines of one form have in common: the texts between their numbers, the names of these, and the family they are of.

The lines of a block that are of one form are found, and their numbers taken, in one pass of a library.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.learner_words import speaks
from rl_advisor.reading.parsing.metric_table import step_columns
from rl_advisor.reading.parsing.printed_numbers import times_of
from rl_advisor.reading.parsing.slot_names import TOTAL, Slot
from rl_advisor.run import Floats

Places = npt.NDArray[np.int64]
_PLAIN, _CLOCK, _DAY = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", r"\d*(?::\d+)+(?:[.,]\d+)?", r"\d+-\d+-\d+"
_TOLD = (_PLAIN, _CLOCK, _DAY, f"{_DAY}[T ]{_CLOCK}")
GROUPS = 4
"""Numbers that the library takes out of a line at a time: with more it goes through each line many times."""
MOST_AT_ONCE = 100
"""Numbers of a line of a form that is taken at once."""
FEWEST_OF_ANYBODY = 5
"""Lines of names that tell of no learner."""
FORMS = 3
"""Lines of each form in which words before a number are taken for its name."""
WHOLE = 1e-6
"""How far a whole number may be from one, as ``.05M`` is."""
_JOINING = {"", ",", ":", "-", ".", "T"}
"""What between two numbers may make them one."""


@dataclass(eq=False)
class Family:
    """Lines with the same names: the record that each belongs to, its form, and its numbers."""

    slots: Sequence[Slot]
    """Those of its first form."""
    pieces: list[tuple[Places, Places, Floats]] = field(default_factory=list)
    """Records, forms and numbers of lines, which become arrays when all have come."""
    record: Places = field(init=False)
    form: Places = field(init=False)
    number: Floats = field(init=False)
    texts: list[str] = field(default_factory=list)
    """The texts of its first forms."""
    header: tuple[str, ...] = ()
    """The header of the table that its lines are rows of."""
    totals: dict[str, float] = field(default_factory=dict)
    stamps: dict[int, str] = field(default_factory=dict)
    """Record at which a count went back, and the time that the line begins with."""
    forms: int = 0
    """In how many forms it was written."""

    def close(self) -> None:
        """Make arrays of its lines, in their order, without the numbers whose names are none."""
        record, form, number = map(np.concatenate, zip(*self.pieces, strict=True))
        turn = np.argsort(record, kind="stable")
        self.record, self.form, number = record[turn], form[turn], number[turn]
        steady = record.size >= FEWEST_OF_ANYBODY and FORMS * self.forms <= record.size
        named = enumerate(self.slots)
        kept = [i for i, slot in named if (steady or not slot.loose) and (not slot.name.endswith(TOTAL) or np.ptp(number[:, i]) > 0)]
        self.slots, self.number = [self.slots[i] for i in kept], number[:, kept]

    @property
    def names(self) -> list[str]:
        """What their numbers are called."""
        return [slot.name for slot in self.slots]

    @cached_property
    def tells(self) -> bool:
        """Whether a name is one of an outcome or of a learner."""
        return any(map(speaks, self.names))

    @cached_property
    def counted(self) -> list[str]:
        """The names of counts whose numbers are nearly all whole: ``eps`` may be episodes or an epsilon."""
        named = [slot.name for slot in self.slots if slot.counts or step_columns([slot.name])]
        known = {name: number[np.isfinite(number)] for name in named for number in (self.called(name),)}
        return [name for name, number in known.items() if 20 * int((np.abs(number - np.round(number)) > WHOLE).sum()) <= number.size]

    def called(self, name: str) -> Floats:
        """The numbers of that name."""
        return self.number[:, self.names.index(name)]


@dataclass(frozen=True, eq=False)
class Form:
    """What is taken from the lines of one form."""

    family: Family
    slots: Sequence[Slot]
    index: int
    between: Sequence[str] = ()
    """The texts before, between and behind its numbers."""
    alone: bool = False
    """Whether a line says nothing but one name and its number."""
    told: bool = False
    """Whether it may also tell of an error."""
    sample: Sequence[str] = ()
    """The numbers, dates and clocks of its first line."""

    @cached_property
    def places(self) -> list[int]:
        """Where the numbers that have a name stand, and behind them the totals."""
        return [slot.at for slot in self.slots] + [slot.total for slot in self.slots if slot.total >= 0]

    @cached_property
    def times(self) -> list[float]:
        """What the letter behind each of these makes of it."""
        return [slot.times for slot in self.slots] + [times_of(self.between[slot.total + 1]) for slot in self.slots if slot.total >= 0]

    @property
    def regular(self) -> bool:
        """Whether its lines can be taken at once: none is looked at besides, and what stands between its numbers parts them."""
        plain = _JOINING.isdisjoint(text.strip() for text in self.between[1:-1])
        return plain and not (self.alone or self.told) and 1 < len(self.between) < MOST_AT_ONCE

    def pattern(self, taken: Collection[int]) -> str:
        """The pattern of its lines, in which the numbers at these places are taken out."""
        parts = [re.escape(self.between[0])]
        for at, (token, text) in enumerate(zip(self.sample, self.between[1:], strict=True)):
            told = next((kind for kind in _TOLD if re.fullmatch(kind, token)), _PLAIN)
            parts += [f"(?P<n{at}>{told})" if at in taken else f"(?:{told})", re.escape(text)]
        return f"^{''.join(parts)}$"


def taken_at_once(form: Form, block: Sequence[str]) -> tuple[Places, Floats, Sequence[str]]:
    """The lines of a block that are of a form, their numbers, and the time they begin with."""
    import pyarrow as pa
    from pyarrow import compute

    lines, at, columns = pa.array(block, pa.string()), np.arange(len(block)), dict[int, Any]()
    timed = ":" in form.sample[0]
    wanted = sorted({*form.places, *[0][:timed]})
    for first in range(0, len(wanted), GROUPS):
        some = wanted[first : first + GROUPS]
        found = compute.extract_regex(lines, pattern=form.pattern(some))
        whole = found.is_valid()
        lines, at, found = lines.filter(whole), at[whole.to_numpy(zero_copy_only=False)], found.drop_null()
        columns |= {place: found.field(f"n{place}") for place in some}
    number = np.column_stack([columns[place].cast("float64") for place in form.places])
    return at, number, columns[0] if timed else [""] * at.size
