"""Stopping and checkpoints on real evaluation logs, without anybody's labels: half of the episodes ask, the other half answers.

Every ``evaluations.npz`` under a folder (Stable-Baselines3's EvalCallback keeps the return of every evaluation episode) is split: the
advisor sees the even episodes up to a quarter, half and three quarters of the run, the odd ones say whether going on brought a better
checkpoint and how good the named checkpoint is. Tuned runs of strangers for it are those of DLR-RM/rl-trained-agents.

Run ``python benchmarks/split_halves.py FOLDER``.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rl_advisor.evals.scoring import auroc, balanced_accuracy, brier
from rl_advisor.features.bins import running_mean
from rl_advisor.run import Checkpoint, Curve, Floats, Run
from rl_advisor.tools.advisors.builtin import assess

CUTS = (0.25, 0.5, 0.75)
FEWEST = 12
"""Evaluations below which three prefixes make no sense."""


@dataclass(frozen=True)
class Halves:
    """The evaluations of one run: two independent scores at each step, and the scale on which a difference counts."""

    name: str
    step: Floats
    seen: Floats
    hidden: Floats
    width: int
    matters: float
    spread: float


@dataclass(frozen=True)
class Asked:
    """What was said about one prefix, and what the hidden episodes say."""

    run: str
    cut: float
    p: float
    goes_on: bool
    pays: bool
    regret: float
    plain_regret: float
    broken: bool


def halves(path: Path, share: float = 0.05) -> Halves | None:
    """The two halves of an evaluation log; None where there are too few evaluations or episodes."""
    with np.load(path, allow_pickle=False) as data:
        step, results = data["timesteps"].astype(np.float64), data["results"].astype(np.float64)
    if results.ndim != 2 or len(step) < FEWEST or results.shape[1] < 2:
        return None
    width = max(3, len(step) // 40)
    both = running_mean(results.mean(axis=1), width)
    spread = float(np.quantile(both, 0.98) - both.min())
    error = float(np.median(results.std(axis=1)) / np.sqrt(results.shape[1] / 2 * width))
    hidden = running_mean(results[:, 1::2].mean(axis=1), width)
    return Halves(str(path.parent), step, results[:, ::2].mean(axis=1), hidden, width, max(share * spread, 2 * error), spread)


def as_run(log: Halves) -> Run:
    """The run as an advisor sees it: the seen half, with a checkpoint at every evaluation."""
    curve = Curve("eval/score/mean_reward", "eval/mean_reward", "evaluations", log.step, log.seen, mapped=True)
    saved = tuple(Checkpoint(int(s), f"checkpoint-{int(s)}") for s in log.step)
    return Run(name="run", curves={curve.name: curve}, checkpoints=saved, planned_steps=int(log.step[-1]), frameworks=("sb3",))


def asked(log: Halves) -> Iterator[Asked]:
    """The advisor's answers at every cut beside what the hidden half says."""
    run, smooth = as_run(log), running_mean(log.seen, log.width)
    for cut in CUTS:
        k = max(5, int(cut * len(log.step)))
        answer = assess(replace(run.until(float(log.step[k - 1])), planned_steps=run.planned_steps))
        before, after = int(np.argmax(smooth[:k])), k + int(np.argmax(smooth[k:]))
        plain = int(np.argmax(running_mean(log.seen[:k], max(3, k // 40))))
        best = float(log.hidden[:k].max())
        named = answer.best_checkpoint.step
        at = int(np.argmin(np.abs(log.step - named))) if named is not None else k - 1
        scale = max(log.spread, 1e-12)
        yield Asked(
            run=log.name,
            cut=cut,
            p=answer.p_continue_pays,
            goes_on=answer.call == "continue",
            pays=bool(log.hidden[after] - log.hidden[before] > log.matters),
            regret=(best - float(log.hidden[at])) / scale,
            plain_regret=(best - float(log.hidden[plain])) / scale,
            broken=answer.first_broken_link not in (None, "none"),
        )


def main() -> None:
    """Prints the figures for each cut and for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    found = [h for p in sorted(parser.parse_args().folder.rglob("evaluations.npz")) if (h := halves(p)) is not None]
    rows = [row for log in found for row in asked(log)]
    print(f"{len(found)} runs with at least {FEWEST} evaluations of two or more episodes")
    print("cut     n  pays  goes on  balanced acc.  AUROC  Brier  regret  of smoothed arg-max  called broken")
    for cut in (*CUTS, None):
        part = [r for r in rows if cut in (None, r.cut)]
        pays, p = np.array([r.pays for r in part]), np.array([r.p for r in part])
        goes = np.array([r.goes_on for r in part])
        ours, plain = np.mean([r.regret for r in part]), np.mean([r.plain_regret for r in part])
        scores = f"{balanced_accuracy(pays, goes):13.3f}  {auroc(pays, p):5.3f}  {brier(pays, p):5.3f}"
        broken = sum(r.broken for r in part)
        print(
            f"{cut or 'all'!s:4} {len(part):4}  {pays.mean():4.2f}  {goes.mean():7.2f}  {scores}  {ours:6.4f}  {plain:19.4f}  {broken:13}"
        )


if __name__ == "__main__":
    main()
