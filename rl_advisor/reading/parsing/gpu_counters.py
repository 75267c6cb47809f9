"""The columns of any tool that watches GPUs become the telemetry table of a run; what tools call them stands in ``gpu_counters.toml``.

Every distinct text of a column is read once: a day of eight GPUs at ten rows a second has seven million rows and few texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rl_advisor import discovery
from rl_advisor.reading.parsing.cells import is_numeric
from rl_advisor.run import Gap, Named, Run

if TYPE_CHECKING:
    import pandas as pd

Numbers = npt.NDArray[np.float64]
TOLD = discovery.table(__file__, "gpu_counters.toml")
TIMES: list[str] = TOLD["stamps"] + TOLD["times"]
LABELS: list[str] = TOLD["identities"] + TOLD["gpus"]
PROCESSES = "processes"
"""What scripts, and our recordings of earlier versions, add: processes and the MiB each holds, as ``pid:MiB;pid:MiB``."""
USUAL_SECONDS = 1.0
"""Between rows, where a tool writes no times."""
_NUMBER = re.compile(r"\s*+(?:(0x[0-9a-fA-F]{1,16})|(-?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?))\s*+[A-Za-z%/]{0,20}+\s*+")


class Counted(NamedTuple):
    """What a column counts."""

    gpu: str | None
    """The GPU that its name names; None where each row is about one."""
    ours: str
    scale: float
    rank: int
    """Which of several that mean the same is taken."""


@cache
def _known() -> tuple[dict[str, Counted], list[tuple[re.Pattern[str], Counted]]]:
    """Counters by name, and by pattern."""

    def rows(kind: str) -> Iterable[tuple[str, Counted]]:
        names = ((ours, unit, name) for ours, units in TOLD[kind].items() for unit, names in units.items() for name in names)
        return ((name, Counted(None, ours, TOLD["units"][unit], rank)) for rank, (ours, unit, name) in enumerate(names))

    own = {ours: Counted(None, ours, 1.0, 0) for ours in TOLD["one_row_a_gpu"]}
    return own | dict(rows("one_row_a_gpu")), [(re.compile(name), counted) for name, counted in rows("one_column_a_gpu")]


@lru_cache(10_000)
def counted_by(name: str) -> Counted | None:
    """What a column of that name counts; None for one that is no counter of a GPU."""
    name = name.strip().strip('"')
    names, patterns = _known()
    if known := names.get(plain_name(name)):
        return known
    return next((counted._replace(gpu=m[1]) for pattern, counted in patterns if len(name) < 200 and (m := pattern.fullmatch(name))), None)


def names_a_gpu(name: str) -> bool:
    """Whether a column of that name is one GPU's counter."""
    return bool((known := counted_by(name)) and known.gpu)


def plain_name(header: str) -> str:
    """A column's name without unit, case and surrounding space: ``power.draw [W]`` becomes ``power.draw``."""
    return re.sub(r"[\[(][^\]()\[]*+[\])]$", "", header.strip().strip('"').rstrip()).strip().lower()


def is_header(cells: Iterable[str]) -> bool:
    """Whether these name a counter beside a time or a GPU; ``temp`` and the like count only where a GPU is named."""
    names = {plain_name(cell): counted_by(cell) for cell in cells}
    counted = [name for name, known in names.items() if known]
    sure = any("." in name or names[name].gpu for name in counted)  # type: ignore[union-attr]
    return bool(counted) and not names.keys().isdisjoint(TOLD["gpus"] + TOLD["stamps"] * sure)


def numbers(column: Any) -> Numbers:
    """A column's cells as numbers, units taken off and masks (``0x4``) read; what is no number becomes NaN."""
    import pandas as pd

    column = pd.Series(column)
    if is_numeric(column):
        return np.asarray(column, np.float64)
    codes, words = pd.factorize(column)
    return np.array([*map(_number, words), np.nan])[codes]


def _number(word: Any) -> float:
    found = _NUMBER.fullmatch(str(word)[:100])
    return np.nan if found is None else float(int(found[1], 16)) if found[1] else float(found[2])


def seconds(column: Any) -> Numbers:
    """Seconds since the epoch, from numbers (milliseconds where they are that large) or ISO dates read as UTC; NaN for what is neither."""
    import pandas as pd

    codes, words = pd.factorize(pd.Series(column))
    plain = numbers(words[:1])
    if np.isfinite(plain).any():
        plain = numbers(column)
        return np.where(plain > 1e11, plain / 1000, plain)
    text = pd.Series(words, dtype=str).str.strip().str.replace("/", "-")
    try:
        stamp = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
    except pd.errors.OutOfBoundsDatetime:  # a year such as 261 is not coerced
        return np.full(len(codes), np.nan)
    return np.append((stamp - pd.Timestamp(0, unit="s", tz="UTC")).dt.total_seconds(), np.nan)[codes]


def telemetry_of(raw: Named, gaps: Iterable[Gap] = ()) -> Run:
    """The part of a run that a file of telemetry is, of its columns by their own names; where none is a time it is counted."""
    import pandas as pd

    gaps, names = list(gaps), {plain_name(name): name for name in raw}
    rows = len(next(iter(raw.values()), ()))
    gpu = _labels(*next(((n, raw[names[n]]) for n in LABELS if n in names), ("", ["0"] * rows)))
    clock = next((raw[names[n]] for n in TIMES if n in names), None)
    if clock is None and rows:
        why = f"the tool writes no times: one row in {USUAL_SECONDS:g} s is assumed, and steps cannot be laid over it"
        gaps.append(Gap("", why))
    time = pd.Series(gpu.codes).groupby(gpu.codes).cumcount().to_numpy(np.float64) * USUAL_SECONDS if clock is None else seconds(clock)
    by_gpu = _by_gpu(raw)
    if PROCESSES in names and None in by_gpu:
        by_gpu[None]["other_gib"] = np.asarray(_other_memory(pd.Series(raw[names[PROCESSES]]), gpu), np.float64)
    parts = [table({"time": time, **columns}, gpu if which is None else [which] * rows) for which, columns in by_gpu.items()]
    found = pd.concat(parts, ignore_index=True) if len(parts) > 1 else (parts or [pd.DataFrame()])[0]
    if len(parts) > 1:
        found = found.dropna(how="all", subset=[c for c in found if c not in ("time", "gpu")])
    gaps += [] if len(found) else [Gap("", "no row of GPU telemetry could be read")]
    return Run(telemetry=found, gaps=tuple(gaps))


def _labels(header: str, column: Any) -> pd.Categorical[Any]:
    """The GPUs that the rows of a column are about; ``[N/A]``, and its own name where the header comes back, name none."""
    import pandas as pd

    codes, words = pd.factorize(pd.Series(column))
    names, none = [str(word).strip().removeprefix("card") for word in words], (header, "n/a")
    again, distinct = pd.factorize(np.array([n if re.match(r"[\w:-]", n) and n.lower() not in none else None for n in names], object))
    return pd.Categorical.from_codes(np.append(again, -1)[codes].astype(np.intp), pd.Index(distinct))


def _by_gpu(raw: Named) -> dict[str | None, dict[str, Numbers]]:
    """Our columns by the GPU they are named for; of several that mean the same the first that has a number counts in each row."""
    by_gpu: dict[str | None, dict[str, Numbers]] = {}
    counted = [(known, name) for name in raw if (known := counted_by(name))]
    for known, name in sorted(counted, key=lambda pair: pair[0].rank):
        value, columns = numbers(raw[name]) * known.scale, by_gpu.setdefault(known.gpu, {})
        columns[known.ours] = np.where(np.isnan(columns[known.ours]), value, columns[known.ours]) if known.ours in columns else value
    for columns in by_gpu.values():
        if (free := columns.pop("free_gib", None)) is not None and "memory_gib" in columns:
            columns.setdefault("memory_total_gib", columns["memory_gib"] + free)
    return by_gpu


def table(columns: Named, gpu: Any) -> pd.DataFrame:
    """The telemetry table of columns already in our names and units, in the order of time within each GPU.

    Rows without a time are left out, as are repeated rows of one GPU and moment.
    """
    import pandas as pd

    found = pd.DataFrame({name: np.asarray(values, np.float64 if name == "time" else np.float32) for name, values in columns.items()})
    found.insert(1, "gpu", pd.Series(pd.Categorical(gpu)))
    found = found[np.isfinite(found["time"]) & found["gpu"].notna()]
    in_time = found["time"].is_monotonic_increasing  # then the order of the rows decides, which is a fast sort of small integers
    found = found.sort_values(["gpu"] if in_time else ["gpu", "time"], kind="stable", ignore_index=True)
    return found[(found["time"].diff() != 0) | (found["gpu"].cat.codes.diff() != 0)]  # type: ignore[no-any-return]


def _other_memory(processes: pd.Series, gpu: Any) -> npt.NDArray[np.float32]:
    """GiB that processes other than the largest of each GPU hold, from ``pid:MiB;...``; NaN where they were not looked at."""
    import pandas as pd

    rows = pd.DataFrame({"gpu": np.asarray(gpu, dtype=str), "text": processes.astype(object)})
    texts = rows.dropna().value_counts().rename("often").reset_index()
    held = texts["text"].astype(str).str.extractall(r"(?P<pid>\d{1,10}):(?P<mib>\d{1,9})").droplevel(1).join(texts)
    held["mib"] = held["mib"].astype(np.float64)
    largest = (held["mib"] * held["often"]).groupby([held["gpu"], held["pid"]]).sum().groupby("gpu").idxmax()
    held.loc[pd.MultiIndex.from_frame(held[["gpu", "pid"]]).isin(largest.tolist()), "mib"] = 0.0
    other = texts.assign(other=held.groupby(level=0)["mib"].sum() / 1024)
    return rows.merge(other, how="left", on=["gpu", "text"])["other"].to_numpy(np.float32)


def pivoted(samples: pd.DataFrame) -> pd.DataFrame:
    """One row a GPU and moment of single readings: gpu, time, column and value."""
    known = samples[np.isfinite(samples["time"].astype(np.float64))]
    wide = known.pivot_table(index=["gpu", "time"], columns="column", values="value", aggfunc="first").reset_index()
    return wide.rename_axis(columns=None)


def without_counters(part: Run) -> Run:
    """The part with its curves of GPU counters as telemetry; they stand over the clock, not over steps."""
    named = {n: counted for n, curve in part.curves.items() if curve.time is not None and (counted := counted_by(n)) and counted.gpu}
    if not named:
        return part
    import pandas as pd

    curves = {n: curve for n, curve in part.curves.items() if n not in named}
    pieces = [
        pd.DataFrame({"time": part.curves[n].time, "gpu": c.gpu, "column": c.ours, "value": part.curves[n].value * c.scale})
        for n, c in named.items()
    ]
    return replace(part, curves=curves, telemetry=pivoted(pd.concat(pieces, ignore_index=True)))
