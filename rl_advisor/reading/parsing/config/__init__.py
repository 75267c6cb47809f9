"""Settings as people write them: files, command lines, Python keywords, what a trainer prints; all become one flat table, nothing runs."""

from typing import Any

from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.printed import of_print
from rl_advisor.reading.parsing.config.python_keywords import of_python
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT, typed
from rl_advisor.reading.parsing.config.yaml_in import of_yaml
from rl_advisor.reading.parsing.flat_config import flat


def settings_in(text: str) -> dict[str, Any]:
    """Every setting that a text holds, by the key it is written under; empty where there is none. At most 300,000 characters are read.

    Tried in this order, and the first that finds anything answers: JSON or YAML, Python, command lines and printed configurations.
    """
    text = text[:TEXT_LIMIT]
    if mapped := of_yaml(text):
        return {key: typed(value) for key, value in flat(mapped).items()}
    written = of_python(text)
    if any(not key.startswith("script.") for key in written):
        return written
    return written | of_print(text) | of_commands(text)
