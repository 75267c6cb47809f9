"""Fits how much each amount of a course speaks for each verdict, and says how the fit does on repositories and tasks left out.

    python -m evals.fit_weights CORPUS... [--write]

A CORPUS holds ``runs/`` and ``labels.json``; strangers' runs come from the table of ``evals/world``, with both readers' verdicts and what
either would defend. What the detectors found enters as it is declared and is not fitted. A label that admits several verdicts is shared
among them; runs of one repository or scenario weigh together like the root of their number. Ridge on every weight. Curves of known course
under noise that remembers (``evals/remembering.py``) stand beside the labelled runs.
"""

import argparse
import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from evals.world import table
from rl_advisor import tools
from rl_advisor.curves.performance import REWARD_LOST
from rl_advisor.evals import scoring
from rl_advisor.features.series import Floats
from rl_advisor.finding import VERDICTS
from rl_advisor.judgement.case import Case, open_case
from rl_advisor.judgement.evidence import context, fitting, found
from rl_advisor.judgement.weights import FILE, standing
from rl_advisor.reading import UnreadableRun
from rl_advisor.run import Run

from evals import remembering

NAMES = (
    *("gained", "lost", "second half", "slope", "given back", "kept", "record", "fall", "share at the end"),
    REWARD_LOST,
)
"""What is weighed, one weight a verdict: of 48 amounts these, chosen one after the other by log loss with kin left out; weights above and
below the usual for all 48 travelled less well (docs/log.md). What the quarters of the points do stands beside what the courses do."""
RIDGE, PRIOR_RIDGE = 2.0, 0.04
UNSHAPED = 100
"""How much dearer weights of reward hacking are: no shape of the outcome speaks for it, only signs of gaming do."""
TEMPERATURES, LAPSES = np.arange(0.1, 1.51, 0.05), np.arange(0, 0.31, 0.02)
"""By what the sum may be divided that gives the probabilities, and the shares that nothing measured foretells, as they are tried."""
ALIKE = 0.002
"""Brier scores that differ by less than this differ by luck."""
VERDICTS_HELD, WEIGHTS_HELD = 1.5, np.arange(0.5, 1.0, 0.01)
"""How many verdicts a set holds in the mean, and the weights of sets that are tried."""
MAIN = 0.4
"""Share of a label that goes to the readers' own verdicts; the rest is spread over all that are admitted."""
FOLDS = 12
MADE, STRANGERS, CRAWLED = "made", "strangers", "crawled, never fitted"
"""The groups of made curves, of strangers' runs, and of those that are only measured on."""
COARSE = {"improving": "sound", "plateaued": "sound", "not_learning": "stuck", "undecidable": "stuck"}


@dataclass(frozen=True)
class Labelled:
    """A labelled run: how it is opened, the verdict of each reader, the verdicts admitted, and its kin."""

    open: Callable[[], Run]
    mains: tuple[str, ...]
    admitted: tuple[str, ...]
    kin: str
    group: str


@dataclass(frozen=True)
class Row:
    """What is known of a labelled run."""

    label: Labelled
    amounts: Floats
    said: Floats
    """What findings, context and the fit of each word's meaning add, a column a verdict."""


def corpus_runs(folder: Path) -> Iterator[Labelled]:
    """The runs of a corpus of the repository."""
    for name, label in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
        verdicts = tuple(label["verdicts"])
        yield Labelled(
            partial(tools.read, folder / "runs" / name), verdicts[:1], verdicts, f"{folder.name}/{label['scenario']}", folder.name
        )


def strangers_runs() -> Iterator[Labelled]:
    """The runs of strangers."""
    for world in table.labelled():
        told = world.told
        yield Labelled(partial(table.run, told["id"]), tuple(told["verdicts"]), tuple(told["admissible"]), world.repository, STRANGERS)


def crawled_runs() -> Iterator[Labelled]:
    """Runs of other repositories, which one more reader saw: nothing is fitted to them."""
    for world, told in table.read_once_more():
        yield Labelled(partial(table.run, told["id"]), (told["verdict"],), tuple(told["admissible"]), world.repository, CRAWLED)


def labelled(corpora: Sequence[Path]) -> list[Labelled]:
    """All labelled runs of these folders and of strangers."""
    return [*(run for folder in corpora for run in corpus_runs(folder)), *strangers_runs()]


def row_of(label: Labelled) -> Row | None:
    """The amounts and findings of a run; None when it cannot be read or has no outcome."""
    try:
        return row(label, open_case(label.open()))
    except (UnreadableRun, OSError, ValueError):
        return None


def row(label: Labelled, case: Case) -> Row | None:
    """The same of a case that is open."""
    amounts = case.performance.amounts()
    if amounts is None:
        return None
    speaks = (*(p.speaks for p in (*found(case), *context(case))), fitting(case))
    said = sum((np.array([s[v] for v in VERDICTS]) for s in speaks), np.zeros(len(VERDICTS)))
    return Row(label, np.array([amounts.get(n, np.nan) for n in NAMES]), said)


def read(labels: Sequence[Labelled]) -> list[Row]:
    """What is known of every labelled run that can be read."""
    with multiprocessing.Pool(2) as pool:
        return [r for r in pool.map(row_of, labels, chunksize=4) if r is not None]


def fitted(corpora: Sequence[Path]) -> list[Row]:
    """Everything that is fitted: the labelled runs and the made ones."""
    return [*read(labelled(corpora)), *made_rows()]


def made_rows() -> Iterator[Row]:
    """Made curves of known course under noise that remembers, a kin a shape."""
    for shape, run in remembering.runs():
        label = Labelled(partial(Run, run.name), shape.verdicts[:1], shape.verdicts, f"{MADE}/{shape.name}", MADE)
        if (found_ := row(label, open_case(run))) is not None:
            yield found_


@dataclass(frozen=True)
class Fit:
    """Usual values, spreads and weights, the prior first."""

    usual: Floats
    spread: Floats
    weights: Floats

    def columns(self, amounts: Floats) -> Floats:
        """How far each amount is from the usual; nothing where it is not there."""
        return np.nan_to_num(np.vectorize(standing)(amounts, self.usual, self.spread))

    def probabilities(self, rows: Sequence[Row]) -> Floats:
        """A row a run, a column a verdict."""
        amounts, said = np.array([r.amounts for r in rows]), np.array([r.said for r in rows])
        total = self.columns(amounts) @ self.weights[1:] + self.weights[0] + said
        odds = np.exp(total - total.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def targets(rows: Sequence[Row]) -> Floats:
    """What each run should be called: its label's share a verdict."""
    out = np.zeros((len(rows), len(VERDICTS)))
    for i, row in enumerate(rows):
        for v in row.label.mains:
            out[i, VERDICTS.index(v)] += MAIN / len(row.label.mains)
        for v in row.label.admitted:
            out[i, VERDICTS.index(v)] += (1 - MAIN) / len(row.label.admitted)
    return out


def fit(rows: Sequence[Row], ridge: float = RIDGE) -> Fit:
    """The weights that suit the runs, small ones before large ones."""
    from scipy.optimize import minimize

    amounts, said, aim = np.array([r.amounts for r in rows]), np.array([r.said for r in rows]), targets(rows)
    many = Counter(r.label.kin for r in rows)
    weight = np.array([many[r.label.kin] ** -0.5 for r in rows])
    weight /= weight.mean()
    usual, spread = np.nanmean(amounts, axis=0), np.nanstd(amounts, axis=0) + 1e-9
    x = Fit(usual, spread, np.empty(0)).columns(amounts)
    shape = (x.shape[1] + 1, len(VERDICTS))
    cost = np.full(shape, ridge)
    cost[0] = PRIOR_RIDGE
    cost[1:, VERDICTS.index("reward_hacking")] = UNSHAPED * ridge

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        total = x @ w[1:] + w[0] + said
        total -= total.max(axis=1, keepdims=True)
        odds = np.exp(total)
        whole = odds.sum(axis=1, keepdims=True)
        off = (odds / whole - aim) * weight[:, None]
        slope = np.vstack([off.sum(axis=0), x.T @ off]) + 2 * cost * w
        return float(-(weight * (aim * (total - np.log(whole))).sum(axis=1)).sum() + (cost * w**2).sum()), slope.ravel()

    found_ = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return Fit(usual, spread, found_.x.reshape(shape))


def fits(rows: Sequence[Row], ridge: float = RIDGE) -> dict[str, Fit]:
    """For every kin the weights that saw none of its runs."""
    kin = sorted({r.label.kin for r in rows})
    out: dict[str, Fit] = {}
    for k in range(min(FOLDS, len(kin))):
        away = set(kin[k::FOLDS])
        out |= dict.fromkeys(away, fit([r for r in rows if r.label.kin not in away], ridge))
    return out


def left_out(rows: Sequence[Row], ridge: float = RIDGE) -> Floats:
    """The probabilities of every run by weights that saw none of its kin."""
    by = fits(rows, ridge)
    return np.vstack([by[r.label.kin].probabilities([r]) for r in rows])


def sets_left_out(rows: Sequence[Row], ridge: float = RIDGE) -> Floats:
    """The same by weights that saw nothing of its whole set: all strangers' runs, or a corpus."""
    out = np.zeros((len(rows), len(VERDICTS)))
    for group in {r.label.group for r in rows}:
        mine = [i for i, r in enumerate(rows) if r.label.group == group]
        out[mine] = fit([r for r in rows if r.label.group != group], ridge).probabilities([rows[i] for i in mine])
    return out


def covered(rows: Sequence[Row], odds: Floats) -> float:
    """The weight of sets of the likeliest verdicts that hold ``VERDICTS_HELD`` in the mean; prints what such sets hold, every kin alike."""
    mine = [i for i, r in enumerate(rows) if r.label.group == STRANGERS]
    order = np.argsort(-odds, axis=1)
    before = np.cumsum(np.take_along_axis(odds, order, axis=1), axis=1) - np.take_along_axis(odds, order, axis=1)
    weight = max((w for w in WEIGHTS_HELD if (before[mine] < w).sum(axis=1).mean() <= VERDICTS_HELD), default=WEIGHTS_HELD[0])
    sets = [{VERDICTS[v] for v, b in zip(order[i], before[i], strict=True) if b < weight} for i in mine]
    kin = np.array([rows[i].label.kin for i in mine])
    held = np.array([(bool(s & set(rows[i].label.admitted)), bool(s & set(rows[i].label.mains))) for s, i in zip(sets, mine, strict=True)])
    told = np.mean([held[kin == k].mean(axis=0) for k in set(kin)], axis=0)
    size = np.mean([len(s) for s in sets])
    print(
        f"sets of {weight:.2f}: {size:.2f} verdicts, hold an admissible one in {told[0]:.2f}, a reader's own in {told[1]:.2f} of the runs"
    )
    return float(weight)


def cooled(odds: Floats, temperature: float, lapse: float = 0.0) -> Floats:
    """Probabilities, a row a run, from logarithms divided by a temperature, a share of them spread evenly."""
    sharper = odds ** (1 / temperature)
    return np.asarray((1 - lapse) * sharper / sharper.sum(axis=1, keepdims=True) + lapse / odds.shape[1])


def right(rows: Sequence[Row], said: Sequence[str]) -> Floats:
    """How right each verdict is, as much of its label as it has: all where it is both readers' own, less where one would but defend it."""
    own = np.array([np.mean([v == m for m in r.label.mains]) for v, r in zip(said, rows, strict=True)])
    return MAIN * own + (1 - MAIN) * np.array([v in {*r.label.admitted, *r.label.mains} for v, r in zip(said, rows, strict=True)])


def meant(rows: Sequence[Row], odds: Floats) -> tuple[float, float]:
    """The temperature and the lapse at which labelled runs, left out of the fit, have the least Brier score, every kin alike.

    Of those that are alike the mildest.
    """
    real = [i for i, r in enumerate(rows) if r.label.group != MADE]
    many = Counter(rows[i].label.kin for i in real)
    weight = np.array([1 / many[rows[i].label.kin] for i in real])
    truth = right([rows[i] for i in real], [VERDICTS[odds[i].argmax()] for i in real])

    def brier(by: tuple[float, float]) -> float:
        return float(np.average((cooled(odds[real], *by).max(axis=1) - truth) ** 2, weights=weight))

    return min(
        ((float(t), float(lapse)) for t in TEMPERATURES for lapse in LAPSES), key=lambda by: (round(brier(by) / ALIKE), -by[0], brier(by))
    )


def report(name: str, rows: Sequence[Row], found_: Floats) -> None:
    """Hits of readers' own verdicts (exact: in the mean over readers; or second: of either), admissible, coarse ones, and how sure it was.

    Each as mean over kin / plain; how sure against how often it was right.
    """
    said = [VERDICTS[i] for i in found_.argmax(axis=1)]
    hits = {
        "exact": [np.mean([a == m for m in r.label.mains]) for a, r in zip(said, rows, strict=True)],
        "exact or second": [a in r.label.mains for a, r in zip(said, rows, strict=True)],
        "admissible": [a in r.label.admitted for a, r in zip(said, rows, strict=True)],
        "coarse": [any(COARSE.get(a, "broken") == COARSE.get(m, "broken") for m in r.label.mains) for a, r in zip(said, rows, strict=True)],
    }
    kin = np.array([r.label.kin for r in rows])
    told = (f"{k} {np.mean([np.mean(np.array(v)[kin == q]) for q in set(kin)]):.2f}/{np.mean(v):.2f}" for k, v in hits.items())
    sure, truth, held = found_.max(axis=1), right(rows, said), np.array(hits["admissible"])
    places = {low: (sure >= low) & (sure < low + 0.2) for low in (0.2, 0.4, 0.6, 0.8)}
    bins = ", ".join(f"{low:.1f}+: {truth[k].mean():.2f} ({k.sum()})" for low, k in places.items() if k.any())
    error = f"{scoring.calibration_error(truth, sure):.3f}, of admissible alone {scoring.calibration_error(held, sure):.3f}"
    print(f"{name:28} {len(rows):4} runs of {len(set(kin)):3} kin | {' '.join(told)} | ECE {error} | right by probability {bins}")


def main() -> None:
    """Reads, fits with kin left out, reports, and writes the weights when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--ridge", type=float, default=RIDGE)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = fitted(asked.corpora)
    away = left_out(rows, asked.ridge)
    best = meant(rows, away)
    away, whole = cooled(away, *best), cooled(sets_left_out(rows, asked.ridge), *best)
    weight = covered(rows, away)
    print(f"temperature {best[0]:.2f}, lapse {best[1]:.2f}")
    for group in sorted({r.label.group for r in rows}):
        mine = [i for i, r in enumerate(rows) if r.label.group == group]
        report(group, [rows[i] for i in mine], away[mine])
        report(f"{group}, whole set out", [rows[i] for i in mine], whole[mine])
    crawled = read(list(crawled_runs()))
    report(CRAWLED, crawled, cooled(fit(rows, asked.ridge).probabilities(crawled), *best))
    if asked.write:
        write(fit(rows, asked.ridge), len(rows), best, weight)


def write(found_: Fit, runs: int, best: tuple[float, float], weight: float) -> None:
    """The data file: every weight rounded to what it is worth."""

    def shares(values: Floats) -> dict[str, float]:
        return dict(zip(VERDICTS, np.round(values - values.mean(), 3).tolist(), strict=True))

    amounts = {
        name: {
            "usual": round(float(found_.usual[i]), 4),
            "spread": round(float(found_.spread[i]), 4),
            "weights": shares(found_.weights[1 + i]),
        }
        for i, name in enumerate(NAMES)
    }
    FILE.write_text(
        json.dumps(
            {
                "runs": runs,
                "temperature": round(best[0], 2),
                "lapse": round(best[1], 2),
                "covered": round(weight, 2),
                "prior": shares(found_.weights[0]),
                "amounts": amounts,
            },
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
