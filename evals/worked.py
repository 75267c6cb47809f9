"""One run worked through from the file to the sentence: ``python -m evals.worked RUN`` prints what ``docs/verdicts.md`` shows."""

import sys
from dataclasses import fields
from pathlib import Path

from rl_advisor import tools
from rl_advisor.judgement import meaning
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.verdict import judge


def main(path: Path) -> None:
    """Measures, how well each word fits, and the verdict."""
    case = open_case(tools.read(path))
    counts = case.performance.counts
    if counts is None:
        print("no outcome is logged")
        return
    did, judged = meaning.did(counts), judge(case)
    told = {f.name: getattr(did, f.name) for f in fields(did)}
    print("; ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in told.items()))
    print("; ".join(f"{verdict} {fits(did):.2f}" for verdict, fits in meaning.MEANS.items()))
    print("; ".join(f"{verdict} {p:.2f}" for verdict, p in sorted(judged.probabilities.items(), key=lambda x: -x[1]) if p >= 0.005))
    print(f"{judged.verdict}, {judged.confidence} confidence, set {list(judged.verdict_set)}: {judged.why}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
