"""The verbs: what can be asked of runs, each by its name in the table (``answers/verbs.toml``).

``tools.assess_run("runs/grpo-17", until=200)`` answers with plain JSON in which text is made safe; command line and server ask the same.
"""

from functools import partial
from typing import Any

from rl_advisor.answers.verbs import verbs
from rl_advisor.tools.asking import HOW, advisor_named, ask, judgement_of
from rl_advisor.tools.runs import as_asked, place, read

__all__ = ["HOW", "advisor_named", "as_asked", "ask", "judgement_of", "place", "read"]


def __getattr__(name: str) -> Any:
    if name not in verbs():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(ask, name)
