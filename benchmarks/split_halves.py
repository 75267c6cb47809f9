"""Stopping and checkpoints on real evaluation logs, without anybody's labels: half of the episodes ask, the other half answers.

Of every run of the table of strangers' runs whose evaluations keep their episodes (``evals/world/episodes.parquet``) the advisor sees the
even ones up to a quarter, half and three quarters of the run; the odd ones say whether going on brought a better checkpoint and how good
the named checkpoint is. A repository is one vote.

Run ``python benchmarks/split_halves.py``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from evals.world import episodes, table
from rl_advisor.evals.scoring import auroc, balanced_accuracy, brier
from rl_advisor.features.bins import running_mean
from rl_advisor.run import Checkpoint, Curve, Floats, Run
from rl_advisor.tools.advisors.builtin import assess

CUTS = (0.25, 0.5, 0.75)


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

    repository: str
    cut: float
    p: float
    goes_on: bool
    pays: bool
    regret: float
    plain_regret: float
    broken: bool


def halves(log: episodes.Kept, share: float = 0.05) -> Halves | None:
    """The two halves of an evaluation log; None where there are too few evaluations or all are alike."""
    if log.step.size < episodes.FEWEST or not log.range > 0:
        return None
    hidden = running_mean(log.odd, log.width)
    return Halves(log.id, log.step, log.even, hidden, log.width, share * log.range, log.range)


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
            repository=table.world(log.name).repository,
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
    found = [h for log in episodes.kept().values() if (h := halves(log)) is not None]
    rows = [row for log in found for row in asked(log)]
    many = Counter(r.repository for r in rows)
    print(f"{len(found)} runs of {len(many)} repositories with at least {episodes.FEWEST} evaluations of two or more episodes")
    print("cut     n  pays  goes on  balanced acc.  AUROC  Brier  regret  of smoothed arg-max  called broken")
    for cut in (*CUTS, None):
        part = [r for r in rows if cut in (None, r.cut)]
        pays, p = np.array([r.pays for r in part]), np.array([r.p for r in part])
        goes, weight = np.array([r.goes_on for r in part]), [1 / many[r.repository] for r in part]
        ours, plain = (np.average([getattr(r, which) for r in part], weights=weight) for which in ("regret", "plain_regret"))
        scores = f"{balanced_accuracy(pays, goes):13.3f}  {auroc(pays, p):5.3f}  {brier(pays, p):5.3f}"
        told = f"{len(part):4}  {pays.mean():4.2f}  {goes.mean():7.2f}  {scores}  {ours:6.4f}  {plain:19.4f}"
        print(f"{cut or 'all'!s:4} {told}  {sum(r.broken for r in part):13}")


if __name__ == "__main__":
    main()
