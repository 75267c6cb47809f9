"""Under which evaluation protocol a run's scores were taken: environment, split, samples, temperature, tokens, template, judge."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rl_advisor.curves.held_out_scores import PRIVATE
from rl_advisor.run import Run
from rl_advisor.settings.given import is_word

KEYS: Mapping[str, tuple[str, ...]] = {
    "environment": ("env_id", "env_name", "env", "environment", "task_name"),
    "split": ("dataset_test_split", "eval_split", "test_split"),
    "data": ("data.val_files", "eval_dataset", "eval_prompt_data", "valid_dataset.path", "eval_dataset_name"),
    "episodes": ("n_eval_episodes", "eval_episodes", "evaluation_duration", "eval_num_samples"),
    "temperature": ("eval_temperature", "val_kwargs.temperature", "eval_gconfig.temperature"),
    "tokens": ("eval_max_new_tokens", "eval_max_tokens", "eval_max_response_len", "eval_gconfig.max_new_tokens"),
    "template": ("chat_template", "prompt_template", "apply_chat_template"),
    "judge": ("judge_model", "judge", "reward_model.path", "reward_model_path", "grader"),
}
"""Part of a protocol -> the keys under which settings give it; a key counts by its last parts."""
WANTED = ("split", "samples", "temperature", "tokens")
"""What a score of a language model means nothing without; control asks for ``environment`` and ``episodes``."""
SPLITS = (
    ("private", PRIVATE),
    ("test", r"test"),
    ("dev", r"dev|val(?:id(?:ation)?)?"),
)
"""Split -> words for it in a metric's or a file's name."""
_SAMPLES = re.compile(r"@(\d{1,4})\b|pass(?:_at)?_?(\d{1,4})\b")


def protocol(run: Run) -> dict[str, Any]:
    """What is known of the protocol, by its parts; ``missing`` names what is not."""
    found = {part: value for part, keys in KEYS.items() if (value := given(run, keys)) is not None}
    names = [c.raw for n, c in run.curves.items() if n.startswith("eval/score/")]
    if "split" not in found and (split := next((s for s, p in SPLITS if any(_has(p, name) for name in names)), None)):
        found["split"] = split
    counts = {int(m.group(1) or m.group(2)) for name in names for m in _SAMPLES.finditer(name)}
    if counts:
        found["samples"] = sorted(counts)
    wanted = ("environment", "episodes") if "episode/length" in run.curves else WANTED
    return {**found, "missing": [part for part in wanted if part not in found]}


def unlike(runs: Sequence[Run]) -> list[str]:
    """The parts of the protocol in which runs differ for certain, each in words; a part that only one gives differs from nothing."""
    told = [protocol(run) for run in runs]
    out = []
    for part in (*KEYS, "samples"):
        values = list(dict.fromkeys(str(t[part]) for t in told if part in t))
        if len(values) > 1:
            out.append(f"{part} ({' against '.join(values[:4])})")
    return out


def given(run: Run, keys: Sequence[str]) -> Any:
    """The value under the first key that the configuration has; None where it has none, or where the value is no word."""
    for wanted in keys:
        for key, value in run.config.items():
            if (key == wanted or key.endswith((f".{wanted}", f"/{wanted}"))) and value not in (None, "", []):
                return value if not isinstance(value, str) or is_word(value) else None
    return None


def _has(pattern: str, name: str) -> bool:
    return re.search(rf"(?i)(?:^|[^a-z])(?:{pattern})(?:[^a-z]|$)", name) is not None
