"""What sound runs measured, as quantiles by metric, method, framework and phase: ``python -m evals.world.bank CORPUS... [--write]``.

A run is sound where every reader calls it improving or plateaued (of a corpus, where nothing is broken by its label; where nobody read
it, where its outcome rose and kept what it had). A repository is one vote, its runs share it, and a run speaks by the quantiles of its own
points, so that neither a long log nor one odd row counts for more.
A thin group is filled up from the wider one that it is part of. How far a band reaches is fitted, for each metric of language models and of
control: the narrowest of BANDS outside of which few values of repositories left out lie; where none is, nothing is said. Prints how often
they lie outside, with repositories and with frameworks left out, and how often values are seen that are a hundred times too large or
small, and such as the table of priors calls broken.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from evals.world import table
from rl_advisor import tools
from rl_advisor.curves.outcomes import thriving
from rl_advisor.features.series import Floats
from rl_advisor.priors import Circumstances, Prior, prior
from rl_advisor.priors import table as priors
from rl_advisor.priors.bank import EARLY, FILE, Usual, groups, same, usual_of
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
    *("reward/", "eval/", "progress/", "time/", "throughput/", "memory/", "episode/", "prompt/"),
    *("value/mean", "value/return", "value/loss", "policy/total_loss"),
    *("policy/learning_rate", "entropy/coef", "kl/ref_coef", "ratio/clip_range", "exploration/rate"),
    *("response/truncated", "response/finished_length"),
)
"""Metrics whose size is that of the task or the machine, of which only a trend says something; what somebody set; and what is a defect even
in a run that improves: readers called runs sound in which every response is cut off."""
OF_THE_TASK = {"entropy/mean": "control", "policy/loss": "replay"}
"""What control sums over the dimensions of an action, and what is a value of the critic: there the size is that of the task."""
BANDS = ((0.02, 0.0), (0.01, 0.0), (0.005, 0.0), (0.001, 0.0), (0.001, 0.25), (0.001, 0.5), (0.001, 1.0))
"""Ways to bound what is usual, the narrowest first: the share of values beyond each bound, and how far the bound is moved outwards, in
widths of its half."""
INNER = (0.05, 0.5, 0.95)
LEVELS = tuple(sorted({*INNER, *(share for share, _ in BANDS), *(1 - share for share, _ in BANDS)}))
MOST_OUTSIDE = 0.05
"""Share of sound values of repositories left out that may lie outside what is called usual; of metrics with more nothing is said."""
FOLDS = 12
BEYOND = 1.1
"""How far beyond what the table of priors calls possible a value is that must be seen."""
Cell, Kind = tuple[str, str, str], tuple[str, str]
Measured = Mapping[str, Mapping[str, tuple[Kind, int, int, Mapping[float, float]]]]


@dataclass(frozen=True)
class Told:
    """What one run says of one metric in one phase."""

    metric: str
    phase: str
    repository: str
    groups: tuple[str, ...]
    values: Floats

    @property
    def kind(self) -> Kind:
        """The metric, and whether of language models or of control: what a band is fitted for."""
        return self.metric, self.groups[-1] if self.groups else ""


@dataclass(frozen=True)
class Found:
    """How a band does on a run left out: shares of its values, of those a hundred times off, and of those that are broken by the table."""

    told: Told
    outside: float
    hundredfold: float
    broken: float


def sound_runs(corpora: Sequence[Path]) -> Iterator[tuple[str, Run, Circumstances]]:
    """Every sound run, whose it is, and how it trains."""
    for world in table.worlds():
        run, said = world.run, set(world.told["verdicts"])
        if run is not None and (said <= SOUND if said else thriving(run)):
            known = circumstances(run)
            yield world.repository, run, replace(known, method="language") if world.language and known.method is None else known
    for folder in corpora:
        for name, label in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
            if label["verdicts"][0] in SOUND and "none" in label.get("links", ["none"]):
                run = tools.read(folder / "runs" / name)
                yield f"corpus/{folder.name}", run, circumstances(run)


def told(repository: str, run: Run, known: Circumstances) -> Iterator[Told]:
    """What a run says of every metric whose size travels, in each phase and over all of it; nothing of one that is broken by the table."""
    among, end = groups(known), run.last_step
    for name, curve in run.curves.items():
        if not (curve.mapped or curve.guessed) or name.startswith(ELSEWHERE) or OF_THE_TASK.get(name) in among:
            continue
        step, value = curve.finite()
        said = by_table(name, same(among)[-1]) if among else None
        if said is not None and value.size and not said.possible[0] <= np.median(value) <= said.possible[1]:
            continue
        for phase, here in (("early", step <= EARLY * end), ("late", step > EARLY * end), ("", step >= 0)):
            if here.any():
                yield Told(name, phase, repository, among, np.quantile(value[here], WITHIN))


def cells(rows: Iterable[Told]) -> dict[Cell, list[Told]]:
    """The rows of every metric, phase and group."""
    by: dict[Cell, list[Told]] = defaultdict(list)
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


def quantiles(by: Mapping[Cell, list[Told]], cell: Cell, chain: Sequence[str]) -> dict[float, float]:
    """The quantiles of a group at LEVELS, filled up from the wider ones behind it in the chain."""
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
    return dict(zip(LEVELS, weighted(np.concatenate(values), np.concatenate(share)), strict=True))


def weighted(values: Floats, share: Floats) -> list[float]:
    """Quantiles at LEVELS of values of unequal weight."""
    order = np.argsort(values)
    reach = np.cumsum(share[order])
    return [float(q) for q in np.interp(np.array(LEVELS) * reach[-1], reach - share[order] / 2, values[order])]


def beyond(end: float, middle: float, reach: float) -> float:
    """A quantile moved outwards: by a factor where it has the sign of the middle and is larger, by its distance where it is not."""
    if end * middle > 0 and abs(end) != abs(middle):
        return float(end * (end / middle) ** reach)
    return end + reach * (end - middle)


def measured(rows: Sequence[Told]) -> Measured:
    """Metric -> "group phase" -> its kind, runs, repositories and quantiles."""
    by, out = cells(rows), defaultdict[str, dict[str, tuple[Kind, int, int, dict[float, float]]]](dict)
    for cell, mine in by.items():
        owners = {r.repository for r in mine}
        if len(owners) >= FEWEST:
            chain = max((r.groups for r in mine), key=len)
            name = f"{cell[2]} {cell[1]}".strip()
            out[cell[0]][name] = (mine[0].kind, len(mine), len(owners), quantiles(by, cell, chain[chain.index(cell[2]) :]))
    return out


def bank(found: Measured, bands: Mapping[Kind, tuple[float, float]]) -> dict[str, dict[str, list[float]]]:
    """Metric -> "group phase" -> runs, repositories, the least that is usual, low, middle, high and the most; of what has a band."""
    out: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for metric in sorted(found):
        for name, (kind, runs, owners, q) in sorted(found[metric].items()):
            if kind in bands:
                share, reach = bands[kind]
                ends = (beyond(q[level], q[0.5], reach) for level in (share, 1 - share))
                least, most = meant(metric, name, *ends)
                out[metric][name] = [runs, owners, *(float(f"{x:.3g}") for x in (least, q[0.05], q[0.5], q[0.95], most))]
    return dict(out)


def meant(metric: str, group: str, least: float, most: float) -> tuple[float, float]:
    """The bounds, on a side for which the table of priors has no words at what it calls possible."""
    said = by_table(metric, group)
    if said is not None and not said.below:
        least = min(least, said.possible[0])
    return least, max(most, said.possible[1]) if said is not None and not said.above else most


@cache
def by_table(metric: str, group: str) -> Prior | None:
    """What the table of priors says of a metric in a group."""
    return prior(metric, Circumstances(method=group.partition(" ")[0].partition("/")[0])) if metric in priors() else None


def repositories(rows: Sequence[Told]) -> Iterator[set[int]]:
    """Places of rows that are left out together: of a twelfth of the repositories."""
    owners = sorted({r.repository for r in rows})
    for k in range(FOLDS):
        away = set(owners[k::FOLDS])
        yield {i for i, r in enumerate(rows) if r.repository in away}


def frameworks(rows: Sequence[Told]) -> Iterator[set[int]]:
    """Places of rows that are left out together: of one framework."""
    for framework in sorted({r.groups[0] for r in rows if r.groups and "/" in r.groups[0]}):
        yield {i for i, r in enumerate(rows) if r.groups and r.groups[0] == framework}


def left_out(rows: Sequence[Told], folds: Iterable[set[int]]) -> dict[tuple[float, float], dict[Kind, list[Found]]]:
    """Band -> metric and kind -> how it does on every run left out of which something is said."""
    out = {band: defaultdict[Kind, list[Found]](list) for band in BANDS}
    for away in folds:
        found = measured([r for i, r in enumerate(rows) if i not in away])
        for band in BANDS:
            made = bank(found, {r.kind: band for r in rows})
            for row in (rows[i] for i in away):
                known = usual_of(made, row.metric, same(row.groups), row.phase)
                if known is not None:
                    far = float(np.mean([outside(known, row.values * f) for f in (0.01, 100)]))
                    out[band][row.kind].append(Found(row, outside(known, row.values), far, outside(known, broken(row))))
    return out


def broken(row: Told) -> Floats:
    """Values just beyond what the table of priors calls possible, where its rows say what that means."""
    said = by_table(row.metric, same(row.groups)[-1])
    ends = [] if said is None else [e for e, means in zip(said.possible, (said.below, said.above), strict=True) if means and np.isfinite(e)]
    return np.array([e * BEYOND if (e > 0) == (i == len(ends) - 1) else e / BEYOND for i, e in enumerate(ends) if e != 0])


def outside(known: Usual, values: Floats) -> float:
    """Share of values that are not usual; NaN of none."""
    return float(np.mean([not known.least <= v <= known.most for v in values])) if values.size else float("nan")


def voted(found: Sequence[Found]) -> tuple[float, float, float]:
    """The shares, a repository one vote."""
    many: dict[str, int] = defaultdict(int)
    for f in found:
        many[f.told.repository] += 1
    share = np.array([1 / many[f.told.repository] for f in found])
    rows = np.array([(f.outside, f.hundredfold, f.broken) for f in found])
    some = [np.isfinite(rows[:, i]) for i in range(3)]
    means = [float(np.average(rows[s, i], weights=share[s])) if s.any() else float("nan") for i, s in enumerate(some)]
    return means[0], means[1], means[2]


def main() -> None:
    """Prints the bank's figures, and writes it when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for repository, run, known in sound_runs(asked.corpora) for row in told(repository, run, known)]
    seen, strange, bands = left_out(rows, repositories(rows)), left_out(rows, frameworks(rows)), {}
    for kind in sorted({r.kind for r in rows}):
        fits = (band for band in BANDS if seen[band][kind] and voted(seen[band][kind])[0] <= MOST_OUTSIDE)
        if (band := next(fits, None)) is not None:
            bands[kind] = band
            wrong, far, wild = voted(seen[band][kind])
            other = voted(strange[band][kind])[0] if strange[band][kind] else float("nan")
            figures = f"outside {wrong:.3f} ({other:.3f} of frameworks), hundredfold {far:.2f}, broken {wild:.2f}"
            print(f"{kind[0]:24} {kind[1]:8} {band!s:13} {figures}")
    means = np.nanmean([voted(seen[band][kind]) for kind, band in bands.items()], axis=0)
    print(f"{len(bands)} metrics and kinds: outside {means[0]:.3f}, a hundredfold seen {means[1]:.3f}, what is broken seen {means[2]:.3f}")
    if asked.write:
        lines = json.dumps(bank(measured(rows), bands), separators=(",", ":")).replace('},"', '},\n"')
        FILE.write_text(lines + "\n", encoding="utf-8")
        print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
