"""What kind of training a run is (language, tools, control, ...), read off what it has logged and how it calls it."""

import re

from rl_advisor.run import Run
from rl_advisor.vocabulary import words

FAMILIES: dict[str, tuple[str, ...]] = {
    "tools": ("episode/turns", "episode/tool_calls"),
    "experts": ("kl/mismatch", "mismatch/logprob", "mismatch/prob", "mismatch/correlation"),
    "language": ("response/length", "response/truncated", "kl/ref"),
    "replay": ("exploration/rate", "entropy/coef"),
    "control": ("episode/length",),
    "systems": ("time/step", "throughput/tokens", "throughput/env_steps"),
}
"""Kind of training -> metrics of which one tells it, the most particular kind first. Rows of ``any`` fit every run."""
_WORDS = {
    "language": re.compile(
        r"\b(responses?|completions?|tokens?|tokenizer|prompts?|answers?|vllm|sglang|llm|lora|log ?probs?|model name|base model|judge)\b"
    ),
    "control": re.compile(
        r"\b(episodes?|episodic|ep|epsilon|envs?|environment|frames|returns?|actor|critic|replay|q loss|qf|self play|games?|td3|sac|dqn)\b"
    ),
}
"""Kind of training -> words of its own, in names of metrics, keys of the configuration and names of files."""
_ENVIRONMENT = re.compile(r"[A-Z][a-z][A-Za-z0-9]{0,80}-v\d{1,4}(?![A-Za-z0-9])")
"""The name of a Gymnasium environment."""


def families(run: Run) -> frozenset[str]:
    """The kinds of training that a run's metrics tell of; a run of language is not also one of control."""
    found = {family for family, names in FAMILIES.items() if any(name in run.curves for name in names)}
    if len(run.rollouts):
        found.add("language")
    if not found & {"language", "tools", "control"}:
        found |= _told(run)
    return frozenset(found - {"control"} if found & {"language", "tools"} else found)


def _told(run: Run) -> set[str]:
    """The kind that the words tell, where no metric does: language by any of its words, else control by its words or its steps."""
    names = [curve.raw for curve in run.curves.values()]
    text = " ".join(words(name) for name in (*names, *map(str, run.config)))
    if _WORDS["language"].search(text):
        return {"language"}
    places = [*names, *(curve.source.split(", ", 1)[0] for curve in run.curves.values())]
    counted = run.step_unit in ("env steps", "episodes")
    return {"control"} if counted or _WORDS["control"].search(text) or any(map(_ENVIRONMENT.search, places)) else set()
