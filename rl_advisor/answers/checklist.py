"""What a finished training run should leave behind, and which of it is there: the checklist at the end of every report."""

import re

from rl_advisor.assessment import BROKEN, Assessment
from rl_advisor.run import Run

_PRIVATE = re.compile(r"(?i)private|blind|final[_-]?(?:test|eval)|test[_-]?set")


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
    return [
        *rows,
        ("samples for an audit of the reward", len(run.rollouts) > 0),
        ("held-out score", any(name.startswith("eval/score/") for name in run.curves)),
        ("report on a private test set", any(_PRIVATE.search(name) for name in (*run.files, *run.curves))),
        ("seed", any("seed" in str(key).lower() for key in (*run.settings, *run.config))),
        ("configuration", bool(run.config)),
    ]
