"""The face for programs: ``read``, ``diagnose``, ``assess``, ``compare``. It stays as it is; what lies behind it may change.

import rl_advisor as rl

run = rl.read("runs/grpo-17")
run.frame()                       # pandas, one column a metric
rl.diagnose(run)                  # findings, outside-in along the training loop
a = rl.assess("runs/grpo-17", until=200)
a.verdict, a.call, a.evidence     # and the page itself as the last line of a notebook's cell
"""

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr

from rl_advisor.finding import Assessment, Finding
from rl_advisor.run import Run

Advisor = Literal["builtin", "anthropic", "openai"]
HEIGHT = 720
"""Pixels of the page in a notebook."""


class Judgement(Assessment):
    """An assessment that knows its run, so that it can show itself; every field of the assessment is an attribute."""

    _of: Run = PrivateAttr(default_factory=Run)

    @classmethod
    def of(cls, run: Run, signed: Assessment) -> "Judgement":
        """The assessment of this run."""
        judgement = cls.model_validate(signed.model_dump(by_alias=True))
        judgement._of = run  # noqa: SLF001 - its own
        return judgement

    def __str__(self) -> str:
        """The answer as the terminal prints it."""
        from rl_advisor.answers.judgement import judgement
        from rl_advisor.answers.terminal import Look, answer_page
        from rl_advisor.output.clean import clean

        return "\n".join(answer_page(clean(judgement(self._of, self)), Look()))

    def __repr__(self) -> str:
        """Run, verdict and call in one line."""
        return f"Judgement({self.run!r}: {self.verdict}, {self.call})"

    def page(self) -> str:
        """The whole report as one self-contained HTML page."""
        from rl_advisor.answers.reports import html

        return html.render(self._of, self)

    def _repr_html_(self) -> str:
        """The report in a frame of its own, in which a run's words can reach nothing of the notebook."""
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0" srcdoc="{escape(self.page())}"></iframe>'


def read(path: str | Path, *, until: float | None = None, mapping: Mapping[str, str] | None = None) -> Run:
    """The run at a path or address, as it looked at step ``until``; ``mapping`` says which logged name plays a role.

    Raises:
        FileNotFoundError: nothing is there; the message names what is.
        rl_advisor.reading.UnreadableRun: something is there, and none of it could be read; a ValueError.
    """
    from rl_advisor import tools

    return tools.read(path, until, mapping)


def diagnose(run: Run | str | Path, *, until: float | None = None) -> list[Finding]:
    """What every detector says of a run: present, absent, unclear or not logged, outside-in along the training loop."""
    from rl_advisor.judgement.diagnosis import diagnose as asked

    return list(asked(_run(run, until)))


def assess(
    run: Run | str | Path,
    *,
    until: float | None = None,
    advisor: Advisor = "builtin",
    mapping: Mapping[str, str] | None = None,
    goal: float | None = None,
    **options: Any,
) -> Judgement:
    """The judgement of a run: verdict, call, cause, evidence, checkpoint to keep, next experiment; ``goal`` is the level that is enough.

    ``options`` go to the advisor: ``price`` to the built-in one, ``model``, ``max_cost`` and the like to those that ask a model.
    """
    from rl_advisor import tools
    from rl_advisor.answers.judgement import completed

    whole = _run(run, until, mapping)
    whole = whole if goal is None else replace(whole, goal=goal)
    return Judgement.of(whole, completed(whole, tools.advisor_named(advisor).assess(whole, **options)))


def compare(*runs: Run | str | Path, until: float | None = None) -> dict[str, Any]:
    """Runs or seeds side by side: how each went, what the seeds of each variant say together, which variant is better, what differs."""
    from rl_advisor.answers.compare import compare as compared

    return compared([_run(run, until) for run in runs])


def _run(run: Run | str | Path, until: float | None, mapping: Mapping[str, str] | None = None) -> Run:
    if not isinstance(run, Run):
        return read(run, until=until, mapping=mapping)
    return run if until is None else run.until(until)
