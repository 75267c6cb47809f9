"""TensorBoard event files, old and new style; texts that hold settings become the configuration."""

import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import json_object
from rl_advisor.reading.parsing.columns import raw_curve
from rl_advisor.reading.parsing.event_files.reader import read_events
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Gap, Named, Run

FORMAT = "tensorboard"
_NAME = re.compile(r"events\.out\.tfevents\.|.*\.tfevents(\.|$)")
_CONFIG_TAG = re.compile(r"(.*/)?(args|model_config|config|hyperparameters|hparams)(/text_summary)?")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is one that event writers give."""
    return _NAME.match(path.name) is not None and path.is_file()


def read(path: Path, _: Request = WHOLE) -> Run:
    """One event file: its scalars as curves, in the order of writing; holes as gaps."""
    events = read_events(path)
    curves = {tag: raw_curve(tag, *points) for tag, points in events.scalars().items()}
    gaps = [Gap("", f"{why}: bytes {start:,} to {end:,} could not be read") for start, end, why in events.holes]
    config = {key: value for tag, text in events.texts.items() if _CONFIG_TAG.fullmatch(tag) for key, value in _parsed(text).items()}
    return Run(curves=curves, config=config, gaps=tuple(gaps))


def _parsed(text: str) -> Named:
    """The settings that a text holds: one JSON object, or a table of parameters."""
    if text.lstrip().startswith("|param|value|"):
        return dict(re.findall(r"^\|([^|\n]+)\|([^|\n]*)\|$", text, re.MULTILINE)[2:])
    return json_object(text)
