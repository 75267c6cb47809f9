"""The configuration that a trainer prints into its log before the first row."""

from dataclasses import replace
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import ANSI, bare_name, head
from rl_advisor.reading.parsing.config.printed import of_print
from rl_advisor.reading.parsing.log_lines import CONSOLES
from rl_advisor.run import Run

HEAD = 131_072
"""Bytes of a log in which a printed configuration is looked for."""


def with_printed(part: Run, path: Path) -> Run:
    """The part of a text log with the settings printed at its head; those that its format found itself go before."""
    if not (part.curves and bare_name(path).endswith(CONSOLES)):
        return part
    printed = of_print(ANSI.sub("", head(path, HEAD).decode("utf-8", "replace")))
    return replace(part, config={**printed, **part.config}) if printed else part
