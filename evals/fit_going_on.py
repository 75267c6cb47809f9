"""Fits the probability that going on pays, and says how it does on repositories and tasks left out.

    python -m evals.fit_going_on CORPUS... [--write]

Prefixes of the corpora carry ``continue_pays``; strangers' runs (``evals/world``) each reader's call at half and at the end. A ridge
logistic regression on standardised facts; prefixes of one repository or scenario weigh together like the root of their number. What the
facts hold of the verdict comes from weights that saw none of the prefix's kin.
"""

import argparse
import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from evals.world import table
from rl_advisor import tools
from rl_advisor.evals import scoring
from rl_advisor.features.series import Floats
from rl_advisor.finding import VERDICTS
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.continuation import LEAST
from rl_advisor.judgement.going_on import FACTS, FILE, PAYS, facts
from rl_advisor.judgement.weights import weights
from rl_advisor.reading import UnreadableRun
from rl_advisor.run import Run

from evals import fit_weights

CALLS: tuple[tuple[str, float | None], ...] = (("half_call", 0.5), ("end_call", None))
"""The calls of readers, and where the run is cut for each."""
RIDGE = 1.0
FOLDS = 12
DIFFER = 0.5
"""What is fitted where one reader would go on and the other would not; such prefixes are not scored."""


@dataclass(frozen=True)
class Asked:
    """A run, where it is cut (a share of its last step, or a step), and whether going on paid: a share where readers differ."""

    open: Callable[[], Run]
    share: float | None
    step: float | None
    pays: float
    kin: str
    group: str


@dataclass(frozen=True)
class Row:
    """What was known then."""

    asked: Asked
    facts: Floats
    seen: fit_weights.Row | None = None
    """What the verdict is weighed from."""


def of_corpus(folder: Path) -> Iterator[Asked]:
    """The labelled prefixes of a corpus."""
    for name, label in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
        for cut in label["cuts"].values():
            yield Asked(
                partial(tools.read, folder / "runs" / name),
                None,
                cut["cut"],
                cut["continue_pays"],
                f"{folder.name}/{label['scenario']}",
                folder.name,
            )


def of_crawled() -> Iterator[Asked]:
    """The same of runs that one more reader saw, to which nothing is fitted."""
    for world, told in table.read_once_more():
        for key, share in CALLS:
            if told[key] != "undecided":
                opened = partial(table.run, told["id"])
                yield Asked(opened, share, None, float(told[key] == "continue"), world.repository, f"{fit_weights.CRAWLED} {key}")


def of_strangers() -> Iterator[Asked]:
    """Strangers' runs at half of their steps and at the end, where their readers gave a call."""
    for world in table.labelled():
        for key, share in CALLS:
            if given := [c == "continue" for c in world.told[f"{key}s"] if c != "undecided"]:
                opened = partial(table.run, world.told["id"])
                yield Asked(opened, share, None, float(np.mean(given)), world.repository, f"strangers {key}s")


def reached(run: Run, share: float) -> float:
    """The step at which a share of what was logged is done: a run that was resumed does not begin at zero."""
    return run.first_step + share * (run.last_step - run.first_step)


def row_of(asked: Asked) -> Row | None:
    """The facts of a prefix; None when it cannot be read or has no outcome."""
    try:
        run = asked.open()
    except (UnreadableRun, OSError, ValueError):
        return None
    step = asked.step if asked.step is not None else asked.share and reached(run, asked.share)
    case = open_case(run.until(step) if step is not None else run)
    label = fit_weights.Labelled(asked.open, VERDICTS[:1], VERDICTS, asked.kin, asked.group)
    told, seen = facts(case, dict.fromkeys(VERDICTS, np.nan)), fit_weights.row(label, case)
    return None if told is None else Row(asked, np.array([told[name] for name in FACTS]), seen)


def judged(rows: Sequence[Row], by: Mapping[str, fit_weights.Fit]) -> list[Row]:
    """The same rows with the probabilities of verdicts by the weights that each kin is given."""
    out = []
    for row in rows:
        told = row.facts.copy()
        if row.seen is not None:
            of = by[row.asked.kin if row.asked.kin in by else min(by)]
            odds = fit_weights.cooled(of.probabilities([row.seen]), weights().temperature, weights().lapse)[0]
            for name in set(VERDICTS) & set(FACTS):
                told[list(FACTS).index(name)] = odds[VERDICTS.index(name)]
        out.append(replace(row, facts=told))
    return out


@dataclass(frozen=True)
class Fit:
    """Usual values, spreads, and the weights, the intercept first."""

    usual: Floats
    spread: Floats
    weights: Floats

    def probabilities(self, rows: Sequence[Row]) -> Floats:
        """One a row."""
        off = np.clip((np.array([r.facts for r in rows]) - self.usual) / self.spread, -4, 4)
        return np.asarray(1 / (1 + np.exp(-(self.weights[0] + off @ self.weights[1:]))))


def fit(rows: Sequence[Row]) -> Fit:
    """The weights that suit the prefixes."""
    from scipy.optimize import minimize

    x, y = np.array([r.facts for r in rows]), np.array([r.asked.pays for r in rows], float)
    many = Counter(r.asked.kin for r in rows)
    weight = np.array([many[r.asked.kin] ** -0.5 for r in rows])
    weight /= weight.mean()
    usual, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    off = np.column_stack([np.ones(len(x)), np.clip((x - usual) / spread, -4, 4)])
    cost = np.r_[0.0, np.full(x.shape[1], RIDGE)]

    def loss(w: Floats) -> tuple[float, Floats]:
        total = off @ w
        p = 1 / (1 + np.exp(-total))
        return float((weight * (np.logaddexp(0, total) - y * total)).sum() + (cost * w**2).sum()), off.T @ (weight * (p - y)) + 2 * cost * w

    return Fit(usual, spread, minimize(loss, np.zeros(off.shape[1]), jac=True, method="L-BFGS-B").x)


def left_out(rows: Sequence[Row]) -> Floats:
    """The probability of every prefix by weights that saw none of its kin."""
    kin, out = sorted({r.asked.kin for r in rows}), np.zeros(len(rows))
    for k in range(FOLDS):
        away = set(kin[k::FOLDS])
        mine = [i for i, r in enumerate(rows) if r.asked.kin in away]
        if mine:
            out[mine] = fit([r for r in rows if r.asked.kin not in away]).probabilities([rows[i] for i in mine])
    return out


def read(asked: Sequence[Asked]) -> list[Row]:
    """The facts of every prefix that can be read."""
    with multiprocessing.Pool(2) as pool:
        return [r for r in pool.map(row_of, asked, chunksize=6) if r is not None]


def report(rows: Sequence[Row], found: Floats) -> None:
    """How well the probabilities foretell, a line a group."""
    truth = np.array([r.asked.pays for r in rows])
    for group in sorted({r.asked.group for r in rows}):
        mine = np.array([r.asked.group == group for r in rows]) & (truth != DIFFER)
        p, y = found[mine], truth[mine] > DIFFER
        told = f"AUROC {scoring.auroc(y, p):.3f} Brier {scoring.brier(y, p):.3f} balanced {scoring.balanced_accuracy(y, p >= LEAST):.3f}"
        print(f"{group:32} {mine.sum():4} prefixes, {y.mean():.2f} pay | {told}")


def main() -> None:
    """Reads, fits with kin left out, reports, and writes the weights when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    said = parser.parse_args()
    asked = [a for folder in said.corpora for a in of_corpus(folder)] + list(of_strangers())
    by = fit_weights.fits(fit_weights.fitted(said.corpora))
    rows, crawled = (judged(read(some), by) for some in (asked, list(of_crawled())))
    report(rows, left_out(rows))
    report(crawled, fit(rows).probabilities(crawled))
    if said.write:
        write(fit(rows), len(rows))


def write(found: Fit, prefixes: int) -> None:
    """The data file."""
    told = {
        name: {"usual": round(float(u), 4), "spread": round(float(s), 4), "weights": {PAYS: round(float(w), 3)}}
        for name, u, s, w in zip(FACTS, found.usual, found.spread, found.weights[1:], strict=True)
    }
    FILE.write_text(
        json.dumps({"prefixes": prefixes, "prior": {PAYS: round(float(found.weights[0]), 3)}, "amounts": told}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
