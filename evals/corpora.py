"""``python -m evals.corpora export|label|agree``: packs for other advisors, labels for own runs, agreement of two readers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import click

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def group() -> None:
    """Make what ``rl-advisor eval`` scores: packs for other advisors, labels for own runs, agreement of two readers."""


@group.command("export")
@click.argument("corpus", type=FOLDER)
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--every-cut", is_flag=True, help="Show each run at every length; only for advisors that do not remember.")
@click.option("--split", type=click.Choice(["smoke", "dev", "test"]), help="Only the runs of one split.")
@JSON
def export(corpus: Path, out: Path, every_cut: bool, split: str | None, as_json: bool) -> None:
    """Write CORPUS as task packs without labels to OUT, to be answered by anyone."""
    from evals.lab import packs

    try:
        written = packs.export(corpus, out, every_cut=every_cut, split=split)
    except FileExistsError as exists:
        raise click.UsageError(str(exists)) from exists
    told = f"wrote {written['tasks']} tasks to {out}: give away tasks/, INSTRUCTIONS.md and answers.jsonl, keep key.json.\n"
    _say(written, told + f"then: rl-advisor eval {corpus} --answers {out}/answers.jsonl --key {out}/key.json", as_json)


@group.command("label")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="CORPUS", help="Corpus to make or extend.")
@click.option("--yes", is_flag=True, help="Take every proposal as it is, without asking.")
@JSON
def label(runs: tuple[Path, ...], out: Path, yes: bool, as_json: bool) -> None:
    """Label past RUNS: proposes what hindsight says of each, and asks."""
    from evals.lab import labeling

    if not yes:
        click.echo("Enter takes what is proposed; Ctrl-C ends, and runs that were labeled by then are kept.", err=True)
    made = labeling.label_runs(runs, out, (lambda _run, _label: {}) if yes else _ask)
    lines = [f"{m['run']}: {' or '.join(m['verdicts'])}; {_broken(m['links'])} ({m['note']})" for m in made["labeled"]]
    lines += [f"skipped {s['run']}: {s['why']}" for s in made["skipped"]]
    _say(made, "\n".join([*lines, f"then: rl-advisor eval {out}"]), as_json)


@group.command("agree")
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@click.option("--key", type=FILE, help="key.json of the packs, where the lines name tasks.")
@JSON
def agree(one: Path, other: Path, key: Path | None, as_json: bool) -> None:
    """Tell how far two files of answers agree beyond chance, and where they do not."""
    from evals.lab.agreement import agreement
    from evals.lab.table import span

    try:
        found = agreement(one, other, key)
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    lines = [
        f"{what}: kappa {span(k, found['intervals'][what])}, same in {found['agreed'][what]:.0%}" for what, k in found["kappa"].items()
    ]
    lines += [str(pair) for pair in found["disagreements"]]
    _say(found, "\n".join([f"{found['n']} answers in common", *lines]), as_json)


def _broken(links: list[str]) -> str:
    return f"broken: {' or '.join(links)}" if 0 < len(links) < 5 else "what broke is not known" if links else "nothing broken"


def _say(found: Mapping[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        import orjson

        click.echo(orjson.dumps(found))
    else:
        click.echo(text)


def _ask(run: str, proposed: Mapping[str, Any]) -> dict[str, Any]:
    """What a person says about one run; everything is offered as proposed."""
    from rl_advisor.finding import VERDICTS
    from rl_advisor.output.layout import spark

    click.echo(f"\n{run}: {proposed['note']}; best at step {proposed['best_step']:g} of {proposed['steps']:g}", err=True)
    scores = [value for _, value in proposed["truth"]]
    click.echo(f"  {spark(scores[:: len(scores) // 60 + 1])}  from {scores[0]:.3g} to {scores[-1]:.3g}, best {max(scores):.3g}", err=True)
    for share, cut in proposed["cuts"].items():
        said = "paid" if cut["continue_pays"] else "did not pay"
        click.echo(f"  going on after {float(share):.0%} of the run {said} (gain {cut['gain_after']:.3g})", err=True)
    answer: dict[str, Any] = {
        "verdicts": _several("Verdicts that are right", VERDICTS, proposed["verdicts"]),
        "links": _links(proposed["links"]),
        "scenario": click.prompt("Family (the same word for seeds of one setup)", default=proposed["scenario"], err=True),
    }
    if answer["links"]:
        answer["injected_at"] = _step(proposed["steps"])
    return answer


def _step(last: float) -> float | None:
    """A step of the run, or None; asked again until it is one."""
    while True:
        said = click.prompt("Step at which it broke (Enter when unknown)", default="", show_default=False, err=True)
        try:
            if not said or 0 <= float(said) <= last:
                return float(said) if said else None
        except ValueError:
            pass
        click.echo(f"  not a step between 0 and {last:g}: {said}", err=True)


def _links(proposed: list[str]) -> list[str]:
    """Broken links as a label holds them: empty when nothing broke, all of them when nobody can tell."""
    from rl_advisor.finding import BrokenLink

    every = get_args(BrokenLink)
    said = _several("Links that broke first", (*every, "unknown"), ["unknown"] if proposed else ["none"])
    return list(every) if "unknown" in said else [] if said == ["none"] else said


def _several(what: str, choices: tuple[str, ...], proposed: list[str]) -> list[str]:
    """Words of a list, separated by commas; asked again until all of them are allowed."""
    while True:
        said = [w.strip() for w in click.prompt(f"{what} [{', '.join(choices)}]", default=",".join(proposed), err=True).split(",")]
        strange = [w for w in said if w not in choices]
        if not strange:
            return said
        click.echo(f"  not one of them: {', '.join(strange)}", err=True)


if __name__ == "__main__":
    group()
