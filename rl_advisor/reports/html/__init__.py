"""The assessment as one self-contained HTML page: it loads nothing, runs one script of ours, and shows a run's words as words."""

from collections.abc import Sequence
from typing import Any

from rl_advisor.assessment import Assessment
from rl_advisor.reports.html.comparison import comparison
from rl_advisor.reports.html.document import document
from rl_advisor.run import Run

SUFFIX = ".html"


def render(run: Run, assessment: Assessment) -> str:
    """The page: verdict and call, then what broke first, curves, findings, samples, what was ruled out or not seen, the next test."""
    return document(run, assessment)


def compared(runs: Sequence[Run], answer: dict[str, Any]) -> str:
    """The page on several runs: what they say together, curves over each other, variants, runs and settings."""
    return comparison(runs, answer)
