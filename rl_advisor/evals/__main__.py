"""All arms on one corpus in one table: ``python -m rl_advisor.evals CORPUS [--arm NAME]... [--robustness] [--json]``."""

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.evals.arms import ARMS
from rl_advisor.evals.harness import Advise
from rl_advisor.evals.perturb import robustness
from rl_advisor.evals.table import compare_arms, flips, markdown


def _builtin() -> Advise:
    from rl_advisor.advisors.builtin import assess  # here: the advisor is loaded only by who asks for it

    return assess


def main() -> None:
    """Write the table of the chosen arms to stdout."""
    parser = argparse.ArgumentParser(prog="python -m rl_advisor.evals", description="Score the built-in advisor and the baseline rules.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--arm", action="append", choices=["builtin", *ARMS], help="an arm to score; all of them by default")
    parser.add_argument("--json", action="store_true", help="the full results instead of the table")
    parser.add_argument("--robustness", action="store_true", help="how often answers flip under harmless changes, instead of scores")
    options = parser.parse_args()
    names = options.arm or ["builtin", *ARMS]
    arms = {name: _builtin() if name == "builtin" else ARMS[name] for name in names}
    results: dict[str, Any] = (
        {name: robustness(options.corpus, advise) for name, advise in arms.items()}
        if options.robustness
        else compare_arms(options.corpus, arms, reference="builtin" if "builtin" in arms else None)
    )
    text = flips if options.robustness else markdown
    sys.stdout.write(orjson.dumps(results).decode() + "\n" if options.json else text(results))


if __name__ == "__main__":
    main()
