"""One finding in full: what was measured in this run, and the manual page of its pattern. The answer of ``explain_finding``."""

from rl_advisor.answers.curves import summary
from rl_advisor.answers.story.quantities import own_names, renamed
from rl_advisor.detectors import patterns
from rl_advisor.finding import view
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.output import Answer
from rl_advisor.output.errors import no_such
from rl_advisor.run import Run

CURVES = 2
"""Curves of the evidence that are measured beside it."""


def explained(run: Run, pattern: str) -> Answer:
    """The finding with its measures, the curves that it rests on, and the pattern's manual page.

    Raises:
        NoSuchChoice: no such pattern; the message names the nearest.
    """
    wanted = pattern.strip().lower().replace(" ", "_").replace("-", "_")
    detector = patterns().get(wanted)
    if detector is None:
        raise no_such("pattern", pattern, sorted(patterns()))
    found = view(run_detector(detector, run)).model_dump()
    cited = dict.fromkeys(str(e["metric"]) for e in found["evidence"] if str(e["metric"]) in run.curves)
    curves = [summary(run, run.curves[name]) for name in cited][:CURVES]
    about = {"is" if head == "Title" else head: text for head, text in detector.page.items()}
    return renamed({"run": run.name, **found, "curves": curves, "about": about}, own_names(run))  # type: ignore[no-any-return]
