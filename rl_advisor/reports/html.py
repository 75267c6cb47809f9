"""The assessment as one self-contained HTML page: it loads nothing, runs one script of ours, and shows a run's words as words."""

from rl_advisor.assessment import Assessment
from rl_advisor.page.document import document
from rl_advisor.run import Run

SUFFIX = ".html"


def render(run: Run, assessment: Assessment) -> str:
    """The page: verdict and call, then what broke first, curves, findings, samples, what was ruled out or not seen, the next test."""
    return document(run, assessment)
