"""A file that holds several runs: the one to read is named behind its path (``metrics.csv#seed 2``), else it is the largest."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rl_advisor.run import Run

MARK = "#"
FILE = "{file}"
"""Stands for the file's name in what is said of it before anybody knows where it lies."""
LISTED = 50
"""Other runs of a file that are named."""


def split_reference(path: Path) -> tuple[Path, str]:
    """The file and the run in it that a path names; any other path as it stands, and ''."""
    text = str(path)
    at = text.find(MARK)
    while at > 0:
        if (file := Path(text[:at])).is_file():
            return file, text[at + 1 :]
        at = text.find(MARK, at + 1)
    return path, ""


def chosen(names: Sequence[str], wanted: str = "") -> str:
    """The run to read of those in a file, given largest first: the one that is wanted (a part of its name is enough), else the largest."""
    return meant(names, wanted) or names[0]


def meant(names: Sequence[str], wanted: str) -> str:
    """The run that somebody means by its name or by the one part of it that no other has; '' where none is."""
    if not wanted or wanted in names:
        return wanted
    ends = [name for name in names if name.rpartition("/")[2] == wanted] or [name for name in names if wanted in name.split("/")]
    return ends[0] if len(ends) == 1 else ""


def begun_at(wanted: str, names: Sequence[str]) -> str:
    """The run that is called by the moment at which it began, where ``wanted`` is that moment to some seconds; '' where none is."""
    from datetime import datetime

    def moment(name: str) -> datetime | None:
        try:
            return datetime.fromisoformat(name).replace(tzinfo=None)
        except ValueError:
            return None

    asked = moment(wanted)
    near = [name for name in names if asked and (at := moment(name)) and abs((at - asked).total_seconds()) <= 5.0]
    return near[0] if len(near) == 1 else ""


def listed(names: Sequence[str], read: str, by: str = "") -> "Run":
    """What to say of a file with these runs, of which one was read: where it and the others lie, and a gap; nothing for a single run."""
    from rl_advisor.output.wording import listed as in_words
    from rl_advisor.run import Gap, Run

    others = [name for name in names if name != read]
    if not others:
        return Run()
    why = f"holds {len(names)} runs{by}; {read} was read, not {in_words(others, 5, 'or')}; to read another: {FILE}{MARK}{others[0]}"
    return Run(place=MARK + read, others=tuple(MARK + name for name in others[:LISTED]), gaps=(Gap("", why[:400]),))


def among(part: "Run", several: "Run") -> "Run":
    """The part as one of the runs of its file, with what there is to say of the others; as it is where there are none."""
    gaps = tuple(dict.fromkeys((*several.gaps, *part.gaps)))
    return replace(part, place=several.place or part.place, others=several.others or part.others, gaps=gaps)


def one_of(named: Sequence[tuple[str, str]], wanted: str) -> tuple[str, "Run"]:
    """The id of the run to read of (id, name) pairs, largest first, and what to say of the others.

    A run is called by its name where no other has it, else by its id.
    """
    times = Counter(name for _, name in named)
    known = {(name if name and times[name] == 1 else key): key for key, name in named}
    label = chosen(list(known), wanted)
    return known[label], listed(list(known), label)
