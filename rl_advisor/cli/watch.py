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

from rl_advisor.cli.options import command
from rl_advisor.output import Answer


@command("watch")
def watch(run: str, as_json: bool, recording: Path | None, **how: Any) -> None:
    """Follow RUN while it trains; speak when the judgement changes. Exit code 10: stopping is advised."""
    from rl_advisor.output.errors import UsageError
    from rl_advisor.tools import watching

    if "://" in run:
        raise UsageError(
            "watch follows files on this machine, because it reads only what was appended; a store gives whole copies. "
            "Run it where the trainer writes, or judge a copy again and again with assess"
        )

    def tell(change: Answer) -> None:
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
    from rl_advisor.gpu.recorder import nvml

    nvml()
    recorder = subprocess.Popen([sys.executable, "-m", "rl_advisor", "record", "--out", str(out)], stdin=subprocess.DEVNULL)  # noqa: S603
    try:
        yield
    finally:
        recorder.send_signal(signal.SIGINT)  # upon which it packs what it has
        recorder.wait(timeout=60)
