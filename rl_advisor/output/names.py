"""The names that a run's files chose, which any sentence about the run may repeat."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rl_advisor.run import Run


def names_of_run(run: "Run") -> set[str]:
    """Names that the run's files chose, and that may therefore turn up in any sentence about it."""
    curves = {n for c in run.curves.values() for n in (c.name, c.raw, *c.source.split(", "))}
    columns = {str(c) for c in run.rollouts.columns}
    pieces = {part for name in curves | columns | set(run.files) | {g.where for g in (*run.gaps, *run.ignored)} for part in name.split("/")}
    paths = {c.path for c in run.checkpoints} | {g.where for g in (*run.gaps, *run.ignored)} | set(run.files) | {run.place, *run.others}
    return curves | columns | pieces | paths | {run.name} | {str(k) for k in run.config}
