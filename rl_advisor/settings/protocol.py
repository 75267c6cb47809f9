"""Under which evaluation protocol a run's scores were taken: environment, split, samples, temperature, nucleus, tokens, template, judge."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rl_advisor.curves.outcomes import splits
from rl_advisor.run import Run
from rl_advisor.settings.given import is_word, settings_of

PARTS: Mapping[str, str] = {
    "environment": "environment", "split": "eval_split", "data": "eval_data", "episodes": "eval_episodes",
    "temperature": "eval_temperature", "top_p": "eval_top_p", "tokens": "eval_tokens", "template": "chat_template", "judge": "judge",
}  # fmt: skip
"""Part of a protocol -> the setting that gives it, of ``names.toml``."""
WANTED = ("split", "samples", "temperature", "tokens")
"""What a score of a language model means nothing without; control asks for ``environment`` and ``episodes``."""
_SAMPLES = re.compile(r"@(\d{1,4})\b|pass(?:_at)?_?(\d{1,4})\b")


def protocol(run: Run) -> dict[str, Any]:
    """What is known of the protocol, by its parts; ``missing`` names what is not."""
    found = {part: value for part, name in PARTS.items() if (value := given(run, name)) is not None}
    names = [c.raw for n, c in run.curves.items() if n.startswith("eval/score/")]
    if told := {split for name in names for split in splits(name)}:
        found.setdefault("split", next(split for split in ("private", "test", "dev") if split in told))
    counts = {int(m.group(1) or m.group(2)) for name in names for m in _SAMPLES.finditer(name)}
    if counts:
        found["samples"] = sorted(counts)
    wanted = ("environment", "episodes") if "episode/length" in run.curves else WANTED
    return {**found, "missing": [part for part in wanted if part not in found]}


def unlike(runs: Sequence[Run]) -> dict[str, str]:
    """The parts of the protocol in which runs differ for certain, each with its values; a part that only one gives differs from nothing."""
    told = [protocol(run) for run in runs]
    values = {part: list(dict.fromkeys(str(t[part]) for t in told if part in t)) for part in (*PARTS, "samples")}
    return {part: " against ".join(found[:4]) for part, found in values.items() if len(found) > 1}


def given(run: Run, name: str) -> Any:
    """The value of a setting; None where it is not given, or is no word."""
    value = found.value if (found := settings_of(run).given(name)) else None
    return None if value in ("", []) or (isinstance(value, str) and not is_word(value)) else value
