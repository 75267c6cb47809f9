"""The command that started a run, as it stands in run.sh, train.sbatch and the like: flags and Hydra overrides. Nothing of it is run."""

from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document, head
from rl_advisor.reading.parsing.config.command_line import of_commands
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "command_line"
BESIDE = True
"""Says how a run was set up, and is none."""
SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".zsh")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether it is a short script of a shell in which a training command stands."""
    return bare_name(path).endswith(SUFFIXES) and path.stat().st_size <= TEXT_LIMIT and bool(of_commands(_text(head(path, TEXT_LIMIT))))


def read(path: Path, _: Request = WHOLE) -> Run:
    """The settings of the command, flat, by the names of its flags."""
    return Run(config=of_commands(_text(document(path, TEXT_LIMIT))), formats=(FORMAT,))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
