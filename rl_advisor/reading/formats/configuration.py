"""How a run was set up, in the file that says so: a configuration in YAML or JSON, a training command in a shell script, a Python script.

Nothing of it is run, and nothing is built from its tags.
"""

import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.python_keywords import of_python
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT, flat
from rl_advisor.reading.parsing.config.yaml_in import load_yaml, of_one_behaviour
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Named, Run

FORMAT = "configuration"
BESIDE = True
"""Says how a run was set up, and is none."""
_MAP = re.compile(
    r"(?:training_args|params|config|args|hparams|run_config)\.(?:ya?ml|json)|(?:hyperparameters|variant)\.json"
    r"|(?:recipe|grpo|ppo|configuration|trainer_config)\.ya?ml"
)
_SCRIPT = re.compile(r".*\.(?:sh|bash|slurm|sbatch|zsh|py)")
_MAPS = re.compile(rb"(?m)^[ \t]*+[\w\"'!{-].*(?::|\bapply)")
_MODEL = re.compile(rb'"(?:model_type|architectures|transformers_version)"')
"""What stands in the configuration of a model."""
_TRAINS = re.compile(
    rb"\b(?:\w{0,20}(?:PPO|GRPO|RLOO|SAC|TD3|DQN|A2C|DDPG|TRPO|TQC)\w{0,20}|TrainingArguments|learning_rate|num_generations)\s*(?:\(|=)"
)


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is named and begins as one of them; of a script, whether it trains."""
    name = bare_name(path)
    if _MAP.fullmatch(name):
        start = head(path, 8_192)
        return _MAPS.search(start) is not None and not _MODEL.search(start)
    if not _SCRIPT.fullmatch(name) or path.stat().st_size > TEXT_LIMIT:
        return False
    start = head(path, TEXT_LIMIT)
    return (_TRAINS.search(start) is not None or not name.endswith(".py")) and bool(_settings(name, start))


def read(path: Path, _: Request = WHOLE) -> Run:
    """The settings, flat."""
    name = bare_name(path)
    try:
        return Run(config=_settings(name, document(path, 8_000_000 if name.endswith(".json") else 2_000_000)))
    except (ValueError, OverflowError, RecursionError) as error:
        return Run(gaps=(Gap("", f"the settings could not be read: {type(error).__name__}: {error}"[:300]),))


def _settings(name: str, data: bytes) -> Named:
    if _SCRIPT.fullmatch(name):
        return (of_python if name.endswith(".py") else of_commands)(data.decode("utf-8", "replace"))
    found = (parse_json if name.endswith(".json") else load_yaml)(data)
    if not isinstance(found, dict):
        raise ValueError("no map of settings")  # noqa: TRY004 - the file is damaged, not the program
    return flat(of_one_behaviour(found))
