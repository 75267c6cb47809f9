"""The small corpus of the eval tests, and advisors with known answers."""

from pathlib import Path
from typing import Any

from rl_advisor.evals.corpus import Label, read_corpus
from rl_advisor.run import Run

CORPUS = Path(__file__).parent.parent / "data" / "corpus"
LABELS = read_corpus(CORPUS).labels


def truth(label: Label, cut: float = 1.0) -> dict[str, Any]:
    """The answer that the label would give."""
    pays = label.prefixes[cut].continue_pays if cut < 1 else False
    return {
        "run": label.run,
        "cut": cut,
        "verdict": min(label.verdicts),
        "first_broken_link": min(label.links, default="none"),
        "call": "continue" if pays else "stop",
        "p_continue_pays": 0.9 if pays else 0.1,
        "best_step": label.best_step,
        "onset_step": label.onset[0] if label.onset else None,
    }


def plain(run: Run) -> dict[str, Any]:
    """An advisor that looks at little, but at something."""
    reward = run.curves["reward/mean"].value
    return {"verdict": "improving" if reward[-1] > reward[0] else "degrading", "call": "continue", "p_continue_pays": 1 / (1 + len(reward))}
