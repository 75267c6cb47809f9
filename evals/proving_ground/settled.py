"""Whether the case file settles rightly: ``python -m evals.proving_ground.settled FOLDER [--write]``, on a set made by ``pairs``.

Each pair is a broken run and a later one, rightly repaired or not; the belief is put at even odds. Each block is told by weights that were
fitted on the others: how many right hypotheses survive (are not refuted), how many wrong repairs are recognised (are not confirmed), and
whether the odds mean what they say. ``--write`` fits all and writes the weights that the package uses.
"""

import argparse
import os
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground.pairs import Pair, pairs
from rl_advisor.tools.cases.advice import SETTLED

NAMES = ("better", "sounder", "gone")
PENALTY = 0.01
SHIPPED = Path(__file__).parents[2] / "rl_advisor" / "tools" / "cases" / "settling.toml"
Floats = npt.NDArray[np.float64]


def amounts(pair: Pair) -> dict[str, Any] | None:
    """What the two runs show, and the truth; None where one cannot be read or nothing is said to have broken in the first."""
    from rl_advisor.judgement.case import open_case
    from rl_advisor.judgement.verdict import judge
    from rl_advisor.reading import UnreadableRun, read_run
    from rl_advisor.tools.cases.advice import compared, repaired

    try:
        cases = [open_case(read_run(path)) for path in (pair.first, pair.second)]
    except UnreadableRun:
        return None
    told = [(case, judge(case)) for case in cases]
    cause = told[0][1].cause
    found, _ = compared(told[0], told[1], cause.pattern if cause else "")
    return {**found, "shipped": repaired(found), "repaired": pair.repaired, "block": pair.block, "named": cause is not None}


def fitted(rows: list[dict[str, Any]]) -> Floats:
    """Weights of a logistic model of the repair: a constant, then the amounts; Newton's steps with a small penalty."""
    x, y = _table(rows), np.array([row["repaired"] for row in rows], dtype=np.float64)
    w = np.zeros(x.shape[1])
    keep = np.diag([0.0, *[PENALTY * len(rows)] * len(NAMES)])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        w += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + keep + 1e-9 * np.eye(w.size), x.T @ (y - p) - keep @ w)
    return w


def _table(rows: list[dict[str, Any]]) -> Floats:
    return np.array([[1.0, *(row[name] for name in NAMES)] for row in rows])


def told(rows: list[dict[str, Any]], p: Floats) -> str:
    """The figures of some pairs under these odds."""
    y = np.array([row["repaired"] for row in rows])
    bins = np.clip((p * 5).astype(int), 0, 4)
    ece = sum(abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    right, wrong = p[y], p[~y]
    return (
        f"{len(rows)} pairs: right hypotheses that survive {np.mean(right > 1 - SETTLED):.2f} (confirmed {np.mean(right >= SETTLED):.2f}), "
        f"wrong repairs recognised {np.mean(wrong < SETTLED):.2f} (refuted {np.mean(wrong <= 1 - SETTLED):.2f}), ECE {ece:.3f}"
    )


def main() -> None:
    """Print the figures; write the weights where it is asked."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    with Pool(given.workers, initializer=os.nice, initargs=(10,)) as pool:
        rows = [row for row in pool.imap(amounts, list(pairs(given.folder)), 4) if row is not None]
    order: list[dict[str, Any]] = []
    odds: list[float] = []
    for block in sorted({row["block"] for row in rows}):
        own, others = [row for row in rows if row["block"] == block], [row for row in rows if row["block"] != block]
        order += own
        odds += (1 / (1 + np.exp(-_table(own) @ fitted(others)))).tolist()
    print("by weights of other blocks:", told(order, np.array(odds)))
    named = [(row, p) for row, p in zip(order, odds, strict=True) if row["named"]]
    print("where a cause was named:   ", told([row for row, _ in named], np.array([p for _, p in named])))
    print("as shipped:               ", told(rows, np.array([row["shipped"] for row in rows])))
    print("weights", dict(zip(("none", *NAMES), fitted(rows).round(3).tolist(), strict=True)))
    if given.write:
        head = SHIPPED.read_text(encoding="utf-8").splitlines()[0]
        weights = zip(("none", *NAMES), fitted(rows).round(3).tolist(), strict=True)
        SHIPPED.write_text("\n".join([head, *(f"{name} = {weight}" for name, weight in weights)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
