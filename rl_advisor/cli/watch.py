"""The command that follows a growing run."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

SECONDS = click.FloatRange(0, min_open=True)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("run", type=click.Path())
@click.option("--every", type=SECONDS, default=60.0, show_default=True, metavar="SECONDS", help="Time between two looks.")
@click.option(
    "--idle", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS", help="End when nothing was written for this long."
)
@click.option("--out", type=FILE, metavar="FILE", help="Report to write at each change: FILE.html or FILE.md.")
@click.option("--webhook", metavar="URL", help="Address to post each change to, as JSON.")
@click.option("--state", "state_file", type=FILE, metavar="FILE", help="Remember here what was said, for a restart.")
@click.option("--record", "recording", type=FILE, metavar="FILE", help="Record this machine's GPUs meanwhile, as `record` does.")
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="Speak, and advise to stop, when it breaks: 'kl > 0.5 for 20 steps'.")
@click.option("--to", multiple=True, metavar="TRACKER[:WHERE]", help="Show the judgement beside the curves at the end; as `report --to`.")
@click.option("--until-stop", is_flag=True, help="End, with exit code 10, as soon as stopping is advised.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document per change.")
def watch(run: str, as_json: bool, recording: Path | None, **how: Any) -> None:
    """Follow RUN while it trains; speak when the judgement changes. Exit code 10: stopping is advised."""
    from rl_advisor.output.errors import UsageError
    from rl_advisor.tools import watching

    if "://" in run:
        raise UsageError(
            "watch follows files on this machine, because it reads only what was appended; a store gives whole copies. "
            "Run it where the trainer writes, or judge a copy again and again with assess"
        )

    def tell(change: dict[str, Any]) -> None:
        click.echo(json.dumps(change) if as_json else watching.line(change))

    with recorded(recording):
        code = watching.watch(Path(run), **how, clock=time.monotonic, sleep=time.sleep, tell=tell, aside=recording)
    sys.exit(code)


@contextmanager
def recorded(out: Path | None) -> Iterator[None]:
    """Record the GPUs into a file until the end, in a process of its own, so that judging does not delay a reading.

    Raises:
        UsageError: there is no GPU, or no access to one.
    """
    if out is None:
        yield
        return
    from rl_advisor.gpu import nvml
    from rl_advisor.output.errors import UsageError

    try:
        nvml.nvml()
    except nvml.NoGpu as missing:
        raise UsageError(str(missing)) from missing
    recorder = subprocess.Popen([sys.executable, "-m", "rl_advisor", "record", "--out", str(out)], stdin=subprocess.DEVNULL)  # noqa: S603
    try:
        yield
    finally:
        recorder.send_signal(signal.SIGINT)  # upon which it packs what it has
        recorder.wait(timeout=60)
