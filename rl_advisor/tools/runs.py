"""Runs by their path or address: where they lie, read once for as long as their files stay the same, beside their sound kin."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rl_advisor.answers import run_folders
from rl_advisor.output.errors import UnreadableRun, UsageError

if TYPE_CHECKING:
    from rl_advisor.run import Run

MOST_SOUND = 16
"""Sound runs that one run is measured against."""


def read(run: str | Path, until: float | None = None, mapping: Mapping[str, str] | None = None) -> "Run":
    """The run at that path or address, as it looked at ``until``; read once for as long as its files stay the same.

    Raises:
        FileNotFoundError: nothing is there; the message names what is.
        NoSuchChoice: ``mapping`` names what no file has; the message names the nearest.
        rl_advisor.reading.UnreadableRun: something is there, and none of it could be read.
    """
    path = place(run)
    try:
        whole = _read(path, tuple((mapping or {}).items()), run_folders.fingerprint(path))
    except KeyError as unknown:
        # Only the caller's mapping raises it: a name that no file has.
        if not mapping:
            raise
        raise UsageError(str(unknown.args[0])) from unknown
    except UnreadableRun as unreadable:
        if str(run).startswith(str(path)):
            raise
        # Where the copy of a store lies means nothing to who gave an address.
        raise UnreadableRun(str(unreadable).replace(str(path), path.name), unreadable.shapes) from unreadable
    return whole if until is None else whole.until(until)


@lru_cache(8)
def _read(path: Path, said: tuple[tuple[str, str], ...], _: object) -> "Run":
    """As ``read_run``; a few lines of which no reader knows a name, or in which there is no table, as pasted lines are read."""
    from rl_advisor.answers.explain.pasted import run_of_few
    from rl_advisor.judgement.proven import few
    from rl_advisor.reading import read_run

    mapping = dict(said) or None
    try:
        run = read_run(path, mapping=mapping)
    except UnreadableRun:
        pasted = None if mapping else run_of_few(path)
        if pasted is None or not (pasted.curves or pasted.config or pasted.events):
            raise
        return pasted
    unknown = not mapping and few(run) and not any(c.explained for c in run.curves.values())
    return pasted if unknown and (pasted := run_of_few(path)).curves else run


def place(run: str | Path) -> Path:
    """Where the run lies on this machine; text that is an address of a store is fetched first, a ``Path`` never is.

    Raises what ``folders.existing`` and ``rl_advisor.reading.remote.copies.fetch`` raise.
    """
    if isinstance(run, str) and "://" in run:
        from rl_advisor.reading.remote import copies

        if copies.is_address(run):
            return copies.local_copy(run)
    return run_folders.existing(run)


def as_asked(  # noqa: PLR0913
    run: str | Path,
    until: float | None = None,
    mapping: Mapping[str, str] | None = None,
    against: Sequence[str | Path] = (),
    planned: int | None = None,
    goal: float | None = None,
) -> "Run":
    """The run as it was read, beside the sound runs against which it is measured, with the plan and the goal that somebody knows of.

    Raises:
        UsageError: too many runs; and what ``read`` raises.
    """
    if len(against) > MOST_SOUND:
        raise UsageError(f"{len(against)} sound runs were named; {MOST_SOUND} are enough")
    whole, sound = read(run, until, mapping), tuple(read(other, None, mapping) for other in against)
    known = sound or planned or goal is not None
    return replace(whole, sound=sound, planned_steps=planned or whole.planned_steps, goal=goal) if known else whole
