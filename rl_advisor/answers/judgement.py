"""A judgement as every door gets it: the assessment, what is told of it, and the run's own metric names. The answer of ``assess``."""

from rl_advisor.answers.context import context
from rl_advisor.answers.story import telling
from rl_advisor.answers.story.quantities import logged_at, outcome_quantities
from rl_advisor.answers.story.sentences import trusted
from rl_advisor.assessment import Assessment
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
    return {**judged, "story": telling.as_json(story), "context": context(run)}


def completed(run: Run, a: Assessment) -> Assessment:
    """The assessment with every quantity that the story says as values, and with its summary: a model's own words where one judged."""
    kept = trusted(run, a)
    at = logged_at(run.curves.get(kept.metric), a.best_checkpoint.step) if kept is not None else None
    outcome = [q.view(at if kept is not None and q.metric == kept.metric else None) for q in outcome_quantities(run)]
    moved = [view for _, view in telling.effects(run, a) if view is not None]
    ours = "" if a.words and a.words not in a.could_not_see else telling.paragraph(telling.tell(run, a), a)
    return a.model_copy(update={"quantities": [*outcome, *moved], "summary": f"{ours} {a.words}".strip()})
