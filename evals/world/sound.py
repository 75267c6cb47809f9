"""What sound runs measured, as quantiles by metric, method, framework and phase.

A run is sound where every reader calls it improving or plateaued (of a corpus, where nothing is broken by its label; where nobody read
it, where its outcome rose and kept what it had). A repository is one vote, its runs share it, and a run speaks by the quantiles of its own
points, so that neither a long log nor one odd row counts for more. A thin group is filled up from the wider one that it is part of.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from evals.world import table
from rl_advisor import tools
from rl_advisor.features.series import Floats
from rl_advisor.run import Run
from rl_advisor.settings.conditions import View
from rl_advisor.settings.priors import Circumstances, Prior, prior
from rl_advisor.settings.priors import table as priors
from rl_advisor.settings.priors.bank import EARLY, groups, same
from rl_advisor.settings.priors.circumstances import circumstances

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
SHARES = (0.05, 0.045, 0.04, 0.035, 0.03, 0.025, 0.02, 0.015, 0.01, 0.0075, 0.005, 0.0025, 0.001)
LEVELS = tuple(sorted({0.5, *SHARES, *(1 - share for share in SHARES)}))
Cell = tuple[str, str, str]
Kind = tuple[str, str]
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


def sound_runs(corpora: Sequence[Path]) -> Iterator[tuple[str, Run, Circumstances]]:
    """Every sound run, whose it is, and how it trains."""
    for world in table.worlds():
        run, said = world.run, set(world.told["verdicts"])
        if run is not None and (said <= SOUND if said else View(run).so(["thriving run"])):
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


@cache
def by_table(metric: str, cell: str) -> Prior | None:
    """What the table of priors says of a metric in a group and phase."""
    group, _, phase = cell.partition(" ")
    method, _, framework = group.partition("/")
    known = Circumstances(method=method, framework=framework or None, phase=phase or None)
    return prior(metric, known) if metric in priors() else None
