"""What a finished training run should leave behind, and which of it is there: the checklist at the end of every report."""

from rl_advisor.answers.context import context
from rl_advisor.assessment import BROKEN, Assessment
from rl_advisor.run import Run


def deliverables(run: Run, assessment: Assessment) -> list[tuple[str, bool]]:
    """Each deliverable in words, and whether it was found among what was read."""
    saved = [c.step for c in run.checkpoints]
    broke = assessment.verdict in BROKEN
    after = assessment.onset.step if assessment.onset else None
    rows = [
        ("best checkpoint", assessment.best_checkpoint.path is not None),
        ("last checkpoint", bool(saved) and max(saved) >= 0.95 * assessment.step),
    ]
    if broke:
        rows.append(("a checkpoint from after the break, to study it", after is not None and any(s >= after for s in saved)))
    found = context(run)
    return [*rows, *((what, what in part["there"]) for part in found.values() for what in (*part["there"], *part["missing"]))]
