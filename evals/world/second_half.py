"""What going on brought in real runs, and what it costs to stop by a rule: ``python -m evals.world.second_half CORPUS... [--write]``.

At a quarter, a half and three quarters of a run: does the outcome get better afterwards than it had been, by more than matters, in how many
of the courses that fit all of its points? That is measured and nobody's opinion; what it cannot know is what a run that was cut early would
have brought. Each rule stops a run at the first cut at which it says so. A repository is one vote, and what is fitted saw none of it.
"""

import argparse
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from evals.lab.pages import STRANGERS
from evals.lab.table import text_table
from evals.world import table
from evals.world.halves import CUTS, Half, halves
from rl_advisor.curves.outcomes import outcome
from rl_advisor.evals import scoring
from rl_advisor.features.series import Floats
from rl_advisor.finding import VERDICTS
from rl_advisor.judgement.going_on import FACTS
from rl_advisor.run import Run

from evals import fit_going_on, fit_weights

RIDGE = 5.0
POWERS = (0.25, 0.5, 1.0, 2.0)
"""Ways in which a fitted learning curve flattens."""
RUNS = 1
"""Runs of a repository that are asked: it is one vote, and each run costs a judgement at each cut."""
SLIGHT = 0.01
"""Share of a range that no learning curve needs to foresee."""
PATIENCE = 1 / 3
"""Share of the steps so far without a better level after which patience ends."""

VERDICT = """\
Of {runs} labelled runs of {owners} public repositories, by weights that saw nothing of the repository: a verdict that one of two
readers would defend in {held:.0f} of 100, the very word of a reader in {own:.0f} of 100. A repository is one vote.
"""
SECTION = """\
## Runs of strangers

{verdicts}
What going on brought: {runs} runs of {owners} repositories, each cut at a quarter, a half and three quarters. The rest brought more
where it was better, by more than matters, than all before, in most of the courses that fit the points. That is measured, and no
reader's opinion; runs that were cut early are not among them. Twins are other seeds of the same training: what the rest brought to
them foresees what luck leaves to be foreseen.

{foreseen}

{elsewhere}

A rule stops a run at the first cut at which it says so. Lost is of the gain that came after the first quarter.

{costs}

{bound}
"""
ELSEWHERE = """\
Where evaluations keep their episodes ({runs} runs of {owners} repositories), a checkpoint is chosen by one half of them and scored on
the other. The best after a quarter, a half and three quarters is then better than the best before by {scored} of the
score's range; by the episodes that it was chosen on by {seen}."""
BOUND = """\
A quarter of the steps saved at a hundredth of the gain lost, as was asked for, is more than other seeds tell: who knew what other
seeds of the same training were brought ({runs} runs with twins), and stopped where that was next to never more, would lose
{lost:.2f} to save {saved:.2f}; only who knew the end of the very run could."""


@dataclass(frozen=True)
class Cut:
    """A run at a cut: what was known, and what the rest brought."""

    half: Half
    kind: str
    row: fit_going_on.Row
    fitted: float = float("nan")
    """The gain that a fit of a learning curve foresees, as a share of the range so far."""


def chosen() -> list[Half]:
    """The cuts of a few runs of each repository, evenly chosen, those with twins first."""
    by: dict[str, dict[str, list[Half]]] = defaultdict(lambda: defaultdict(list))
    for half in halves():
        by[table.world(half.id).repository][half.id].append(half)
    out = []
    for mine in by.values():
        names = [n for n in mine if np.isfinite(mine[n][0].twins)] or list(mine)
        out += [half for i in np.unique(np.linspace(0, len(names) - 1, RUNS).astype(int)) for half in mine[names[i]]]
    return out


def cut_of(half: Half) -> Cut | None:
    """A cut with what was known then; None where nothing was."""
    world = table.world(half.id)
    asked = fit_going_on.Asked(partial(table.run, half.id), half.share, None, half.brought, world.repository, f"at {half.share:g}")
    row = fit_going_on.row_of(asked)
    if row is None:
        return None
    run = table.run(half.id).until(half.share * table.run(half.id).last_step)
    return Cut(half, "language" if world.language else "other", row, fitted_gain(run, half.share))


def fitted_gain(run: Run, share: float) -> float:
    """By how much a curve that flattens by a power of the steps, fitted by least squares to the logged outcome, still rises to the end."""
    curve = outcome(run)
    step, value = curve.finite() if curve is not None else (np.zeros(0), np.zeros(0))
    if step.size < len(POWERS) or not np.ptp(value):
        return float("nan")
    when, end, found = (step - step[0]) / (step[-1] - step[0]) + 0.05, 1 / share + 0.05, []
    for power in POWERS:
        x = np.column_stack([np.ones(step.size), -(when**-power)])
        fit, *_ = np.linalg.lstsq(x, value, rcond=None)
        rise = fit[1] * (when[-1] ** -power - end**-power)
        found.append((float(((value - x @ fit) ** 2).sum()), float(rise)))
    return min(found)[1] / float(np.ptp(value))


def votes(cuts: Sequence[Cut]) -> Floats:
    """What each cut weighs: a repository is one vote."""
    many = Counter(c.row.asked.kin for c in cuts)
    return np.array([1 / many[c.row.asked.kin] for c in cuts])


def cost(cuts: Sequence[Cut], stops: Callable[[int], bool]) -> tuple[float, float]:
    """Share of the gain after the first cut that a rule loses, and share of the steps that it saves; a run stops at its first such cut."""
    by: dict[str, list[int]] = defaultdict(list)
    for i, c in enumerate(cuts):
        by[c.half.id].append(i)
    weight = dict(zip(by, votes([cuts[mine[0]] for mine in by.values()]), strict=True))
    lost = gain = saved = total = 0.0
    for id_, mine in by.items():
        first, at = cuts[mine[0]], next((cuts[i] for i in mine if stops(i)), None)
        w = weight[id_]
        gain += w * first.half.gain
        lost += w * at.half.gain if at else 0.0
        saved += w * (1 - at.half.share) if at else 0.0
        total += w
    return lost / gain, saved / total


def gains(cuts: Sequence[Cut]) -> Floats:
    """The gain that is still to come, by a ridge on the facts, the share done and the time since the best that saw no kin of the run."""
    x = np.array([np.r_[c.row.facts, c.half.stale, c.half.share] for c in cuts])
    y, kin, weight = np.array([c.half.gain for c in cuts]), np.array([c.row.asked.kin for c in cuts]), np.sqrt(votes(cuts))
    owners, out = sorted(set(kin)), np.zeros(len(cuts))
    for k in range(fit_going_on.FOLDS):
        away = np.isin(kin, owners[k :: fit_going_on.FOLDS])
        usual, spread = x[~away].mean(axis=0), x[~away].std(axis=0) + 1e-9
        z = np.column_stack([np.ones(len(x)), np.clip((x - usual) / spread, -4, 4)])
        w = weight[~away, None] / weight[~away].mean()
        square = z[~away].T @ (w * z[~away]) + np.diag([0.0, *np.full(x.shape[1], RIDGE)])
        out[away] = z[away] @ np.linalg.solve(square, z[~away].T @ (w[:, 0] * y[~away]))
    return out


def rules(cuts: Sequence[Cut], p: Floats) -> Iterator[tuple[str, Callable[[int], bool]]]:
    """Every rule by its name: whether it stops a run at a cut."""
    ahead = list(FACTS).index("forecast")
    yield "always go on", lambda _: False
    yield "patience of a third", lambda i: cuts[i].half.stale > PATIENCE
    yield "the curve's forecast alone", lambda i: bool(cuts[i].row.facts[ahead] < 0)
    yield "a fitted learning curve", lambda i: bool(cuts[i].fitted < SLIGHT)
    for least in (0.1, 0.2, 0.3, 0.4, 0.5):
        yield f"fitted, below {least:g}", partial(_below, p, least)
    ahead_by = gains(cuts)
    for share in (0.1, 0.2, 0.3, 0.4):
        yield f"least {share:.0%} of gains foreseen", partial(_below, ahead_by, float(np.quantile(ahead_by, share)))
    left = np.array([c.half.gain for c in cuts])
    yield "who knew the end, gain below 1%", partial(_below, left, 0.01)
    yield "who knew the end, gain below 3%", partial(_below, left, 0.03)


def _below(p: Floats, least: float, place: int) -> bool:
    return bool(p[place] < least)


def foreseen(cuts: Sequence[Cut], p: Floats) -> str:
    """How well what the rest brings is foreseen, by kind and cut; where a run has twins, how well what they were brought foresees it."""
    truth, weight, rows = np.array([c.half.brought for c in cuts]) > fit_going_on.DIFFER, votes(cuts), []
    twins = np.array([c.half.twins for c in cuts])
    for kind in ("language", "other"):
        for share in CUTS:
            mine = np.array([c.half.share == share and c.kind == kind for c in cuts])
            paired = mine & np.isfinite(twins)
            y, q = truth[mine], p[mine]
            figures = (np.average(y, weights=weight[mine]), scoring.auroc(y, q), scoring.balanced_accuracy(y, q >= 0.5))
            pair = (scoring.auroc(truth[paired], p[paired]), scoring.auroc(truth[paired], twins[paired]))
            told = [f"{x:.2f}" for x in figures], [f"{x:.2f}" for x in pair]
            rows.append([f"{kind}, after {share:.0%}", str(mine.sum()), *told[0], str(paired.sum()), *told[1]])
    return text_table(("runs", "n", "brought more", "AUROC", "balanced accuracy", "with twins", "AUROC there", "of the twins"), rows)


def costs(cuts: Sequence[Cut], p: Floats) -> str:
    """What each rule loses and saves."""
    rows = [[name, *(f"{x:.3f}" for x in cost(cuts, rule))] for name, rule in rules(cuts, p)]
    return text_table(("rule", "share of the gain lost", "share of the steps saved"), rows)


def bound(cuts: Sequence[Cut]) -> str:
    """What it costs to stop by what other seeds were brought: as much as luck leaves to be known."""
    twins = [c for c in cuts if np.isfinite(c.half.twins)]
    lost, saved = cost(twins, lambda i: twins[i].half.twins < SLIGHT)
    return BOUND.format(runs=len({c.half.id for c in twins}), lost=lost, saved=saved)


def elsewhere() -> str:
    """What the rest brings where the choice of a checkpoint is scored on other episodes than it was made on, a repository one vote."""
    known = [h for h in halves() if np.isfinite(h.elsewhere)]
    many = Counter((table.world(h.id).repository, h.share) for h in known)
    told: dict[str, list[str]] = {"elsewhere": [], "chosen": []}
    for share in CUTS:
        mine = [h for h in known if h.share == share]
        weight = [1 / many[table.world(h.id).repository, share] for h in mine]
        for name, shares in told.items():
            shares.append(f"{np.average([getattr(h, name) for h in mine], weights=weight):.2f}")
    scored, seen = (f"{a}, {b} and {c}" for a, b, c in told.values())
    owners = {owner for owner, _ in many}
    return ELSEWHERE.format(runs=len({h.id for h in known}), owners=len(owners), scored=scored, seen=seen)


def verdicts(rows: Sequence[fit_weights.Row]) -> str:
    """In how many runs the verdict is one that a reader would defend, a repository one vote, by weights that saw nothing of it."""
    away, real = fit_weights.left_out(rows), [i for i, r in enumerate(rows) if r.label.group == fit_weights.STRANGERS]
    kin = Counter(rows[i].label.kin for i in real)
    weight = np.array([1 / kin[rows[i].label.kin] for i in real])
    said = [VERDICTS[away[i].argmax()] for i in real]
    held = np.average([v in rows[i].label.admitted for v, i in zip(said, real, strict=True)], weights=weight)
    own = np.average([np.mean([v == m for m in rows[i].label.mains]) for v, i in zip(said, real, strict=True)], weights=weight)
    return VERDICT.format(runs=len(real), owners=len(kin), held=100 * held, own=100 * own)


def page(cuts: Sequence[Cut], p: Floats, rows: Sequence[fit_weights.Row]) -> str:
    """The section about strangers' runs."""
    told: dict[str, object] = {"runs": len({c.half.id for c in cuts}), "owners": len({c.row.asked.kin for c in cuts})}
    told |= {"elsewhere": elsewhere(), "bound": bound(cuts)}
    return SECTION.format(verdicts=verdicts(rows), foreseen=foreseen(cuts, p), costs=costs(cuts, p), **told)


def main() -> None:
    """Measures every run of the table that is long enough, fits with repositories left out, and prints or writes the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with multiprocessing.Pool(2) as pool:
        cuts = [cut for cut in pool.map(cut_of, chosen(), chunksize=6) if cut is not None]
    rows = fit_weights.fitted(asked.corpora)
    judged = fit_going_on.judged([c.row for c in cuts], fit_weights.fits(rows))
    told = page([replace(c, row=row) for c, row in zip(cuts, judged, strict=True)], fit_going_on.left_out(judged), rows)
    print(told)
    if asked.write:
        STRANGERS.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
