"""How a run was set up, in the file that says so: a configuration in YAML or JSON, a training command in a shell script, a Python script.

Nothing of it is run, and nothing is built from its tags.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.python_keywords import of_python
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT
from rl_advisor.reading.parsing.config.yaml_in import load_yaml, of_one_behaviour
from rl_advisor.reading.parsing.flat_config import flat
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "configuration"
BESIDE = True
"""Says how a run was set up, and is none."""


class _Kind(NamedTuple):
    """A kind of file: its name, how it begins, how large it may be, and who reads it."""

    name: re.Pattern[str]
    start: re.Pattern[bytes]
    most: int
    settings: Callable[[bytes], dict[str, Any]]


def _of_map(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("no map of settings")  # noqa: TRY004 - the file is damaged, not the program
    return flat(of_one_behaviour(found))


_KINDS = (
    _Kind(
        re.compile(
            r"(?:config|args|params|hparams|recipe|run_config|training_args|grpo|ppo|configuration|trainer_config)\.ya?ml",
        ),
        re.compile(rb"(?m)^[\w\"'!-].*(:|\bapply)"),
        2_000_000,
        lambda data: _of_map(load_yaml(data)),
    ),
    _Kind(
        re.compile(r"(?:training_args|params|config|args|hparams|hyperparameters|variant|run_config)\.json"),
        re.compile(rb'(?s)\A\s*\{(?!.{0,8192}"(?:model_type|architectures|transformers_version)")'),
        8_000_000,
        lambda data: _of_map(parse_json(data)),
    ),
    _Kind(
        re.compile(r".*\.(?:sh|bash|slurm|sbatch|zsh)"),
        re.compile(rb"."),
        TEXT_LIMIT,
        lambda data: of_commands(data.decode("utf-8", "replace")),
    ),
    _Kind(
        re.compile(r".*\.py"),
        re.compile(
            rb"\b(?:\w{0,20}(?:PPO|GRPO|RLOO|SAC|TD3|DQN|A2C|DDPG|TRPO|TQC)\w{0,20}|TrainingArguments|learning_rate|num_generations)\s*(?:\(|=)"
        ),
        TEXT_LIMIT,
        lambda data: of_python(data.decode("utf-8", "replace")),
    ),
)


def _kind(path: Path) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.name.fullmatch(bare_name(path))), None)


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is named and begins as one of them; of a script, whether it trains."""
    kind = _kind(path)
    if kind is None:
        return False
    if kind.most > TEXT_LIMIT:
        return kind.start.search(head(path, 8_192)) is not None
    start = head(path, TEXT_LIMIT) if path.stat().st_size <= TEXT_LIMIT else b""
    return kind.start.search(start) is not None and bool(kind.settings(start))


def read(path: Path, _: Request = WHOLE) -> Run:
    """The settings, flat."""
    kind = _kind(path) or _KINDS[0]
    try:
        return Run(config=kind.settings(document(path, kind.most)), formats=(FORMAT,))
    except (ValueError, OverflowError, RecursionError) as error:
        return Run(gaps=(Gap(path.name, f"the settings could not be read: {type(error).__name__}: {error}"[:300]),), formats=(FORMAT,))
