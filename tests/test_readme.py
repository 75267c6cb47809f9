"""The README says what the program says: its example output, its counts and its commands are checked against the real thing."""

import re
import sys
from pathlib import Path

from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.detectors import patterns
from rl_advisor.discovery import modules
from rl_advisor.vocabulary.dialects import dialects

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SHOWN = 19
"""Lines of the example that stand in the README."""


def blocks() -> dict[str, str]:
    """What stands between each pair of markers, freshly made."""
    said = (
        CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(main, ["assess", str(ROOT / "examples" / "grpo-run")]).stdout.splitlines()
    )
    count = f"{len(patterns())} patterns, {len(modules('rl_advisor.reading.formats', 'FORMAT'))} file formats"
    count += f" and {len(dialects())} frameworks' names are known."
    return {"demo": "\n```text\n" + "\n".join(said[:SHOWN]) + "\n```\n", "counts": count}


def filled(text: str) -> str:
    """The README with every block as it should be."""
    for name, block in blocks().items():
        text = re.sub(
            rf"<!-- {name} -->.*?<!-- /{name} -->", lambda _, n=name, b=block: f"<!-- {n} -->{b}<!-- /{n} -->", text, flags=re.DOTALL
        )
    return text


def test_readme_is_current() -> None:
    """Example output and counts are those of today; ``python tests/test_readme.py`` writes them."""
    assert README.read_text() == filled(README.read_text())


def test_every_command_of_the_readme_exists() -> None:
    """Each ``rl-advisor`` command that the README shows is one of the program's."""
    shown = set(re.findall(r"rl-advisor ([a-z]+)", README.read_text().split("## What it looks for")[0]))
    assert shown <= set(main.commands)
    assert {"assess", "load", "samples", "report"} <= shown


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
    sys.stdout.write("README.md written\n")
