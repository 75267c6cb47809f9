"""How often the verdict is right beside how sure it is: every set at several temperatures, and at the one that the other sets would choose.

    python -m evals.reliability CORPUS... [--ground FOLDER]

The weights are those of ``fit_weights.py`` with kin left out; GROUND is a folder of the proving ground that ``proving_ground.judge`` has
judged, of which only the part held out is measured, by the shipped weights. Changes nothing.
"""

import argparse
import json
from collections.abc import Mapping
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from evals.fit_weights import Labelled, Row
from evals.proving_ground.figures import markdown
from rl_advisor.evals import scoring
from rl_advisor.features.series import Floats
from rl_advisor.finding import VERDICTS
from rl_advisor.judgement.weights import weights
from rl_advisor.run import Run

from evals import fit_weights

TEMPERATURES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)
Sets = Mapping[str, tuple[list[Row], Floats]]
"""Runs of a set and the probabilities of their verdicts at a temperature of 1."""


def ground(folder: Path) -> dict[str, tuple[list[Row], Floats]]:
    """The judged runs of the held-out part, at half and at the end, with the probabilities that the judge gave."""
    labels, found = json.loads((folder / "labels.json").read_text(encoding="utf-8")), dict[str, tuple[list[Row], list[Floats]]]()
    for line in (folder / "answers.jsonl").open(encoding="utf-8"):
        a = json.loads(line)
        label = labels.get(a["run"])
        if label is None or label["split"] != "test" or "probabilities" not in a:
            continue
        part = label if a["cut"] == 1 else label["cuts"][f"{a['cut']:g}"]
        kin = Labelled(Run, tuple(part["verdicts"][:1]), tuple(part["verdicts"]), label["scenario"], "ground")
        rows, odds = found.setdefault(f"proving ground, {'end' if a['cut'] == 1 else 'half'}", ([], []))
        rows.append(Row(kin, np.zeros(0), np.zeros(0)))
        odds.append(np.array([a["probabilities"].get(v, 0.0) for v in VERDICTS]))
    return {name: (rows, at(np.array(odds), 1 / weights().temperature)) for name, (rows, odds) in found.items()}


def at(odds: Floats, temperature: float) -> Floats:
    """The probabilities at another temperature than 1, a row a run."""
    told = np.maximum(odds, 1e-12) ** (1 / temperature)
    return np.asarray(told / told.sum(axis=1, keepdims=True))


def left_out(rows: list[Row]) -> Floats:
    """The probabilities of every run at a temperature of 1, by weights that saw none of its kin."""
    kin, odds = sorted({r.label.kin for r in rows}), np.zeros((len(rows), len(VERDICTS)))
    for k in range(fit_weights.FOLDS):
        away = set(kin[k :: fit_weights.FOLDS])
        mine = [i for i, r in enumerate(rows) if r.label.kin in away]
        by = fit_weights.fit([r for r in rows if r.label.kin not in away])
        for i in mine:
            total = by.columns(rows[i].amounts[None])[0] @ by.weights[1:] + by.weights[0] + rows[i].said
            odds[i] = np.exp(total - total.max())
    return at(odds, 1.0)


def scored(rows: list[Row], odds: Floats) -> dict[str, float]:
    """Sureness of the likeliest verdict, how often it is admitted, the gap between them, Brier, and log loss of what is admitted."""
    right = np.array([VERDICTS[i] in r.label.admitted for i, r in zip(odds.argmax(axis=1), rows, strict=True)])
    mass = np.array([sum(o[VERDICTS.index(v)] for v in r.label.admitted) for o, r in zip(odds, rows, strict=True)])
    sure = odds.max(axis=1)
    return {
        "runs": len(rows), "said": float(sure.mean()), "right": float(right.mean()), "ECE": scoring.calibration_error(right, sure),
        "Brier": scoring.brier(right, sure), "log loss": float(-np.log(np.maximum(mass, 1e-6)).mean()),
    }  # fmt: skip


def best(sets: Sets) -> float:
    """The temperature with the least Brier score, the mean of the sets."""
    return min(TEMPERATURES, key=lambda t: np.mean([scored(rows, at(odds, t))["Brier"] for rows, odds in sets.values()]))


def tables(sets: Sets, real: set[str]) -> str:
    """Every set at every temperature, and at that which the other real sets choose."""
    told = []
    for name, (rows, odds) in sets.items():
        own = best({n: s for n, s in sets.items() if n != name and n in real} or sets)
        lines = {f"{t:g}": scored(rows, at(odds, t)) for t in TEMPERATURES}
        told.append(markdown(lines | {f"{own:g}, chosen by the other real sets": scored(rows, at(odds, own))}, name))
    return "\n".join(told)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--ground", type=Path)
    asked = parser.parse_args()
    labels = fit_weights.labelled(asked.corpora)
    with Pool(2) as pool:
        rows = [row for row in pool.imap(fit_weights.row_of, labels, chunksize=4) if row is not None]
    away = left_out(rows)
    places = {group: [i for i, r in enumerate(rows) if r.label.group == group] for group in sorted({r.label.group for r in rows})}
    sets = {group: ([rows[i] for i in mine], away[mine]) for group, mine in places.items()}
    real = set(sets)
    sets |= ground(asked.ground) if asked.ground else {}
    print(tables(sets, real))


if __name__ == "__main__":
    main()
