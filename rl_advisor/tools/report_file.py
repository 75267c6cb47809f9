"""The assessment of a run written to a file, in the form that the file's ending asks for."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rl_advisor.assessment import Assessment
from rl_advisor.discovery import modules
from rl_advisor.output import safe_write
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

Render = Callable[[Run, Assessment], str]
_LONGEST_PAGE = 20_000_000


def renderer(out: str | Path) -> Render:
    """What renders a page for this file name.

    Raises:
        NoSuchChoice: no report has this ending; the message names the endings.
    """
    render: Render = _kind(out).render
    return render


def _kind(out: str | Path) -> ModuleType:
    kinds = {module.SUFFIX: module for module in modules("rl_advisor.reports", "SUFFIX", "render", "compared")}
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
    """The file that the page on several runs was written to.

    Raises:
        NoSuchChoice: no report has this ending, or there is no such folder.
    """
    from rl_advisor import tools

    target, kind = _target(out), _kind(out)
    page = kind.compared([tools.read(r) for r in runs], tools.compare_runs(runs))
    return safe_write.put(target, readable(page, _LONGEST_PAGE))


def write(run: Run, out: str | Path, advisor: str = "builtin", options: Mapping[str, Any] | None = None) -> Path:
    """The file that the page about a run was written to; ``options`` are what the advisor is told.

    Raises:
        NoSuchChoice: no report has this ending, or there is no such folder.
    """
    from rl_advisor.tools import advisor_named

    target, render = _target(out), renderer(out)
    return safe_write.put(target, readable(render(run, advisor_named(advisor).assess(run, **(options or {}))), _LONGEST_PAGE))
