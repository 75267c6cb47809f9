"""The one next experiment: taken from the manual page of the pattern that broke first, with what each explanation predicts."""

import re
from collections.abc import Mapping

from rl_advisor.assessment import Experiment
from rl_advisor.diagnosis import detectors, pattern_of
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.verdict import Judged

HEALTHY: Mapping[str, Experiment] = {
    "improving": Experiment(
        do="Go on for a tenth of the planned steps and evaluate on held-out prompts again, with enough of them to see the margin.",
        expect_if_right="The held-out score rises by more than its noise.",
        expect_if_wrong="The reward rises and the score does not: read the highest-rewarded samples before going on.",
    ),
    "plateaued": Experiment(
        do="Evaluate the last three checkpoints with four times the prompts; if they agree, change the data or the reward, not the steps.",
        expect_if_right="All three agree within noise: more steps of this set-up bring nothing.",
        expect_if_wrong="The latest is best beyond noise: it is still improving, slower than the log can show.",
    ),
    "undecidable": Experiment(
        do="Log a held-out score at a fixed cadence from step 0 on, at least ten evaluations, and look again.",
        expect_if_right="The score shows a direction beyond its noise.",
        expect_if_wrong="It stays inside its noise: more prompts per evaluation are needed before anything can be said.",
    ),
}


def next_experiment(case: Case, judged: Judged) -> Experiment:
    """The experiment that would confirm or refute the first break; for a healthy run the one that tests its verdict."""
    if judged.cause is None:
        return HEALTHY.get(judged.verdict, HEALTHY["undecidable"] if case.outcome is None else UNEXPLAINED)
    name, page = judged.cause.pattern.replace("_", " "), manual_page(judged.cause.pattern)
    return Experiment(
        do=page["Next test"][0].upper() + page["Next test"][1:],
        expect_if_right=f"It shows what {name} predicts: {page['Means']}",
        expect_if_wrong=f"It does not, and another reading fits better: {page['Not to be confused with']}",
    )


UNEXPLAINED = Experiment(
    do="Resume from the last checkpoint before the change with a third of the learning rate and one pass over each batch.",
    expect_if_right="The outcome holds: the updates were too large.",
    expect_if_wrong="It falls at the same place: the data or the reward changed there; compare prompts and grading of both sides.",
)


def manual_page(pattern: str) -> dict[str, str]:
    """The headings of a detector's docstring: Looks for, Means, Not to be confused with, Next test, Source."""
    module = next(m for m in detectors() if pattern_of(m) == pattern)
    text = re.sub(r"\s+", " ", module.__doc__ or "")
    parts = re.split(r"(Looks for|Means|Not to be confused with|Next test|Source): ", text)
    return {"Title": parts[0].strip()} | {head: body.strip() for head, body in zip(parts[1::2], parts[2::2], strict=True)}
