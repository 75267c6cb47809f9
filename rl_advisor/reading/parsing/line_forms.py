"""What lines of one form have in common: the texts between their numbers, the names of these, and the family they are of.

The lines of a block that are of one form are found, and their numbers taken, in one pass of a library.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.printed_numbers import times_of
from rl_advisor.reading.parsing.slot_names import Slot
from rl_advisor.run import Floats

Places = npt.NDArray[np.int64]
_PLAIN = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_CLOCK = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)?|\d{0,4}(?::\d\d)+(?:[.,]\d+)?"
MOST_AT_ONCE = 100
"""Numbers of a line of a form that is taken at once."""
_JOINING = {"", ",", ":", "-", ".", "T"}
"""What between two numbers may make them one."""


@dataclass
class Family:
    """Lines with the same names: the record that each belongs to, its form, and its numbers."""

    slots: Sequence[Slot]
    """Those of its first form."""
    pieces: list[tuple[Places, Places, Floats]] = field(default_factory=list)
    """Records, forms and numbers of lines."""
    texts: list[str] = field(default_factory=list)
    """The texts of its first forms."""
    header: tuple[str, ...] = ()
    """The header of the table that its lines are rows of."""
    totals: dict[str, float] = field(default_factory=dict)
    stamps: dict[int, str] = field(default_factory=dict)
    """Record at which a count went back, and the time that the line begins with."""
    forms: int = 0
    """In how many forms it was written."""


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


def taken_at_once(form: Form, block: Sequence[str]) -> tuple[Places, Floats, Sequence[str]]:
    """The lines of a block that are of a form, their numbers, and the time they begin with."""
    import pyarrow as pa
    from pyarrow import compute

    tokens = [f"(?P<n{at}>{_PLAIN if at in form.places else f'{_CLOCK}|{_PLAIN}'})" for at in range(len(form.between) - 1)]
    pattern = "".join(part for pair in zip(map(re.escape, form.between), [*tokens, "$"], strict=True) for part in pair)
    found = compute.extract_regex(pa.array(block, pa.string()), pattern="^" + pattern)
    at, found = np.flatnonzero(found.is_valid()), found.drop_null()
    return at, np.column_stack([found.field(f"n{place}").cast("float64") for place in form.places]), found.field("n0")
