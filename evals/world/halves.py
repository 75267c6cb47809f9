"""What the rest of a run brought after a quarter, a half and three quarters of it.

``python -m evals.world.halves`` writes ``halves.parquet``, a row a run and cut: ``brought``, the share of the courses that fit all points
in which what comes after is better than all before by more than matters; ``gain``, by how much the best level still rose, as a share of
the range of the run's level; ``stale``, the share of the steps so far since the best; ``twins``, what the rest brought to other seeds of
the same training, NaN without any: what luck leaves to be foreseen; ``chosen``, by how much the best after the cut is better than the best
before, by one half of the episodes of each evaluation, and ``elsewhere``, by the other half, as shares of the range of the score, NaN where
episodes were not kept: a checkpoint is to be scored on other episodes than it was chosen by. Measured, and nobody's opinion; what a run
that was cut early would have brought it cannot know.
"""

import multiprocessing
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from evals.world import episodes, table
from rl_advisor.curves.course import Course, course
from rl_advisor.curves.outcomes import outcome

CUTS = (0.25, 0.5, 0.75)
FEWEST = 20
"""Points of an outcome below which halves say nothing."""
FILE = table.FOLDER / "halves.parquet"
DIGITS = 4
ALIKE = 1.25
"""Ratio of lengths from which on two runs of one name are no twins."""


@dataclass(frozen=True)
class Half:
    """A run at a cut, and what the rest of it brought."""

    id: str
    share: float
    brought: float
    gain: float
    stale: float
    twins: float = float("nan")
    chosen: float = float("nan")
    elsewhere: float = float("nan")


def brought(whole: Course, cut: float) -> float:
    """The probability that what comes after a step is better than what was before, by an amount that matters."""
    before = whole.level.step <= cut
    best, later = (whole.level.draws[:, part].max(axis=1) for part in (before, ~before))
    return float(np.mean(later - best > whole.margin))


def measured(id_: str) -> list[Half]:
    """The cuts of a run; none where its outcome has too few points or does not move."""
    run = table.run(id_)
    curve = outcome(run)
    whole = course(curve) if curve is not None and run.last_step > 0 else None
    if whole is None or whole.n < FEWEST or not np.ptp(whole.middle):
        return []
    scale, out = float(np.ptp(whole.middle)), []
    for share in CUTS:
        at = share * run.last_step
        before = whole.level.step <= at
        if 3 <= before.sum() < before.size:
            levels = whole.middle[before]
            gain = (float(whole.middle.max()) - float(levels.max())) / scale
            stale = 1 - float(whole.level.step[int(levels.argmax())] / at)
            out.append(Half(id_, share, *(round(x, DIGITS) for x in (brought(whole, at), gain, stale))))
    return out


def family(world: table.World) -> tuple[str, ...]:
    """What the seeds of one training share: the repository, the method, the metrics, and the name but for its numbers."""
    told = world.told
    return (told["repository"], str(told["method"]), re.sub(r"\d+", "#", told["id"]), *sorted(c["raw"] for c in world.curves))


def with_twins(halves: Sequence[Half]) -> Iterator[Half]:
    """The same, each with the mean of what its twins were brought at that cut."""
    by: dict[tuple[object, ...], list[Half]] = defaultdict(list)
    for half in halves:
        by[*family(table.world(half.id)), half.share].append(half)
    for kin in by.values():
        length = {h.id: table.world(h.id).told["last_step"] for h in kin}
        for half in kin:
            others = [h.brought for h in kin if h.id != half.id and 1 / ALIKE <= length[h.id] / length[half.id] <= ALIKE]
            yield replace(half, twins=round(float(np.mean(others)), DIGITS) if others else float("nan"))


def with_episodes(halves: Iterable[Half]) -> Iterator[Half]:
    """The same, each with what it brought where the choice of a checkpoint is scored on other episodes."""
    kept = episodes.kept()
    for half in halves:
        mine = kept.get(half.id)
        told = mine.later(half.share * table.world(half.id).told["last_step"]) if mine else (float("nan"), float("nan"))
        yield replace(half, chosen=round(told[0], DIGITS), elsewhere=round(told[1], DIGITS))


def store(halves: Iterable[Half]) -> str:
    """Writes the table, and says how many there are."""
    rows = sorted((asdict(h) for h in halves), key=lambda h: (h["id"], h["share"]))
    pq.write_table(pa.Table.from_pylist(rows), FILE, compression="zstd")
    runs, twins, kept = {h["id"] for h in rows}, *({h["id"] for h in rows if np.isfinite(h[x])} for x in ("twins", "elsewhere"))
    of_them = f"{len(twins)} of them with twins, {len(kept)} with episodes"
    return f"{len(rows)} cuts of {len(runs)} runs, {of_them}, {FILE.stat().st_size / 1000:.0f} kB"


@cache
def halves() -> tuple[Half, ...]:
    """Every cut of the table's runs."""
    return tuple(Half(**row) for row in pq.read_table(FILE).to_pylist())


def main() -> None:
    """Measures every run of the table that is long enough."""
    with multiprocessing.Pool(2) as pool:
        found = pool.map(measured, [w.told["id"] for w in table.worlds() if w.told["read"]], chunksize=6)
    print(store(with_episodes(with_twins([half for mine in found for half in mine]))))


if __name__ == "__main__":
    main()
