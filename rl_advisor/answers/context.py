"""What of an experiment is on record: what belongs there before, during and after training, and which of it is there."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from rl_advisor.run import Run

There = Callable[[Run], bool]


def _keys(pattern: str) -> There:
    """Whether a setting goes by such a name."""
    found = re.compile(rf"(?i){pattern}")
    return lambda run: any(found.search(str(key)) for key in (*run.config, *run.settings) if not str(key).startswith("code."))


def _files(pattern: str) -> There:
    """Whether a file goes by such a name, read or left alone."""
    found = re.compile(rf"(?i){pattern}")
    return lambda run: any(found.search(name) for name in (*run.files, *(gap.where for gap in run.ignored)))


def _any(*asked: There) -> There:
    return lambda run: any(ask(run) for ask in asked)


def _code(name: str) -> There:
    return lambda run: f"code.{name}" in run.config


PARTS: Mapping[str, Mapping[str, There]] = {
    "before": {
        "configuration": lambda run: any(not key.startswith("code.") for key in run.config),
        "seed": _keys(r"(?:^|[._/-])seeds?$|seed_everything"),
        "code version": _any(_code("commit"), _code("uncommitted_lines"), _keys(r"commit|(?:^|[._/-])git|code_sha|code_version")),
        "dependency versions": _any(_code("packages"), _files(r"conda.*ya?ml|environment\.ya?ml|poetry\.lock|uv\.lock|pip_freeze")),
        "data version": _keys(r"dataset|data_files|train_files|prompt_data|data_revision|env_id|env$|env_name|environment"),
        "evaluation command": _any(_keys(r"eval|test_freq|val_"), _files(r"(?:^|/)[\w-]*eval[\w-]*\.(?:sh|py|ya?ml|toml)$")),
        "stop rule": _any(
            lambda run: run.planned_steps is not None, _keys(r"max_steps|total_\w*steps|n_timesteps|epochs|patience|max_iterations|stop_")
        ),
    },
    "during": {
        "training log": lambda run: bool(run.curves),
        "held-out score": lambda run: any(name.startswith("eval/score/") for name in run.curves),
        "samples": lambda run: len(run.rollouts) > 0,
        "checkpoints": lambda run: bool(run.checkpoints),
    },
    "after": {
        "report on a private test set": _any(
            _files(r"private|blind|final[_-]?(?:test|eval)|test[_-]?set"),
            lambda run: any(re.search(r"(?i)private|blind|test[_-]?set", name) for name in run.curves),
        ),
        "other seeds": lambda run: bool(run.others),
    },
}
"""When -> what belongs on record then -> whether it is."""
CONFOUNDS = ("configuration", "seed", "code version", "data version", "evaluation command", "checkpoints")
"""Without one of these two runs cannot be told apart, or nothing can be rolled back: what a short answer names."""


def context(run: Run) -> dict[str, dict[str, list[str]]]:
    """For before, during and after training: what is there and what is missing."""
    asked = {when: {what: there(run) for what, there in parts.items()} for when, parts in PARTS.items()}
    return {
        when: {"there": [what for what, yes in found.items() if yes], "missing": [what for what, yes in found.items() if not yes]}
        for when, found in asked.items()
    }


def unrecorded(found: Mapping[str, Any]) -> str:
    """What a context lacks of that without which runs cannot be compared or taken up again, listed."""
    missing = {what for part in found.values() for what in part["missing"]}
    return ", ".join(what for what in CONFOUNDS if what in missing)


def said(found: Mapping[str, Any]) -> str:
    """The context in a line: what is recorded, and what is not and when it belongs there."""
    there = [what for part in found.values() for what in part["there"]]
    missing = [f"{when}: {', '.join(part['missing'])}" for when, part in found.items() if part["missing"]]
    return f"on record: {', '.join(there) or 'nothing'}" + (f"; missing, {'; '.join(missing)}" if missing else "")
