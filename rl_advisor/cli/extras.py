"""Commands that do more than ask a verb: write an audit sheet, draw the GPUs, set runs side by side, fetch a run, record the GPUs."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

import click

from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import busy
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError


@command("serve")
def serve(roots: tuple[str, ...], remote: tuple[str, ...], http: str | None, case_folder: Path | None) -> None:
    """Serve the tools to an assistant over the Model Context Protocol."""
    from rl_advisor.tools.workers import POOL

    POOL.start()  # beside the protocol's own library, which takes as long
    from rl_advisor import server

    where = None if http is None else server.address(http)
    started = server.build(roots or (".",), remote, case_folder)
    if where is not None:
        click.echo(f"rl-advisor: serving http://{where[0]}:{where[1]}/mcp", err=True)
    elif sys.stdin.isatty():
        click.echo(
            "rl-advisor: waiting for an assistant on standard input; this command is for its configuration, not for typing.", err=True
        )
    server.serve(started, where)


@command("samples")
def samples(run: str, audit: str | None, as_json: bool, **asked: Any) -> None:
    """Read what the model wrote in RUN: best and worst rewarded, random ones, why episodes failed, what the reward pays for."""
    from rl_advisor import tools

    sheet = Path(audit) if audit and not audit.isdigit() else None
    most = None if sheet or not audit else click.IntRange(1, 1000)(audit)
    answer = busy(run, lambda: tools.ask("spot_check_samples", run, audit=most, **asked))
    if sheet:
        from rl_advisor.answers.audit_sheet import audit_sheet
        from rl_advisor.output.clean import clean

        answer |= {"labels": clean(audit_sheet(tools.read(tools.place(run), asked["until"], asked["columns"]), sheet))}
    show("samples", answer, as_json)


@command("record")
def record(out: Path, every: float) -> None:
    """Record the GPUs of this machine until stopped; put the file beside the run and `gpu` reads it."""
    with recorded(out, every) as recording, suppress(KeyboardInterrupt):
        recording.wait()


@command("fetch")
def fetch(address: str, out: Path, gib: float, seconds: float) -> None:
    """Bring what ADDRESS holds into a folder of its own below --out, for example GPU counters beside a run.

    ADDRESS: s3://BUCKET/RUN, gs://BUCKET/RUN, https://HOST/RUN/, mlflow+http://HOST:PORT/RUN_ID or wandb://ENTITY/PROJECT/RUN. The other
    commands take such addresses, too. Keys come from where each store's own client looks for them.
    """
    from rl_advisor.reading.remote import bounds, copies

    folder = out / copies.named(address)
    if folder.exists():
        raise UsageError(f"{folder} exists; nothing is written over it")
    copies.fetch(address, folder, bounds.Bounds(seconds=seconds, size=int(gib * 2**30)))
    click.echo(str(folder))


@command("compare")
def compare(runs: tuple[str, ...], until: float | None, out: str | None, as_json: bool, **which: bool) -> None:
    """Set RUNS or seeds side by side: variants, whether they differ by more than luck, and which settings changed."""
    from rl_advisor import tools
    from rl_advisor.tools import report_file

    probe = which["probe"]
    if which["usual"] and len(runs) == 1:
        here = click.get_current_context()
        door: Any = here.find_root().command
        given: Answer = {"run": runs[0], "until": until, "as_json": as_json, "mapping": {}} | ({"out": (out,)} if out else {})
        here.invoke(door.commands["report" if out else "curves"], **given)
        return
    if which["usual"]:
        raise click.UsageError("compare --usual takes one RUN")
    if probe and out is not None:
        raise click.UsageError("--probe is an answer of a few lines; it writes no page")
    if out is not None:
        written = busy(f"{len(runs)} runs", lambda: report_file.write_comparison(runs, out))
        click.echo(f"rl-advisor: written: {written}", err=True)

    answer = busy(f"{len(runs)} runs", lambda: tools.ask("compare_runs", runs, until, probe))
    show("probe" if probe else "compare", answer, as_json)


COMMANDS = (samples, compare, fetch, record)


@command("watch")
def watch(run: str, as_json: bool, recording: Path | None, **how: Any) -> None:
    """Follow RUN while it trains; speak when the judgement changes. Exit code 10: stopping is advised."""
    from rl_advisor.tools import watching

    if "://" in run:
        raise UsageError(
            "watch follows files on this machine, because it reads only what was appended; a store gives whole copies. "
            "Run it where the trainer writes, or judge a copy again and again with assess"
        )

    def tell(change: Answer) -> None:
        click.echo(json.dumps(change) if as_json else watching.line(change))

    with recorded(recording) if recording else nullcontext():
        code = watching.watch(Path(run), **how, clock=time.monotonic, sleep=time.sleep, tell=tell, aside=recording)
    sys.exit(code)


@contextmanager
def recorded(out: Path, every: float = 0.1) -> Iterator[Popen[bytes]]:
    """Record the GPUs into a table until the end.

    Raises:
        UsageError: there is no GPU, or the file is no table.
    """
    from rl_advisor.gpu import recorder

    if out.suffix != ".csv":
        raise UsageError(f"a recording is a table: name a file that ends in .csv, not {out.name!r}")
    recording = recorder.record(out, every)
    try:
        yield recording
    finally:
        recording.terminate()
        recording.wait()
