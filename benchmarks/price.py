"""What a wrong call costs at every price of compute: the built-in advisor, told the price, beside the simple policies.

Every labeled run of each corpus is cut at a quarter, half and three quarters. Going on brings the gain of the label and costs the price of
what is left of the plan; the regret is what the call lost against the better one, as a share of the range of the true score.

Run ``python benchmarks/price.py CORPUS...``.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from evals.lab.arms import ARMS
from rl_advisor.evals.answers import Answer, read_answer
from rl_advisor.evals.blind import blind
from rl_advisor.evals.corpus import read_corpus
from rl_advisor.evals.harness import MEASURES, Row, score_row
from rl_advisor.evals.scoring import PRICES
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.continuation import call, continuation
from rl_advisor.judgement.verdict import judge
from rl_advisor.reading import read_run

SIMPLE = ("always_continue", "always_stop", "patience_10", "patience_20", "patience_30", "budget_only", "trend_test")
TOLD, UNTOLD = "built-in, told", "built-in, not told"


def calls(folder: Path) -> Iterator[tuple[str, str, Row]]:
    """Policy, price and scored call, for every prefix; a policy that does not know the price makes the same call at each."""
    labeled = read_corpus(folder)
    for label in labeled.labels.values():
        run = read_run(labeled.folder(label.run))
        for cut, prefix in label.prefixes.items():
            view = blind(run, prefix.step, whole=False)
            case = open_case(view)
            judged = judge(case)
            ahead = continuation(case, judged)
            fixed = {name: read_answer(ARMS[name](view)) for name in SIMPLE} | {UNTOLD: Answer(call=call(case, judged, ahead)[0])}
            for price in PRICES:
                told = {TOLD: Answer(call=call(case, judged, ahead, price)[0])}
                yield from ((name, f"{price:g}", score_row(label, cut, answer)) for name, answer in (told | fixed).items())


def regrets(folder: Path) -> dict[str, list[float]]:
    """Policy -> mean regret at each price."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for name, price, row in calls(folder):
        rows.setdefault((name, price), []).append(row)
    scores = {f"{price:g}": MEASURES[f"regret at {price:g}"][1] for price in PRICES}
    return {name: [score(rows[name, price]) for price, score in scores.items()] for name in (TOLD, UNTOLD, *SIMPLE)}


def main() -> None:
    """Prints one table a corpus, with the best of the simple policies at each price in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", type=Path, nargs="+")
    for folder in parser.parse_args().corpora:
        found = regrets(folder)
        found["best simple one"] = [min(found[name][i] for name in SIMPLE) for i in range(len(PRICES))]
        print(f"\n{folder.name:20} {' '.join(f'{p:7g}' for p in PRICES)}")
        for name, values in found.items():
            print(f"{name:20} {' '.join(f'{v:7.4f}' for v in values)}")


if __name__ == "__main__":
    main()
