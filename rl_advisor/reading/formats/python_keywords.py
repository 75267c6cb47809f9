"""The script that started a run: keywords of its calls, defaults of its arguments, what its reward functions match. Parsed, never run."""

import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head
from rl_advisor.reading.parsing.config.python_keywords import of_python
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "python_keywords"
BESIDE = True
"""Says how a run was set up, and is none."""
_TRAINS = re.compile(
    rb"\b(?:\w{0,20}(?:PPO|GRPO|RLOO|SAC|TD3|DQN|A2C|DDPG|TRPO|TQC)\w{0,20}|TrainingArguments|learning_rate|num_generations)\s*(?:\(|=)"
)


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a short Python script that makes a trainer."""
    if not bare_name(path).endswith(".py") or path.stat().st_size > TEXT_LIMIT:
        return False
    return _TRAINS.search(head(path, TEXT_LIMIT)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """The settings of the script, flat, by their keywords."""
    return Run(config=of_python(document(path, TEXT_LIMIT).decode("utf-8", "replace")), formats=(FORMAT,))
