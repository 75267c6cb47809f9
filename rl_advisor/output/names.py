"""The names that a run's files chose, which any sentence about the run may repeat."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rl_advisor.run import Run


def names_of_run(run: "Run") -> set[str]:
    """Names that the run's files chose, and that may therefore turn up in any sentence about it."""
    written = {n for c in run.curves.values() for n in (c.name, c.raw, *c.source.split(", "))} | set(map(str, run.rollouts.columns))
    places = {g.where for g in (*run.gaps, *run.ignored)} | set(run.files)
    pieces = {part for name in written | places for part in name.split("/")}
    return written | places | pieces | {c.path for c in run.checkpoints} | {run.name, run.place, *run.others, *map(str, run.config)}
