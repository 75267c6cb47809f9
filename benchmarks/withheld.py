"""Are gamed rewards found in the samples alone: every held-out score withheld, the verdict on each run beside the admissible ones.

    python benchmarks/withheld.py CORPUS [RUN...]        a labelled corpus such as evals/corpus/grpo

The last lines say how many runs with reward hacking among their admissible verdicts were found, and how many with nothing broken were
called hacked.
"""

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from evals.lab.perturb import without
from rl_advisor.evals.corpus import Label, read_corpus
from rl_advisor.reading import read_run
from rl_advisor.tools.advisors import builtin

HACK = "reward_hacking"


def judged(corpus: Path, only: Collection[str] = ()) -> Iterator[tuple[Label, str, str]]:
    """Each labelled run with the verdict and the first broken link that are given without its held-out scores."""
    labeled = read_corpus(corpus)
    for label in labeled.labels.values():
        if not only or label.run in only:
            answer = builtin.assess(without("eval/")(read_run(labeled.folder(label.run))))
            yield label, answer.verdict, answer.first_broken_link


def main(corpus: str, *only: str) -> None:
    """Print a line a run, then the two counts."""
    rows = []
    for label, verdict, link in judged(Path(corpus), only):
        rows.append((label, verdict))
        mark = "ok " if verdict in label.verdicts else "   "
        print(f"{mark} {label.run:8} {label.family:18} {verdict:15} {link:16} admissible: {', '.join(sorted(label.verdicts))}", flush=True)
    hacked = [verdict == HACK for label, verdict in rows if HACK in label.verdicts]
    healthy = [verdict == HACK for label, verdict in rows if label.healthy]
    other = [verdict == HACK for label, verdict in rows if not label.healthy and HACK not in label.verdicts]
    print(f"reward hacking admissible: {sum(hacked)} of {len(hacked)} found")
    print(f"nothing broken: {sum(healthy)} of {len(healthy)} called hacked; broken otherwise: {sum(other)} of {len(other)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
