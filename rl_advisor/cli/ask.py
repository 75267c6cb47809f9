"""Commands for people who come with lines or settings instead of a folder: explain, check."""

import sys
from pathlib import Path

import click

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.output.errors import UsageError

LARGEST = 10_000_000
"""Characters that are taken from a file or from standard input."""
SENTENCE = 4
"""Words from which on what is asked is a sentence, and no name."""


@command("explain")
def explain(what: str, question: str, framework: str | None, as_json: bool) -> None:
    """Explain lines of a log (standard input or a file), or a word: a metric, a pattern, a verdict.

    Says what the lines are, whether each number is normal for the method and why, what they prove, the likely causes and what to ask.
    """
    from rl_advisor import tools

    show("explain", tools.explain_log(_taken(what), question, framework), as_json)


@command("check")
def check(config: str, as_json: bool) -> None:
    """Check the settings in a file, a run folder or standard input: YAML, JSON, command lines, train.py, printed configurations.

    Nothing is run. Each check names what it relates; `rl-advisor explain CHECK` shows its page.
    """
    from rl_advisor import tools

    answer = tools.check_settings(text=_taken("-")) if config == "-" else tools.check_settings(config)
    show("check", answer, as_json)


def _taken(what: str) -> str:
    """Standard input, a file's text, or the word or the sentence itself."""
    if what == "-":
        if sys.stdin.isatty():
            click.echo("rl-advisor: paste the lines, then press Ctrl-D.", err=True)
        return sys.stdin.read(LARGEST)
    file = Path(what)
    if not file.is_file():
        from rl_advisor.answers.explain.words import explain_word, nearest

        if file.exists() or (len(what.split()) < SENTENCE and ("/" in what or explain_word(what) is None)):
            near = nearest(what)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"{what!r} is neither a file nor a metric, pattern, check or verdict{hint}")
        return what
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(LARGEST)


COMMANDS = (explain, check)
