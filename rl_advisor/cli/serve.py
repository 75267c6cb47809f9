"""The command ``serve``: the tools for an assistant, over standard input or an address of this machine."""

import sys
from pathlib import Path

import click

from rl_advisor.cli.options import command


@command("serve")
def serve(roots: tuple[str, ...], remote: tuple[str, ...], http: str | None, case_folder: Path | None) -> None:
    """Serve the tools to an assistant over the Model Context Protocol."""
    from rl_advisor.workers import POOL

    POOL.start("rl_advisor.workers.isolated:load")  # beside the protocol's own library, which takes as long
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
