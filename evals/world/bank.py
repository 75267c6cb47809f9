"""What sound runs measured, as quantiles by metric, method, framework and phase: ``python -m evals.world.bank CORPUS... [--write]``.

A run is sound where every reader calls it improving or plateaued (of a corpus, where nothing is broken by its label; where nobody read
it, where its outcome rose and kept what it had). A repository is one vote, its runs share it, and a run speaks by the quantiles of its own
points, so that neither a long log nor one odd row counts for more.
A thin group is filled up from the wider one that it is part of. Prints how often runs of repositories left out lie outside, and how often
values are seen that are a hundred times too large or small.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from evals.world import table
from rl_advisor import tools
from rl_advisor.curves.outcomes import thriving
from rl_advisor.features.series import Floats
from rl_advisor.priors.bank import EARLY, FILE, LEVELS, Usual, groups, same, usual_of
from rl_advisor.priors.circumstances import circumstances
from rl_advisor.run import Run

SOUND = {"improving", "plateaued"}
WITHIN = np.linspace(0.02, 0.98, 25)
"""Of a run's own points: single odd rows are left out."""
FULL = 6.0
"""Repositories at which a group speaks for half of its own quantiles, and the wider group for the other."""
FEWEST = 4
"""Repositories from which a group is kept."""
ELSEWHERE = (
    *("reward/", "eval/", "progress/", "time/", "throughput/", "memory/", "episode/", "prompt/", "advantage/"),
    *("value/mean", "value/return", "value/loss", "policy/loss", "policy/total_loss"),
    *("policy/learning_rate", "entropy/coef", "kl/ref_coef", "ratio/clip_range", "exploration/rate"),
    *("response/truncated", "response/finished_length"),
)
"""Metrics whose size is that of the task or the machine, of which only a trend says something; what somebody set; and what is a defect even
in a run that improves: readers called runs sound in which every response is cut off."""
SUMMED = ("entropy/mean",)
"""What control sums over the dimensions of an action, so that its size is that of the robot."""
MOST_OUTSIDE = 0.05
"""Share of sound values of repositories left out that may lie outside what is called usual; of metrics with more nothing is said."""


@dataclass(frozen=True)
class Told:
    """What one run says of one metric in one phase."""

    metric: str
    phase: str
    repository: str
    groups: tuple[str, ...]
    values: Floats


def sound_runs(corpora: Sequence[Path]) -> Iterator[tuple[str, Run]]:
    """Every sound run and whose it is."""
    for world in table.worlds():
        run, said = world.run, set(world.told["verdicts"])
        if run is not None and (said <= SOUND if said else thriving(run)):
            yield world.repository, run
    for folder in corpora:
        for name, label in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
            if label["verdicts"][0] in SOUND and "none" in label.get("links", ["none"]):
                yield f"corpus/{folder.name}", tools.read(folder / "runs" / name)


def told(repository: str, run: Run) -> Iterator[Told]:
    """What a run says of every metric whose size travels, in each phase and over all of it."""
    among, end = groups(circumstances(run)), run.last_step
    for name, curve in run.curves.items():
        if not (curve.mapped or curve.guessed) or name.startswith(ELSEWHERE) or (name in SUMMED and "control" in among):
            continue
        step, value = curve.finite()
        for phase, here in (("early", step <= EARLY * end), ("late", step > EARLY * end), ("", step >= 0)):
            if here.any():
                yield Told(name, phase, repository, among, np.quantile(value[here], WITHIN))


def cells(rows: Iterable[Told]) -> dict[tuple[str, str, str], list[Told]]:
    """The rows of every metric, phase and group."""
    by: dict[tuple[str, str, str], list[Told]] = defaultdict(list)
    for row in rows:
        for group in row.groups:
            by[row.metric, row.phase, group].append(row)
    return by


def weights(rows: Sequence[Told]) -> Floats:
    """What each value of the rows weighs: a repository is one vote."""
    many: dict[str, int] = defaultdict(int)
    for row in rows:
        many[row.repository] += 1
    each = np.array([1 / many[r.repository] for r in rows]) / len(many)
    return np.repeat(each / WITHIN.size, WITHIN.size)


def quantiles(by: Mapping[tuple[str, str, str], list[Told]], cell: tuple[str, str, str], chain: Sequence[str]) -> Floats:
    """The quantiles of a group, filled up from the wider ones behind it in the chain."""
    values, share, left = [], [], 1.0
    metric, phase, _ = cell
    for i, group in enumerate(chain):
        rows = by.get((metric, phase, group), [])
        if not rows:
            continue
        own = len({r.repository for r in rows})
        part = left if i == len(chain) - 1 else left * own / (own + FULL)
        values.append(np.concatenate([r.values for r in rows]))
        share.append(part * weights(rows))
        left -= part
    return weighted(np.concatenate(values), np.concatenate(share))


def weighted(values: Floats, share: Floats) -> Floats:
    """Quantiles at LEVELS of values of unequal weight."""
    order = np.argsort(values)
    reach = np.cumsum(share[order])
    return np.asarray(np.interp(np.array(LEVELS) * reach[-1], reach - share[order] / 2, values[order]))


def bank(rows: Sequence[Told]) -> dict[str, dict[str, list[float]]]:
    """Metric -> "group phase" -> runs, repositories and quantiles."""
    by, out = cells(rows), defaultdict[str, dict[str, list[float]]](dict)
    for cell in sorted(by):
        mine = by[cell]
        owners = {r.repository for r in mine}
        if len(owners) >= FEWEST:
            chain = max((r.groups for r in mine), key=len)
            found = quantiles(by, cell, chain[chain.index(cell[2]) :])
            out[cell[0]][f"{cell[2]} {cell[1]}".strip()] = [len(mine), len(owners), *(float(f"{q:.3g}") for q in found)]
    return dict(out)


def left_out(rows: Sequence[Told], folds: int = 12) -> dict[str, list[tuple[float, float]]]:
    """Metric -> for every run of a repository left out: the share of it that is outside, and of shifted values that are seen."""
    owners, out = sorted({r.repository for r in rows}), defaultdict[str, list[tuple[float, float]]](list)
    for k in range(folds):
        away = set(owners[k::folds])
        made = bank([r for r in rows if r.repository not in away])
        for row in rows:
            known = usual_of(made, row.metric, same(row.groups), row.phase) if row.repository in away else None
            if known is not None:
                out[row.metric].append((outside(known, row.values), sum(outside(known, row.values * f) for f in (0.01, 100)) / 2))
    return out


def outside(known: Usual, values: Floats) -> float:
    """Share of values that are not usual."""
    return float(np.mean([not known.least <= v <= known.most for v in values]))


def main() -> None:
    """Prints the bank's figures, and writes it when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for repository, run in sound_runs(asked.corpora) for row in told(repository, run)]
    found = left_out(rows)
    seen = {name: np.mean(pairs, axis=0) for name, pairs in sorted(found.items())}
    for name, (wrong, right) in seen.items():
        print(f"{name:28} {len(found[name]):4} | outside {wrong:.3f} | a hundredfold seen {right:.2f}")
    print(f"mean over metrics: {np.mean(list(seen.values()), axis=0).round(3)}")
    if asked.write:
        made = bank([r for r in rows if r.metric in seen and seen[r.metric][0] <= MOST_OUTSIDE])
        FILE.write_text(json.dumps(made, separators=(",", ":")).replace('},"', '},\n"') + "\n", encoding="utf-8")
        print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
