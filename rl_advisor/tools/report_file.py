"""The assessment of a run written to a file, in the form that the file's ending asks for."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from rl_advisor.discovery import modules
from rl_advisor.finding import Assessment
from rl_advisor.output import safe_write
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

_LONGEST_PAGE = 20_000_000


def kind_of(out: str | Path) -> ModuleType:
    """The report that is written to a file of this name: it renders a run, and several as compared.

    Raises:
        NoSuchChoice: no report has this ending; the message names the endings.
    """
    kinds = {module.SUFFIX: module for module in modules("rl_advisor.answers.reports", "SUFFIX", "render", "compared")}
    ending = Path(out).suffix.lower()
    if ending not in kinds:
        raise UsageError(f"no report is written to a file that ends in {ending or 'nothing'!r}; there are {', '.join(sorted(kinds))}")
    return kinds[ending]


def _target(out: str | Path) -> Path:
    target = Path(out)
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent} to write {target.name} into")
    return target


def write_comparison(runs: Sequence[str | Path], out: str | Path) -> Path:
    """The file that the page on several runs was written to; raises UsageError where no report has this ending or there is no folder."""
    return safe_write.put(_target(out), comparison(runs, out))


def comparison(runs: Sequence[str | Path], out: str | Path, until: float | None = None) -> str:
    """The page on several runs, in the form of this file name.

    Raises:
        NoSuchChoice: no report has this ending.
    """
    from rl_advisor import tools

    page = kind_of(out).compared([tools.read(r, until) for r in runs], tools.ask("compare_runs", runs, until))
    return readable(page, _LONGEST_PAGE)


def tracker(target: str) -> ModuleType:
    """The tracker that a target such as ``tensorboard:FOLDER`` names.

    Raises:
        NoSuchChoice: there is none of that name; the message names the targets.
    """
    kinds = {module.__name__.rpartition(".")[2]: module for module in modules("rl_advisor.tools.trackers", "WHERE", "write")}
    name = target.partition(":")[0]
    if name not in kinds:
        raise UsageError(f"--to takes {', '.join(kind.WHERE for kind in kinds.values())}; not {readable(target, 100)!r}")
    return kinds[name]


def note_to(target: str, run: Run, assessment: Assessment, place: str | Path) -> str:
    """Where the judgement was written for a tracker to show; ``place`` is the run's own, beside which files may go.

    Raises:
        NoSuchChoice: no such tracker, its client is not installed, or it did not take the note; the message says which.
    """
    from rl_advisor.reading.remote.bounds import without_keys
    from rl_advisor.tools.trackers import note

    chosen, where = tracker(target), target.partition(":")[2]
    try:
        with redirect_stdout(sys.stderr):  # clients talk, and an answer in JSON is one document
            return str(chosen.write(note(run, assessment), where, place))
    except (UsageError, FileNotFoundError):
        raise
    except Exception as failure:
        raise UsageError(f"{target.partition(':')[0]} did not take the judgement: {without_keys(str(failure), where)[:300]}") from failure


def look_ahead(out: Sequence[str | Path], to: Sequence[str]) -> None:
    """Say before anything is read that no report has such an ending, or that there is no such tracker; raises what these raise."""
    _ = [*map(kind_of, out), *map(tracker, to)]


def report(run: Run, assessment: Assessment, out: Sequence[str | Path], to: Sequence[str], place: str | Path) -> dict[str, Any]:
    """Where a judgement was written: ``written``, the page, and ``told``, the trackers; ``place`` is the run's own.

    Raises:
        UsageError: no report has this ending, there is no such folder or tracker, or a tracker did not take it.
    """
    written = [str(safe_write.put(page, readable(kind_of(page).render(run, assessment), _LONGEST_PAGE))) for page in map(_target, out)]
    told = [note_to(each, run, assessment, place) for each in to]
    done = {"written": written[0] if len(written) == 1 else written, "told": told}
    return {name: where for name, where in done.items() if where}
