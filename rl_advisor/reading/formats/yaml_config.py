"""A run's configuration as YAML: Hydra's .hydra/config.yaml, config.yaml of many trainers, args.yml of the SB3 zoo."""

import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head
from rl_advisor.reading.parsing.config.yaml_in import load_yaml, of_one_behaviour
from rl_advisor.reading.parsing.flat_config import flat
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "yaml_config"
BESIDE = True
"""Says how a run was set up, and is none."""
NAMES = ("config", "args", "params", "hparams", "recipe", "run_config", "training_args", "grpo", "ppo", "configuration", "trainer_config")
SIZE_LIMIT = 2_000_000


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is one of those and the file has a ``key:`` near its start."""
    stem, dot, suffix = bare_name(path).rpartition(".")
    return (
        bool(dot)
        and suffix in ("yaml", "yml")
        and stem in NAMES
        and re.search(rb"(?m)^[\w\"'!-].*(:|\bapply)", head(path, 8_192)) is not None
    )


def read(path: Path, _: Request = WHOLE) -> Run:
    """The configuration, flat; tags of Python objects are read as the plain lists and maps they wrap, nothing is built from them."""
    import yaml

    try:
        config = load_yaml(document(path, SIZE_LIMIT))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        return Run(gaps=(Gap(path.name, f"the configuration could not be read: {type(error).__name__}"),), formats=(FORMAT,))
    if not isinstance(config, dict):
        return Run(gaps=(Gap(path.name, "no YAML map"),), formats=(FORMAT,))
    return Run(config=flat(of_one_behaviour(config)), formats=(FORMAT,))
