"""A judgement as every door gets it: the assessment, what is told of it, and the run's own metric names. The answer of ``assess``."""

from rl_advisor.answers.context import context
from rl_advisor.answers.story import telling
from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.run import Run

ORDER = ("present", "unclear", "not_logged", "absent")
"""Outcomes in the order in which to read findings."""


def judgement(run: Run, a: Assessment) -> Answer:
    """The assessment with what is told of it (``story``), findings in the order in which to read them, metrics by the run's own names.

    ``context``: what is on record of how it was made.
    """
    signed, story = telling.in_own_names(run, completed(run, a))
    judged = signed.model_dump(by_alias=True)
    judged["findings"].sort(key=lambda f: ORDER.index(f["outcome"]))
    return {**judged, "story": story, "context": context(run)}


def completed(run: Run, a: Assessment) -> Assessment:
    """The assessment with its summary: a model's own words where one judged."""
    ours = "" if a.words and a.words not in a.could_not_see else telling.paragraph(telling.tell(run, a), a)
    return a.model_copy(update={"summary": f"{ours} {a.words}".strip()})
