"""The command that judges many runs: a table with what is urgent first, a page, files for other programs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rl_advisor.cli.gate import Gate
from rl_advisor.cli.options import command
from rl_advisor.cli.show import show
from rl_advisor.cli.waiting import told
from rl_advisor.output import Answer

if TYPE_CHECKING:
    from rl_advisor.tools.triage import Row, Store


@command("triage")
def triage(roots: tuple[str, ...], as_json: bool, every_row: bool, store: Path | None, no_store: bool, **given: Any) -> None:
    """Judge every run below each ROOT, most urgent first: folders, files, s3://BUCKET/RUNS, wandb://ENTITY/PROJECT.

    A run that did not change since the last time is not judged again; one that hangs or breaks its reader becomes a row that says so.
    """
    from rl_advisor.tools.triage import How
    from rl_advisor.tools.triage import triage as judged
    from rl_advisor.tools.workers.pool import CORES

    gate, jobs = Gate(given["fail_on"], given["fail_on_cost"]), given["jobs"] or CORES
    how = How(given["engine"], jobs, given["cluster"], given["seconds"], int(given["memory"] * 2**30))
    with opened(store, no_store) as kept:
        rows = told("the runs", lambda: judged(roots, how, kept, given["goal"]))
        _written(rows, given)
        if kept.unwritten:
            click.echo(
                f"rl-advisor: {len(kept.unwritten):,} answers could not be kept (a full disk?) and are made again next time", err=True
            )
        if not rows:
            click.echo("rl-advisor: nothing there looks like a run", err=True)
        gate.close(rows, (lambda: _show_common(rows, as_json)) if given["shared"] else (lambda: _show(rows, as_json, every_row)))


def _show_common(rows: "Sequence[Row]", as_json: bool) -> None:
    from rl_advisor.output.layout import filled
    from rl_advisor.tools.triage.common import common, sentences

    found = common(rows)
    if as_json:
        show("common", found, as_json)
        return
    for sentence in sentences(found):
        click.echo("\n".join(filled(f"- {sentence}")))


def _written(rows: "Sequence[Row]", given: Answer) -> None:
    """The files that were asked for."""
    from rl_advisor.output import safe_write
    from rl_advisor.tools.triage import files, page, work

    if given["parquet"]:
        files.parquet(rows, given["parquet"])
    found = {}
    if given["reports"]:
        found = files.reports([row for row in rows if "://" not in row["where"]], given["reports"], lambda row: work.report(row["where"]))
    if given["page"]:
        safe_write.put(given["page"], page.page(rows, files.links(found, given["page"])))


def opened(file: Path | None, nothing: bool) -> "Store":
    """The store of answers; where it cannot be opened one in memory, which is said.

    Raises:
        NoSuchChoice: the file that was named is no store.
    """
    import sqlite3

    from rl_advisor.output.errors import UsageError
    from rl_advisor.tools.triage import Store

    if nothing:
        return Store(None)
    try:
        if file is None:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rl-advisor"
            base.mkdir(parents=True, exist_ok=True)
        return Store(file or base / "triage.sqlite")
    except (OSError, sqlite3.Error, RuntimeError) as failed:
        if file is not None:
            raise UsageError(f"{file} cannot be used as a store of answers: {failed}") from failed
        click.echo(f"rl-advisor: answers are not kept ({failed})", err=True)
        return Store(None)


def _show(rows: "Sequence[Row]", as_json: bool, every: bool) -> None:
    from rl_advisor.tools.triage.row import shown

    if as_json:
        import orjson

        for row in shown(rows):
            click.echo(orjson.dumps(row))
        return
    from rl_advisor.tools.triage.table import SHOWN, lines

    for line in lines(rows, len(rows) if every else SHOWN):
        click.echo(line)
