"""Commands for people who come with lines, settings or a plan instead of a folder: explain, check, preflight."""

import sys
from pathlib import Path
from typing import Any

import click

from rl_advisor.output.errors import UsageError

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
LARGEST = 10_000_000
"""Characters that are taken from a file or from standard input."""


@click.command()
@click.argument("what", required=False, default="-", metavar="[WORD|FILE|-]")
@click.option("--paste", is_flag=True, help="Open an editor to paste into.")
@click.option("--question", default="", metavar="TEXT", help="What you want to know.")
@click.option("--framework", metavar="NAME", help="Who wrote the lines, where they do not tell: trl, verl, sb3, ...")
@JSON
def explain(what: str, paste: bool, question: str, framework: str | None, as_json: bool) -> None:
    """Explain lines of a log (standard input, a file or --paste), or a word: a metric, a pattern, a verdict.

    Says what the lines are, whether each number is normal for the method and why, what they prove, the likely causes and what to ask.
    """
    from rl_advisor import tools

    text = _pasted() if paste else _taken(what)
    _show("explain", tools.explain_log(text, question, framework), as_json)


@click.command()
@click.argument("config", default="-", metavar="CONFIG|RUN|-")
@JSON
def check(config: str, as_json: bool) -> None:
    """Check the settings in a file, a run folder or standard input: YAML, JSON, command lines, train.py, printed configurations.

    Nothing is run. Each check names what it relates; `rl-advisor explain CHECK` shows its page.
    """
    from rl_advisor import tools

    answer = tools.check_settings(text=_taken("-")) if config == "-" else tools.check_settings(config)
    _show("check", answer, as_json)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--random", "random_", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Episodes of a random policy.")
@click.option("--scripted", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Episodes of a policy written by hand.")
@click.option("--rewards", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Rewards of any policy, for the histogram.")
@click.option("--train", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Prompts to train on (JSONL, CSV, Parquet).")
@click.option("--test", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Prompts of the test, to hold against them.")
@click.option("--model", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The model's config.json: estimate its memory.")
@click.option("--gpus", type=click.IntRange(1), default=1, show_default=True, help="GPUs that share it.")
@click.option("--gib", type=click.FloatRange(0, min_open=True), help="Memory of one GPU, to compare with.")
@JSON
def preflight(  # noqa: PLR0913
    folder: Path | None,
    random_: Path | None,
    scripted: Path | None,
    rewards: Path | None,
    train: Path | None,
    test: Path | None,
    model: Path | None,
    gpus: int,
    gib: float | None,
    as_json: bool,
) -> None:
    """Look at a plan before training: settings in FOLDER, and episodes of a random and of a scripted policy (monitor.csv, CSV, JSONL).

    Says whether the reward tells the two apart, what its histogram means, what the experiment's description lacks, and what the settings
    prove. The skill ships a script that makes the episodes, and one that checks an environment. More on memory: `rl-advisor memory`.
    """
    from rl_advisor import tools

    files = {"random": random_, "scripted": scripted, "rewards": rewards, "train": train, "test": test, "model": model}
    given = {name: file for name, file in files.items() if file is not None}
    if folder is None and not given:
        raise UsageError("give a folder with settings, --random and --scripted with episodes, --rewards, --train and --test, or --model")
    _show("preflight", tools.preflight(folder, gpus, gib, **given), as_json)


def _pasted() -> str:
    """What the user puts into an editor."""
    text = click.edit("\n# Paste the lines above this one and save.\n")
    if text is None:
        raise UsageError("nothing was pasted: the editor was left without saving")
    return text.partition("# Paste the lines above")[0]


def _taken(what: str) -> str:
    """Standard input, a file's text, or the word itself."""
    if what == "-":
        if sys.stdin.isatty():
            click.echo("rl-advisor: paste the lines, then press Ctrl-D.", err=True)
        return sys.stdin.read(LARGEST)
    file = Path(what)
    if not file.is_file():
        from rl_advisor.answers.explain.words import explain_word, nearest

        if file.exists() or "/" in what or explain_word(what) is None:
            near = nearest(what)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"{what!r} is neither a file nor a metric, pattern, check or verdict{hint}")
        return what
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(LARGEST)


def _show(kind: str, answer: dict[str, Any], as_json: bool) -> None:
    """Print the answer as one JSON document or as text."""
    if as_json:
        import orjson

        click.echo(orjson.dumps(answer))
        return
    from rl_advisor.cli import printing

    click.echo(printing.text(kind, answer))


COMMANDS = (explain, check, preflight)
