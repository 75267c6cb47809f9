"""Settings as people write them: files, command lines, Python keywords, what a trainer prints; all become one flat table, nothing runs."""

import re

from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.printed import of_print
from rl_advisor.reading.parsing.config.python_keywords import of_python
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT, typed_flat
from rl_advisor.reading.parsing.config.yaml_in import of_yaml
from rl_advisor.run import Named

_BLOCK = re.compile(
    r"(?m)(?:^[ \t]{0,20}(?:[a-z]\w{1,60}:(?: \S[^\n]{0,200})?|[a-z]\w{0,40}(?:\.\w{1,60}){1,6}=[^\s=][^\n]{0,200})(?:\n|\Z)){4,}"
)
"""Lines of settings one below the other."""


def settings_in(text: str) -> Named:
    """Every setting that a text holds, by the key it is written under; empty where there is none. At most 300,000 characters are read.

    Tried in this order, and the first that finds anything answers: JSON or YAML, Python, command lines and printed configurations.
    """
    text = text[:TEXT_LIMIT]
    if mapped := of_yaml(text):
        return typed_flat(mapped)
    written = of_python(text)
    if any(not key.startswith("script.") for key in written):
        return written
    return written | of_print(text) | of_commands(text) | _of_block(text)


def _of_block(text: str) -> Named:
    """The settings of the longest block of lines ``key: value`` or ``group.key=value`` in a text that says other things besides."""
    blocks = (re.sub(r"(?m)^([\w.]+)=", r"\1: ", block[0]) for block in _BLOCK.finditer(text))
    return typed_flat(of_yaml(max(blocks, key=len, default="")))
