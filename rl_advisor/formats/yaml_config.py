"""A run's configuration as YAML: Hydra's .hydra/config.yaml, config.yaml of many trainers, args.yml of the SB3 zoo."""

import re
from pathlib import Path
from typing import Any

from rl_advisor.intake.bytes_in import bare_name, document, head
from rl_advisor.intake.flat_config import flat
from rl_advisor.intake.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "yaml_config"
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
        config = _load(document(path, SIZE_LIMIT))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        return Run(gaps=(Gap(path.name, f"the configuration could not be read: {type(error).__name__}"),), formats=(FORMAT,))
    if not isinstance(config, dict):
        return Run(gaps=(Gap(path.name, "no YAML map"),), formats=(FORMAT,))
    return Run(config=flat(_of_one_behaviour(config)), formats=(FORMAT,))


def _of_one_behaviour(config: dict[Any, Any]) -> dict[Any, Any]:
    """The configuration, and where ML-Agents trains a single behaviour, what it says of that one without its name before it."""
    named = config.get("behaviors")
    only = next(iter(named.values())) if isinstance(named, dict) and len(named) == 1 else None
    return {**only, **config} if isinstance(only, dict) else config


def _load(text: bytes) -> Any:
    import yaml

    class Plain(yaml.SafeLoader if not yaml.__with_libyaml__ else yaml.CSafeLoader):  # type: ignore[misc]
        """A safe loader that looks through Python tags instead of refusing the file."""

    def plain(loader: Any, _suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return _pairs(loader.construct_sequence(node, deep=True))
        return loader.construct_scalar(node)

    Plain.add_multi_constructor("tag:yaml.org,2002:python/", plain)
    loader = Plain(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _pairs(values: list[Any]) -> Any:
    """The map that an OrderedDict's list of pairs stands for; other lists as they are."""
    inner = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if inner and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in inner):
        return {v[0]: v[1] for v in inner}
    return values
