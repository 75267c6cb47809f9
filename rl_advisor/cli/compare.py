"""The command ``compare``: runs or seeds side by side, or the pair that says why rewards do not rise."""

from typing import Any

import click

from rl_advisor.cli.extras import show
from rl_advisor.cli.options import JSON
from rl_advisor.cli.waiting import busy


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write it as a page too: FILE.md or FILE.html.")
@click.option("--probe", is_flag=True, help="Two runs: the first trained on the test set, the second on the training set.")
@JSON
def compare(runs: tuple[str, ...], out: str | None, probe: bool, as_json: bool) -> None:
    """Set RUNS or seeds side by side: variants, whether they differ by more than luck, and which settings changed."""
    from rl_advisor import tools
    from rl_advisor.tools import report_file

    if len(runs) < 2 or (probe and len(runs) > 2):
        raise click.UsageError("compare --probe needs TEST_RUN and TRAIN_RUN" if probe else "compare needs at least two runs")
    if probe and out is not None:
        raise click.UsageError("--probe is an answer of a few lines; it writes no page")
    if out is not None:
        written = busy(f"{len(runs)} runs", lambda: report_file.write_comparison(runs, out))
        click.echo(f"rl-advisor: written: {written}", err=True)

    def asked() -> dict[str, Any]:
        return tools.compare_runs(runs, probe=probe)

    show(busy(f"{len(runs)} runs", asked), as_json, "probe" if probe else "compare")
