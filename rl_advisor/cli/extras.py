"""Commands beside the verbs: fetch a run from a store, record the GPUs, estimate memory, compare two dumps of the same prompts."""

import sys
from pathlib import Path
from typing import Any

import click

from rl_advisor.cli.watch import watch
from rl_advisor.output.errors import UsageError

UNREADABLE = 3
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


@click.command()
@click.argument("run", type=click.Path())
@click.option("--plot", type=click.Path(dir_okay=False, writable=True), metavar="FILE.png", help="Draw the phases of each GPU as well.")
@JSON
def gpu(run: str, plot: str | None, as_json: bool) -> None:
    """Show where the GPUs' time went in RUN. Exit code 3: nothing of GPUs lies there."""
    from rl_advisor import tools
    from rl_advisor.cli.waiting import busy
    from rl_advisor.output import safe_write

    if plot is not None:
        safe_write.put(plot, tools.plot_curves(run, ("gpu/phases",)))
        click.echo(f"rl-advisor: drawn in {plot}", err=True)
    answer = busy(run, lambda: tools.gpu_phase_profile(run))
    show(answer, as_json, "gpu")
    if not answer["gpus"] and not answer["phases"]:
        sys.exit(UNREADABLE)


@click.command()
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File to write: .parquet, or .csv as nvidia-smi."
)
@click.option("--every", type=click.FloatRange(0.01, 60), default=0.1, show_default=True, metavar="SECONDS", help="Time between rows.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop after this long; else on Ctrl-C.")
def record(out: Path, every: float, seconds: float | None) -> None:
    """Record the GPUs of this machine until stopped; put the file beside the run and `gpu` reads it."""
    from rl_advisor.gpu import nvml, recorder

    try:
        source = nvml.nvml()
    except nvml.NoGpu as missing:
        raise UsageError(str(missing)) from missing
    rows = recorder.record(source, out, every=every, seconds=seconds if seconds is not None else float("inf"))
    click.echo(f"{rows} rows written to {out}", err=True)


@click.command()
@click.argument("address")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to bring it into.")
@click.option("--gib", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Most that is brought.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, help="Longest that it may take.")
def fetch(address: str, out: Path, gib: float, seconds: float) -> None:
    """Bring what ADDRESS holds into a folder of its own below --out, for example GPU counters beside a run.

    ADDRESS: s3://BUCKET/RUN, gs://BUCKET/RUN, https://HOST/RUN/, mlflow+http://HOST:PORT/RUN_ID, wandb://ENTITY/PROJECT/RUN, or
    'prometheus+http://HOST:9090/?start=TIME&end=TIME&step=15'. The other commands take such addresses, too. Keys come from where each
    store's own client looks for them.
    """
    from rl_advisor.remote import bounds, copies

    folder = out / copies.named(address)
    if folder.exists():
        raise UsageError(f"{folder} exists; nothing is written over it")
    copies.fetch(address, folder, bounds.Bounds(seconds=seconds, size=int(gib * 2**30)))
    click.echo(str(folder))


@click.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--gpus", type=click.IntRange(1), default=1, show_default=True)
@click.option("--stage", type=click.IntRange(0, 3), default=0, show_default=True, help="What is sharded: ZeRO stage, 3 for FSDP.")
@click.option(
    "--lora", "lora_rank", type=click.IntRange(0), default=0, show_default=True, help="Rank of the adapters; 0 trains everything."
)
@click.option("--micro-batch", type=click.IntRange(1), default=1, show_default=True)
@click.option("--tokens", type=click.IntRange(1), default=2048, show_default=True, help="Prompt and response together.")
@click.option("--sampled-at-once", type=click.IntRange(0), default=0, show_default=True, help="Responses sampled at once on this GPU.")
@click.option("--critic/--no-critic", default=False, show_default=True)
@click.option("--reference/--no-reference", default=True, show_default=True)
@click.option("--reward-model/--no-reward-model", default=False, show_default=True)
@JSON
def memory(config: Path, as_json: bool, **setup: Any) -> None:
    """Estimate the GPU memory a set-up needs, from a model's config.json, and what to reduce first."""
    from rl_advisor.gpu.memory import of_file

    try:
        show(of_file(config, setup), as_json)
    except ValueError as unfit:
        raise UsageError(str(unfit)) from unfit


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@JSON
def consistency(a: Path, b: Path, as_json: bool) -> None:
    """Compare two dumps of the same prompts: A from the training engine, B from the inference engine.

    Each is a file of lines with `prompt`, `response` and a list `logprobs` (perhaps `step`); the skill's scripts dump_engine.py and
    dump_trainer.py write them. Says whether the difference is usual, and whether it grows.
    """
    from rl_advisor.answers.engine_consistency import consistency as compared
    from rl_advisor.output.clean import clean

    for path in (a, b):
        if not path.exists():
            raise FileNotFoundError(f"no file or folder {path}")
    try:
        found = compared(a, b)
    except ValueError as unfit:
        raise UsageError(str(unfit)) from unfit
    show(clean(found), as_json)


@click.command()
@click.argument("batch", type=click.Path(path_type=Path))
@JSON
def critic(batch: Path, as_json: bool) -> None:
    """Test a critic on one saved BATCH (.npz, .parquet, .csv, .json, .jsonl): observations, returns and perhaps its values.

    A small regressor is fitted to the returns. Says whether they can be told at all, and whether the critic does. Nothing is unpickled.
    """
    from rl_advisor import tools

    show(tools.check_critic(batch), as_json, "critic")


COMMANDS = (gpu, critic, fetch, record, memory, consistency, watch)


def show(answer: Any, as_json: bool, kind: str = "any") -> None:
    """Print an answer as one JSON document, or one value a line."""
    if as_json:
        import orjson

        click.echo(orjson.dumps(answer))
        return
    from rl_advisor.cli import printing

    click.echo(printing.text(kind, answer))
