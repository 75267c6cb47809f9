"""Evaluations that keep their episodes, in two halves: ``python -m evals.world.episodes COPY...``.

A copy is a git directory named ``OWNER+NAME/…``, as ``evals.world.gather`` takes it, or a folder ``OWNER__NAME`` of files. Of every run of
the table whose ``evaluations.npz`` lies there, ``episodes.parquet`` holds the mean of the even and of the odd episodes of each evaluation,
so that a checkpoint that was chosen by the one half is scored on the other.
"""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from evals.world import table
from evals.world.gather import git, git_of, owner_of
from evals.world.slim import POINTS
from rl_advisor.features.bins import running_mean
from rl_advisor.features.series import Floats

FILE = table.FOLDER / "episodes.parquet"
NAME = "evaluations.npz"
FEWEST = 12
"""Evaluations below which prefixes make no sense."""


@dataclass(frozen=True)
class Kept:
    """The evaluations of one run: two independent scores at each step, and how many episodes both are means of."""

    id: str
    step: Floats
    even: Floats
    odd: Floats
    episodes: int

    @property
    def mean(self) -> Floats:
        """The score of all episodes."""
        more = (self.episodes + 1) // 2
        return (more * self.even + (self.episodes - more) * self.odd) / self.episodes

    @property
    def width(self) -> int:
        """Evaluations that are averaged before one is chosen."""
        return max(3, self.step.size // 40)

    @property
    def range(self) -> float:
        """How far the score moved in all."""
        both = running_mean(self.mean, self.width)
        return float(np.quantile(both, 0.98) - both.min())

    def later(self, step: float) -> tuple[float, float]:
        """By how much the best after a step is better than the best before, both chosen by the even episodes: by these, and by the odd."""
        before = self.step <= step
        if self.step.size < FEWEST or not 3 <= before.sum() < self.step.size or not self.range > 0:
            return float("nan"), float("nan")
        seen, hidden = (running_mean(half, self.width) for half in (self.even, self.odd))
        then, after = (int(np.argmax(np.where(part, seen, -np.inf))) for part in (before, ~before))
        return float(seen[after] - seen[then]) / self.range, float(hidden[after] - hidden[then]) / self.range


def files(copy: Path, commit: str, inside: str) -> Iterator[bytes]:
    """The evaluations of a run: the file itself, or all below its folder."""
    if "__" in copy.name:
        found = [copy / inside] if inside.endswith(NAME) else sorted((copy / inside).rglob(NAME))
        yield from (path.read_bytes() for path in found if path.is_file())
        return
    directory = git_of(copy)
    for path in git(directory, "ls-tree", "-r", "--name-only", "-z", commit).decode(errors="replace").split("\0"):
        if path.endswith(NAME) and (path == inside or not inside or path.startswith(f"{inside}/")):
            yield git(directory, "show", f"{commit}:{path}")


def halves(id_: str, data: bytes) -> Kept | None:
    """The two halves of a log; None where it keeps no second episode."""
    with np.load(io.BytesIO(data), allow_pickle=False) as log:
        step, results = log["timesteps"].astype(float), log["results"].astype(float)
    if results.ndim != 2 or results.shape[1] < 2 or step.size != len(results):
        return None
    rows = (step, results[:, ::2].mean(axis=1), results[:, 1::2].mean(axis=1))
    parts = np.array_split(np.arange(step.size), min(POINTS, step.size))
    return Kept(id_, *(np.array([float(f"{row[p].mean():.6g}") for p in parts]) for row in rows), results.shape[1])


def kept_in(world: table.World, copy: Path) -> Kept | None:
    """The halves of a run of the table: those whose mean is a curve of evaluations that stands there; None where none is."""
    curves = [np.array(c["value"], float) for c in world.curves if c["name"].startswith("eval/score")]
    inside = str(world.told["id"]).removeprefix(world.repository).strip("/").partition("#")[0]
    found = (halves(world.told["id"], data) for data in (files(copy, world.told["commit"], inside) if curves else ()))
    return next((k for k in found if k is not None and any(same(k.mean, curve) for curve in curves)), None)


def same(one: Floats, other: Floats) -> bool:
    """Whether two curves are one but for rounding."""
    return one.size == other.size and np.allclose(one, other, rtol=1e-3, atol=1e-3 * float(np.ptp(one)), equal_nan=True)


@cache
def kept() -> dict[str, Kept]:
    """The halves of every run of which they are known."""
    rows = pq.read_table(FILE).to_pylist()
    return {r["id"]: Kept(r["id"], *(np.array(r[x], float) for x in ("step", "even", "odd")), r["episodes"]) for r in rows}


def main(copies: list[Path]) -> None:
    """Writes those of all copies beside those that are known, and says how many there are."""
    by = {owner_of(copy).replace("__", "/", 1) if "__" not in copy.name else copy.name.replace("__", "/", 1): copy for copy in copies}
    found = {w.told["id"]: k for w in table.worlds() if w.repository in by and (k := kept_in(w, by[w.repository])) is not None}
    rows = [vars(k) for _, k in sorted(((kept() if FILE.exists() else {}) | found).items())]
    pq.write_table(pa.Table.from_pylist(rows), FILE, compression="zstd", compression_level=19)
    owners = {table.world(r["id"]).repository for r in rows}
    print(f"{len(rows)} runs of {len(owners)} repositories, {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
