"""All arms on corpora: ``python -m evals.lab CORPUS... [--results DIR] [--write FILE] [--readme FILE]``.

With one corpus and no files to write, the table goes to stdout; ``--answers NAME=FILE`` puts answers made elsewhere beside the arms, on the
runs and lengths that those answer. ``--first-look`` scores a corpus that nobody has scored before, once, and keeps the result.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson
from evals.lab import readings
from evals.lab.accuracy import arms, first_look, measure, read_first, read_results, write_results
from evals.lab.arms import ARMS
from evals.lab.pages import fill, page, readme_block
from evals.lab.perturb import robustness
from evals.lab.table import compare_answers, compare_arms, flips, markdown
from rl_advisor.evals.harness import Advise


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.lab", description="Score the built-in advisor and the baseline rules.")
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--arm", action="append", choices=sorted({*arms(), *ARMS}), help="an arm to score; all of them by default")
    parser.add_argument("--json", action="store_true", help="the full results instead of the table")
    parser.add_argument("--robustness", action="store_true", help="how often answers flip under harmless changes, instead of scores")
    parser.add_argument("--answers", action="append", default=[], metavar="NAME=FILE", help="answers made elsewhere, in the same table")
    parser.add_argument("--first-look", action="store_true", help="keep the first scores ever taken on the corpora; refused a second time")
    parser.add_argument("--readings", type=Path, help="folder of blind readings, for --agreement")
    parser.add_argument("--agreement", type=Path, help="write the page of the readings")
    parser.add_argument("--results", type=Path, default=Path("evals/results"), help="folder of the result files")
    parser.add_argument("--write", type=Path, help="measure the corpora, if any are named, and write the page of all results")
    parser.add_argument("--readme", type=Path, help="fill the accuracy block of this file as well")
    return parser.parse_args()


def main() -> None:
    """Write the table of the chosen arms to stdout, or result files and the pages made of them."""
    options = _options()
    if options.first_look:
        for corpus in options.corpora:
            sys.stdout.write(f"wrote {first_look(corpus, arms(), options.results / 'first')}\n")
        return
    if options.write or options.readme or options.agreement:
        _write(options)
        return
    if len(options.corpora) != 1:
        sys.exit("name one corpus, or a page to write with --write")
    every: dict[str, Advise] = {**arms(), **ARMS}
    chosen = {name: advise for name, advise in every.items() if not options.arm or name in options.arm}
    if options.answers:
        files = {name: Path(path) for name, _, path in (word.partition("=") for word in options.answers)}
        results: dict[str, Any] = compare_answers(options.corpora[0], files, chosen)
        sys.stdout.write(orjson.dumps(results).decode() + "\n" if options.json else markdown(results))
        return
    results = (
        {name: robustness(options.corpora[0], advise) for name, advise in chosen.items()}
        if options.robustness
        else compare_arms(options.corpora[0], chosen, reference="builtin" if "builtin" in chosen else None)
    )
    text = flips if options.robustness else markdown
    sys.stdout.write(orjson.dumps(results).decode() + "\n" if options.json else text(results))


def _measured(corpus: Path, results: Path) -> Path:
    return write_results(measure(corpus, arms()), results)


def _write(options: argparse.Namespace) -> None:
    with ProcessPoolExecutor() as pool:  # a corpus a process; each is deterministic by itself
        for path in pool.map(_measured, options.corpora, repeat(options.results)):
            sys.stdout.write(f"wrote {path}\n")
    results, first = read_results(options.results), read_first(options.results / "first")
    if options.agreement:
        options.agreement.write_text(readings.page(readings.compare(options.readings, options.corpora[0].parent)), encoding="utf-8")
        sys.stdout.write(f"wrote {options.agreement}\n")
    if options.write:
        options.write.write_text(page(results, first), encoding="utf-8")
        sys.stdout.write(f"wrote {options.write}\n")
    if options.readme:
        options.readme.write_text(fill(options.readme.read_text(encoding="utf-8"), readme_block()), encoding="utf-8")
        sys.stdout.write(f"wrote {options.readme}\n")


if __name__ == "__main__":
    main()
