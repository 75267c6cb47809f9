"""The bank of what is usual: ``python -m evals.world.bank CORPUS... [--write]``, from what ``sound`` measured.

What is unusual is fitted for each metric of language models and of control, as the product says it, by the bank and the table of priors
together: of all BANDS outside of which few sound values of repositories left out lie, the one that sees most values that are a hundred
times too large or small; where there is none, nothing is said. The same with whole frameworks left out bounds what is said to runs of a
framework that the bank does not know. Prints how often sound values lie outside (in brackets by a band that was chosen without them), and
how often those are seen that readers of broken runs named (``broken.toml``).
"""

import argparse
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from evals.world.sound import SHARES, Kind, Measured, Told, by_table, measured, sound_runs, told
from rl_advisor.features.series import Floats
from rl_advisor.settings.priors.bank import FILE, same

NEAR = SHARES[:9]
"""Shares of values beyond a bound that counts where the table of priors calls them unusual as well."""
FAR = (*((share, 0.0) for share in SHARES), *((SHARES[-1], reach) for reach in (0.1, 0.25, 0.5, 1.0)))
"""The same for a bound that counts by itself, and how far it is moved outwards, in widths of its half."""
BANDS = tuple((near, *far) for far in FAR for near in NEAR if near >= far[0])
INNER = (0.05, 0.5, 0.95)
MOST_OUTSIDE = 0.05
"""Share of sound values of repositories and of frameworks left out that may be called unusual; of metrics with more nothing is said."""
FOLDS = 12
SLACK = 1e-3
"""A bound is met by a value that was rounded."""
Band = tuple[float, float, float]


@dataclass(frozen=True)
class Found:
    """What a run left out shows of each of BANDS: the share of its values outside, of those a hundred times off, and named values seen."""

    told: Told
    fold: int
    outside: Floats
    hundredfold: Floats
    named: Floats


def beyond(end: float, middle: float, reach: float) -> float:
    """A quantile moved outwards: by a factor where it has the sign of the middle and is larger, by its distance where it is not."""
    if end * middle > 0 and abs(end) != abs(middle):
        return float(end * (end / middle) ** reach)
    return end + reach * (end - middle)


def bank(found: Measured, bands: Mapping[Kind, Band], strange: Mapping[Kind, Band]) -> dict[str, dict[str, list[float]]]:
    """Metric -> "group phase" -> runs, repositories, the least that is usual, low, middle, high and the most; of what has a band.

    A group of many frameworks tells as well, where it is known, the least and the most among frameworks that are not of it.
    """
    out: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for metric in sorted(found):
        for name, (kind, runs, owners, q) in sorted(found[metric].items()):
            if kind in bands:
                least, most = bounds(metric, name, q, bands[kind])
                ends = [(least, most), *([bounds(metric, name, q, strange[kind])] if kind in strange and "/" not in name else [])]
                others = (min(low for low, _ in ends), max(high for _, high in ends)) if len(ends) > 1 else ()
                told = (least, *(q[level] for level in INNER), most, *others)
                out[metric][name] = [runs, owners, *(float(f"{x:.3g}") for x in told)]
    return dict(out)


def bounds(metric: str, cell: str, q: Mapping[float, float], band: Band) -> tuple[float, float]:
    """What is usual by the bank and the table of priors together; a side for which that has no words is open to what it calls possible."""
    near, far, reach = band
    least, most = (beyond(q[level], q[0.5], reach) for level in (far, 1 - far))
    said = by_table(metric, cell)
    if said is None:
        return least, most
    least = max(least, min(said.usual[0], q[near]), said.possible[0]) if said.below else min(least, said.possible[0])
    least = min(least, 0.0) if said.usual[0] <= 0 else least  # nothing is as usual as little where the table allows it
    return least, min(most, max(said.usual[1], q[1 - near]), said.possible[1]) if said.above else max(most, said.possible[1])


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


def left_out(rows: Sequence[Told], folds: Iterable[set[int]]) -> dict[Kind, list[Found]]:
    """Metric and kind -> what every run left out shows of which something is said."""
    out, named = defaultdict[Kind, list[Found]](list), broken()
    for fold, away in enumerate(folds):
        found = measured([r for i, r in enumerate(rows) if i not in away])
        for row in (rows[i] for i in away):
            cell = next((c for g in same(row.groups) for c in (f"{g} {row.phase}".strip(), g) if c in found.get(row.metric, {})), None)
            if cell is not None:
                ends = np.array([bounds(row.metric, cell, found[row.metric][cell][3], band) for band in BANDS])
                far = unusual(ends, np.concatenate([row.values * f for f in (0.01, 100)]))
                seen = unusual(ends, np.array(named.get(row.kind, [])))
                out[row.kind].append(Found(row, fold, unusual(ends, row.values).mean(axis=1), far.mean(axis=1), seen))
    return out


def broken() -> dict[Kind, list[float]]:
    """The values that readers named as what is wrong, by metric and kind."""
    values = tomllib.loads(Path(__file__).with_name("broken.toml").read_text(encoding="utf-8"))["values"]
    return {(v["metric"], v["kind"]): [w["value"] for w in values if (w["metric"], w["kind"]) == (v["metric"], v["kind"])] for v in values}


def unusual(ends: Floats, values: Floats) -> Floats:
    """Which values lie outside of which ends."""
    slack = SLACK * np.abs(values)
    return ((values < ends[:, :1] - slack) | (values > ends[:, 1:] + slack)).astype(float)


def voted(found: Sequence[Found], what: str) -> Floats:
    """The shares for each band, a repository one vote."""
    many: dict[str, int] = defaultdict(int)
    for f in found:
        many[f.told.repository] += 1
    share = [1 / many[f.told.repository] for f in found]
    return np.average([getattr(f, what) for f in found], axis=0, weights=share)


def chosen(found: Sequence[Found]) -> int | None:
    """Which of BANDS: of those with few sound values outside the one that sees most that is a hundred times off; None where none is."""
    fits = voted(found, "outside") <= MOST_OUTSIDE if found else np.zeros(0)
    return int(np.argmax(np.where(fits, voted(found, "hundredfold"), -1))) if fits.any() else None


def crossed(found: Sequence[Found]) -> float:
    """The share of sound values outside of a band that was chosen without those that it is asked of."""
    out = []
    for fold in {f.fold for f in found}:
        best = chosen([f for f in found if f.fold != fold])
        out += [replace(f, outside=f.outside[best : best + 1]) for f in found if f.fold == fold] if best is not None else []
    return float(voted(out, "outside")[0]) if out else float("nan")


def fitted(rows: Sequence[Told], folds: Iterable[set[int]]) -> dict[Kind, Band]:
    """The band of each metric and kind that has one; prints how it does."""
    best, outside, named = {}, [], []
    for kind, found in sorted(left_out(rows, folds).items()):
        if (i := chosen(found)) is not None:
            best[kind] = BANDS[i]
            outside.append((voted(found, "outside")[i], crossed(found)))
            named.append(voted(found, "named")[i])
            told = f"outside {outside[-1][0]:.3f} ({outside[-1][1]:.3f}), named {named[-1].round(2)}"
            print(f"{' '.join(kind):32} {BANDS[i]!s:20} {told}")
    by_kind = np.mean([shares.mean() for shares in named if shares.size])
    print(f"{len(best)} metrics and kinds: outside {np.nanmean(outside, axis=0).round(3)}, at most {np.nanmax(outside, axis=0).round(3)}")
    print(f"of the values that readers named {np.concatenate(named).mean():.3f} are seen, a metric one vote {by_kind:.3f}")
    return best


def main() -> None:
    """Prints the bank's figures, and writes it when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for repository, run, known in sound_runs(asked.corpora) for row in told(repository, run, known)]
    made = bank(measured(rows), fitted(rows, repositories(rows)), fitted(rows, frameworks(rows)))
    if asked.write:
        lines = json.dumps(made, separators=(",", ":")).replace('},"', '},\n"')
        FILE.write_text(lines + "\n", encoding="utf-8")
        print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
