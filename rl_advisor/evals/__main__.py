"""All arms on corpora: ``python -m rl_advisor.evals CORPUS... [--results DIR] [--write FILE] [--readme FILE]``.

With one corpus and no files to write, the table goes to stdout.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.evals.accuracy import arms, measure, read_results, write_results
from rl_advisor.evals.arms import ARMS
from rl_advisor.evals.harness import Advise
from rl_advisor.evals.pages import fill, page, readme_block
from rl_advisor.evals.perturb import robustness
from rl_advisor.evals.table import compare_arms, flips, markdown


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m rl_advisor.evals", description="Score the built-in advisor and the baseline rules.")
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--arm", action="append", choices=sorted({*arms(), *ARMS}), help="an arm to score; all of them by default")
    parser.add_argument("--json", action="store_true", help="the full results instead of the table")
    parser.add_argument("--robustness", action="store_true", help="how often answers flip under harmless changes, instead of scores")
    parser.add_argument("--results", type=Path, default=Path("evals/results"), help="folder of the result files")
    parser.add_argument("--write", type=Path, help="measure the corpora, if any are named, and write the page of all results")
    parser.add_argument("--readme", type=Path, help="fill the accuracy block of this file as well")
    return parser.parse_args()


def main() -> None:
    """Write the table of the chosen arms to stdout, or result files and the pages made of them."""
    options = _options()
    if options.write or options.readme:
        _write(options)
        return
    if len(options.corpora) != 1:
        sys.exit("name one corpus, or a page to write with --write")
    every: dict[str, Advise] = {**arms(), **ARMS}
    chosen = {name: advise for name, advise in every.items() if not options.arm or name in options.arm}
    results: dict[str, Any] = (
        {name: robustness(options.corpora[0], advise) for name, advise in chosen.items()}
        if options.robustness
        else compare_arms(options.corpora[0], chosen, reference="builtin" if "builtin" in chosen else None)
    )
    text = flips if options.robustness else markdown
    sys.stdout.write(orjson.dumps(results).decode() + "\n" if options.json else text(results))


def _write(options: argparse.Namespace) -> None:
    for corpus in options.corpora:
        sys.stdout.write(f"wrote {write_results(measure(corpus, arms()), options.results)}\n")
    results = read_results(options.results)
    if options.write:
        options.write.write_text(page(results), encoding="utf-8")
        sys.stdout.write(f"wrote {options.write}\n")
    if options.readme:
        options.readme.write_text(fill(options.readme.read_text(encoding="utf-8"), readme_block(results)), encoding="utf-8")
        sys.stdout.write(f"wrote {options.readme}\n")


if __name__ == "__main__":
    main()
