"""Whether runs of the proving ground help to judge real ones: ``python -m evals.proving_ground.transfer FOLDER CORPUS... [--strangers FOLDER]``.

Fits the weights of the verdict and of going on by the same code that fits the shipped ones, repositories and scenarios left out: on the
real runs alone, with the ``dev`` part of the proving ground beside them (its tasks are its kin), and on that part alone.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from rl_advisor.assessment import VERDICTS
from rl_advisor.evals import scoring
from rl_advisor.judgement.going_on import FACTS

from evals import fit_going_on, fit_weights

GROUP = "proving ground"


def made_verdicts(labels: dict[str, Any], answers: Sequence[dict[str, Any]]) -> list[fit_weights.Row]:
    """The judged runs of the dev part, as the fit of the weights wants them."""
    rows = []
    for a in answers:
        label = labels[a["run"]]
        part = label if a["cut"] == 1 else label["cuts"][f"{a['cut']:g}"]
        if label["split"] == "dev" and a.get("amounts"):
            kin = fit_weights.Labelled(Path(), part["verdicts"][0], tuple(part["verdicts"]), f"{GROUP}/{label['task']}", GROUP)
            amounts = np.array([a["amounts"].get(name, np.nan) for name in fit_weights.NAMES])
            rows.append(fit_weights.Row(kin, amounts, np.array([a["said"][v] for v in VERDICTS])))
    return rows


def made_calls(labels: dict[str, Any], answers: Sequence[dict[str, Any]]) -> list[fit_going_on.Row]:
    """The same for going on."""
    rows = []
    for a in answers:
        label = labels[a["run"]]
        if label["split"] == "dev" and a.get("facts") and a["cut"] < 1:
            pays = label["cuts"][f"{a['cut']:g}"]["continue_pays"]
            asked = fit_going_on.Asked(Path(), None, None, pays, f"{GROUP}/{label['task']}", GROUP)
            rows.append(fit_going_on.Row(asked, np.array([a["facts"][name] for name in FACTS])))
    return rows


def verdicts(name: str, real: Sequence[fit_weights.Row], found: Any) -> None:
    """A line for each real set."""
    for group in sorted({r.label.group for r in real}):
        mine = [i for i, r in enumerate(real) if r.label.group == group]
        fit_weights.report(f"{name}: {group}", [real[i] for i in mine], found[mine])


def calls(name: str, real: Sequence[fit_going_on.Row], p: Any) -> None:
    """The same for going on."""
    truth = np.array([r.asked.pays for r in real])
    for group in sorted({r.asked.group for r in real}):
        k = np.array([r.asked.group == group for r in real])
        print(f"{name}: {group:22} {k.sum():4} | AUROC {scoring.auroc(truth[k], p[k]):.3f} Brier {scoring.brier(truth[k], p[k]):.3f}")


def real_rows(corpora: Sequence[Path], strangers: Path | None, workers: int) -> tuple[list[fit_weights.Row], list[fit_going_on.Row]]:
    """The real runs, read and measured."""
    labels = [run for folder in corpora for run in fit_weights.corpus_runs(folder)]
    asked = [one for folder in corpora for one in fit_going_on.of_corpus(folder)]
    if strangers:
        labels, asked = labels + list(fit_weights.strangers_runs(strangers)), asked + list(fit_going_on.of_strangers(strangers))

    def measured(pool: Any, measure: Callable[[Any], Any], what: Sequence[Any]) -> list[Any]:
        return [row for row in pool.imap(measure, what, chunksize=4) if row is not None]

    with Pool(workers) as pool:
        return measured(pool, fit_weights.row_of, labels), measured(pool, fit_going_on.row_of, asked)


def main() -> None:
    """Print what every set gains or loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--strangers", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    labels = json.loads((given.folder / "labels.json").read_text(encoding="utf-8"))
    answers = [json.loads(line) for line in (given.answers or given.folder / "answers.jsonl").open(encoding="utf-8")]
    made, asked = made_verdicts(labels, answers), made_calls(labels, answers)
    real, going = real_rows(given.corpora, given.strangers, given.workers)
    print(f"{len(real)} real verdicts, {len(going)} real calls; {len(made)} and {len(asked)} of the proving ground")
    verdicts("real alone", real, fit_weights.left_out(real))
    verdicts("with made ", real, fit_weights.left_out([*real, *made])[: len(real)])
    verdicts("made alone", real, fit_weights.fit(made).probabilities(real))
    calls("real alone", going, fit_going_on.left_out(going))
    calls("with made ", going, fit_going_on.left_out([*going, *asked])[: len(going)])
    calls("made alone", going, fit_going_on.fit(asked).probabilities(going))


if __name__ == "__main__":
    main()
