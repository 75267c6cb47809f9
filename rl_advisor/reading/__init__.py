"""A path becomes a Run in our own words: the one entry to whatever a trainer left behind."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from types import ModuleType

from rl_advisor.discovery import modules
from rl_advisor.output.errors import UnreadableRun as UnreadableRun
from rl_advisor.output.progress import report_progress
from rl_advisor.output.run_reference import FILE, MARK, begun_at, meant, split_reference
from rl_advisor.reading.assembling import assemble, gathered, says_something
from rl_advisor.reading.file_description import shape_of
from rl_advisor.reading.measurable import measurable
from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import ANSI, bare_name, beginning, head, torn_said
from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.printed import of_print
from rl_advisor.reading.parsing.log_lines import CONSOLES
from rl_advisor.reading.parsing.metric_table import NO_COURSE
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS
from rl_advisor.reading.run_folder import Found, readme_of, thinned, walk
from rl_advisor.reading.separating import on_the_way
from rl_advisor.run import ROLLOUT_COLUMNS, Gap, Run

READER_FAILED = "its reader failed on it"
LOOKED_FOR = (
    "trainer_state.json, TensorBoard events (events.out.tfevents.*), console logs with metrics (train.log, stdout.log), metrics JSONL, "
    "progress.csv, *.monitor.csv, evaluations.npz, completions or rollout dumps (parquet, jsonl), nvidia-smi CSV"
)
SHOWN = 3
"""Files of which it is shown what they look like where nothing could be read."""
_WITH_ROWS = (".csv", ".tsv", ".json", ".jsonl", ".log", ".txt", ".npy", ".npz", ".out", ".parquet", ".md", ".gz")
LOG_HEAD = 131_072
"""Bytes of a log in which a printed configuration is looked for."""
HOLLOW_FROM = 64 * 2**20
"""Bytes from which a file is checked for being mostly a hole."""
_POINTER = b"version https://git-lfs"


def read_run(path: Path | str, *, mapping: Mapping[str, str] | None = None) -> Run:
    """The run in a folder or a file, in our own words, with a gap for everything that could not be read or does not fit.

    ``mapping`` says what a raw name means where no dialect does, or says it wrongly: {our name: raw name}. The names of ROLLOUT_COLUMNS
    speak of the columns of samples: {"response": "final_text"}.

    Raises:
        FileNotFoundError: the path does not exist; the message names the nearest that do.
        UnreadableRun: nothing in it could be read.
        KeyError: ``mapping`` names a raw name that no file has; the message names the nearest.
    """
    return read_with(part_of, Path(path), mapping or {})


def read_with(part: Callable[[Path, Request], Run | None], place: Path, mapping: Mapping[str, str]) -> Run:
    """As ``read_run``, where ``part`` gives what one file holds, or None for a file that no format claims."""
    place, inner = split_reference(place)
    if not place.exists():
        raise FileNotFoundError(f"no such file or folder: {place}{_near(place)}")
    root = place if place.is_dir() else place.parent
    if not confined_files.held(place):
        root = root.resolve()
    with nullcontext() if confined_files.held(place) or (place.is_symlink() and place.is_file()) else confined_files.fenced(root):
        return _read_below(root, part, place, inner, mapping)


def _read_below(root: Path, part: Callable[[Path, Request], Run | None], place: Path, inner: str, mapping: Mapping[str, str]) -> Run:
    found = walk(root) if place.is_dir() else Found(files=[Path(place.name)], entries=1)
    columns = {ours: raw for ours, raw in mapping.items() if ours in ROLLOUT_COLUMNS}
    parts, gaps, ignored = _parts(root, found, lambda path: part(path, Request(inner, columns)))
    if not any(map(_measures, parts)):
        more, gaps, ignored = _parts(root, found, lambda path: part(path, Request(inner, columns, last_resort=True)))
        parts = more or parts
    if inner and (begun := begun_at(inner, _runs(parts))) not in ("", inner):
        return read_with(part, Path(f"{place}{MARK}{begun}"), mapping)
    _must_be_there(place, inner, columns, parts)
    column = {"reward/mean": inner} if inner and any(inner in one.curves for one in parts) else {}
    metrics = column | {ours: raw for ours, raw in mapping.items() if ours not in columns}
    run = assemble(place.resolve().name, parts, metrics, readme_of(root))
    saved = [c for c in found.checkpoints if _is_of(c.path, run)]
    run = replace(run, checkpoints=(*saved, *run.checkpoints), gaps=(*gathered(found.gaps), *gaps, *run.gaps))
    run = replace(run, ignored=gathered([g for g in (*ignored, *run.ignored) if _is_of(g.where, run)]))
    if not (run.curves or len(run.rollouts) or len(run.telemetry) or run.events):
        likely = sorted(found.files, key=lambda path: path.suffix.lower() not in _WITH_ROWS)  # those that can hold rows before others
        raise UnreadableRun(_nothing(place, found, run.gaps), {path.as_posix(): shape_of(root / path) for path in likely[:SHOWN]})
    if not len(run.rollouts):
        return run
    # Most runs left no samples, and nothing is loaded for them.
    from rl_advisor.samples.episodes import with_episode_curves

    return with_episode_curves(run)


def _must_be_there(place: Path, run: str, columns: Mapping[str, str], parts: Sequence[Run]) -> None:
    """Raise what ``read_run`` raises for a run or a column that the caller named and no file has."""
    if run and any(part.curves for part in parts) and not any(run in p.curves or meant([name], run) for p in parts for name in _names(p)):
        there = ", ".join(_runs(parts)[:20]) or "one run, which needs no name"
        raise FileNotFoundError(f"{place.name} holds no run {run!r}; it holds {there}")
    met = {name for part in parts for name in part.columns}
    if unknown := [raw for raw in columns.values() if raw not in met]:
        near = difflib.get_close_matches(unknown[0], met, n=5, cutoff=0.3) or sorted(met)[:20]
        raise KeyError(f"no file of samples has a column named {unknown[0]!r}; there is {', '.join(near) or 'no file of samples at all'}")


def read_alone(file: Path) -> Run:
    """The run in one file beside which nothing lies, such as a text in memory; an empty one where no format claims it or nothing is in it.

    Raises what reading a damaged file raises: ValueError and OSError.
    """
    part = part_of(file)
    if not _measures(part):
        part = part_of(file, Request(last_resort=True)) or part
    return Run() if part is None else assemble(file.name, [_placed(part, Path(file.name))], {})


def _runs(parts: Sequence[Run]) -> list[str]:
    """What the runs are called that files of several hold, the one that was read first."""
    return [where.rpartition(MARK)[2] for part in parts for where in (part.place, *part.others) if where]


def _names(part: Run) -> tuple[str, str]:
    """What the run that was read of several may be called: its name, and the last part of it."""
    name = part.place.rpartition(MARK)[2]
    return name, name.rpartition("/")[2]


def part_of(path: Path, ask: Request = WHOLE) -> Run | None:
    """What one file holds, with raw names; None when no format claims it. In the last resort every format that does is asked."""
    found: Run | None = None
    for module in islice(_claiming(path, ask), None if ask.last_resort else 1):
        part = _with_printed(module.read(path, ask), path)
        part = replace(part, formats=part.formats or (module.FORMAT,))
        found = found or (part if says_something(part) else None)
        if _measures(part) or any(NO_COURSE in gap.why for gap in part.gaps):  # the texts of a data set are no lines of a log
            return part
    return found


def _with_printed(part: Run, path: Path) -> Run:
    """The part of a text log with the settings at its head, printed or on a command line; those that its format found itself go before."""
    if not (part.curves and bare_name(path).endswith(CONSOLES)):
        return part
    text = ANSI.sub("", beginning(path, LOG_HEAD))
    return replace(part, config={**of_commands(text), **of_print(text), **part.config})


def format_of(path: Path) -> ModuleType | None:
    """The format that claims a file; one that is marked GENERAL only when no other does."""
    return next(_claiming(path, WHOLE), None)


def _claiming(path: Path, ask: Request) -> Iterator[ModuleType]:
    return (module for module in _formats() if module.claims(path, ask))


def _measures(part: Run | None) -> bool:
    """Whether a part holds numbers over steps, samples or telemetry."""
    return part is not None and bool(part.curves or len(part.rollouts) or len(part.telemetry))


@cache
def _formats() -> tuple[ModuleType, ...]:
    formats = modules("rl_advisor.reading.formats", "FORMAT", "claims", "read")
    return tuple(sorted(formats, key=lambda m: getattr(m, "GENERAL", False)))


def _is_of(path: str, run: Run) -> bool:
    """Whether what lies there may be the run's, and is not another's of the folder."""
    return on_the_way(path, run.place) and not any(PurePosixPath(path).is_relative_to(other) for other in run.others)


def _parts(root: Path, found: Found, read: Callable[[Path], Run | None]) -> tuple[list[Run], list[Gap], list[Gap]]:
    """What the files hold, what could not be read, and what is nothing that is read here."""
    parts: list[Run] = []
    latest = _without_old_states(root, found.files)
    ignored = [Gap(p.as_posix(), "an earlier state: the latest one holds it") for p in sorted(set(found.files) - set(latest))]
    wanted, gaps = thinned(latest)
    for number, relative in enumerate(wanted, 1):
        report_progress("reading file", number, len(wanted))
        path, where = root / relative, relative.as_posix()
        try:
            _must_be_whole(path)
            with torn_said() as torn:
                part = read(path)
            if part is not None:
                parts.append(_placed(part, relative))
            else:
                what = f"no known log format ({path.suffix.lower()[:12] or 'no suffix'})" if path.stat().st_size else "empty"
                ignored.append(Gap(where, what))
            if torn:
                gaps.append(Gap(where, "the packed file ends too early or is damaged; what stands before that was read"))
        except (*PACK_ERRORS, OverflowError, MemoryError) as error:
            gaps.append(Gap(where, f"could not be read: {error}"[:300].replace(str(root), ".")))
        except Exception as bug:  # noqa: BLE001 - one file that a reader fails on must not take the others along; fuzzing looks for these words
            gaps.append(Gap(where, f"{READER_FAILED} ({type(bug).__name__})"))
    return parts, gaps, ignored


def _must_be_whole(path: Path) -> None:
    """Raise for a sparse file, of which reading the zeros would take minutes and find nothing, and for one that stands for another."""
    status = path.stat()
    if status.st_size > HOLLOW_FROM and 512 * getattr(status, "st_blocks", status.st_size) < status.st_size // 10:
        raise OSError("almost all of it is a hole: its size says more than is on disk")
    if 100 < status.st_size < 400 and head(path, 64).startswith(_POINTER):
        raise OSError("a git-lfs pointer, not the file itself: fetch it with `git lfs pull`")


def _placed(part: Run, relative: Path) -> Run:
    """The part with the file's place in the run as the source of everything in it."""
    where = relative.as_posix()
    part = measurable(part)
    rollouts = part.rollouts.assign(source=where) if len(part.rollouts) and "source" in part.rollouts else part.rollouts
    return replace(
        part,
        place=where + part.place if part.place else "",
        others=tuple(where + other for other in part.others),
        curves={n: replace(c, source=where) for n, c in part.curves.items()},
        rollouts=rollouts,
        events=tuple(replace(e, where=where) for e in part.events),
        gaps=tuple(Gap(where, g.why.replace(FILE, relative.name)) for g in part.gaps),
        files=(where,),
    )


def _without_old_states(root: Path, files: Iterable[Path]) -> list[Path]:
    """All files but the trainer states of earlier checkpoints, which the latest of the same run repeats."""
    kept: list[Path] = []
    latest: dict[Path, tuple[int, Path]] = {}
    for path in files:
        step = re.search(r"(?<!\d)(\d++)$", path.parent.name)
        if path.name != "trainer_state.json" or step is None or not (root / path).stat().st_size:
            kept.append(path)
        elif path.parent.parent not in latest or latest[path.parent.parent][0] < int(step.group(1)):
            latest[path.parent.parent] = (int(step.group(1)), path)
    return kept + [path for _, path in latest.values()]


def _near(place: Path) -> str:
    parent = place.parent
    while not parent.is_dir():
        parent = parent.parent
    names = [entry.name for _, entry in zip(range(5_000), parent.iterdir(), strict=False)]
    near = difflib.get_close_matches(place.name, names, n=3, cutoff=0.4) or sorted(names)[:5]
    return f"; in {parent} there is {', '.join(near)}" if near else f"; {parent} is empty"


def _nothing(place: Path, found: Found, gaps: Iterable[Gap]) -> str:
    kinds = Counter(path.suffix[:12] or "without a suffix" for path in found.files)
    seen = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(8)) or "no files"
    said = "; ".join(f"{gap.where}: {gap.why}" for gap in list(gaps)[:5])
    return (
        f"nothing in {place} could be read as a training run. Found: {seen}"
        + (f" ({len(found.checkpoints)} checkpoints)" if found.checkpoints else "")
        + (f". {said}" if said else "")
        + f". Looked for: {LOOKED_FOR}. They usually lie in the trainer's output or log folder"
        + " (output_dir, default_local_dir, tensorboard_log)."
    )
