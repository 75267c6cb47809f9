"""A run's configuration as one JSON object: training_args.json, params.json, config.json and the like."""

from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head, parse_json
from rl_advisor.reading.parsing.flat_config import flat
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Run

FORMAT = "json_config"
BESIDE = True
"""Says how a run was set up, and is none."""
NAMES = (
    "training_args.json",
    "params.json",
    "config.json",
    "args.json",
    "hparams.json",
    "hyperparameters.json",
    "variant.json",
    "run_config.json",
)
SIZE_LIMIT = 8_000_000
_MODEL_MARKS = (b'"model_type"', b'"architectures"', b'"transformers_version"')


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is one of those and it is not the configuration of a model."""
    if bare_name(path) not in NAMES:
        return False
    start = head(path, 8_192)
    return start.lstrip().startswith(b"{") and not any(mark in start for mark in _MODEL_MARKS)


def read(path: Path, _: Request = WHOLE) -> Run:
    """The configuration, flat."""
    try:
        config = parse_json(document(path, SIZE_LIMIT))
    except (ValueError, OverflowError) as error:
        return Run(gaps=(Gap(path.name, f"the configuration could not be read: {error}"[:300]),), formats=(FORMAT,))
    if not isinstance(config, dict):
        return Run(gaps=(Gap(path.name, "no JSON object"),), formats=(FORMAT,))
    return Run(config=flat(config), formats=(FORMAT,))
