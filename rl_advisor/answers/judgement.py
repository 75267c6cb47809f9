"""A judgement as every door gets it: the assessment, what is told of it, and the run's own metric names. The answer of ``assess``."""

from typing import Any

from rl_advisor.answers.context import context
from rl_advisor.answers.story import naming, telling
from rl_advisor.assessment import Assessment
from rl_advisor.run import Run

Answer = dict[str, Any]


def judgement(run: Run, a: Assessment) -> Answer:
    """The assessment with what is told of it (``story``), findings in the order in which to read them, metrics by the run's own names.

    ``context``: what is on record of how it was made.
    """
    told = telling.tell(run, a)
    judged, story = (naming.renamed(part, told.names) for part in (foremost(a.model_dump(by_alias=True)), telling.as_json(told)))
    return {**judged, "story": story, "context": context(run)}


def foremost(assessment: Answer) -> Answer:
    """The assessment with its findings in the order in which to read them: present, unclear, not logged, absent."""
    order = ("present", "unclear", "not_logged", "absent")
    findings = sorted(assessment["findings"], key=lambda f: order.index(f["outcome"]))
    return {**assessment, "findings": findings}
