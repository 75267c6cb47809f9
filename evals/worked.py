"""One run worked through from the file to the sentence: ``python -m evals.worked RUN`` prints what ``docs/verdicts.md`` shows."""

import sys
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
    judged = judge(case)
    levels = {"start": counts.start, "end": counts.last, "best": counts.best, "best step": counts.best_step, "noise": counts.level.noise}
    print(f"{counts.name}, {counts.n} points; " + "; ".join(f"{name} {x:.3g}" for name, x in (levels | counts.amounts).items()))
    print("; ".join(f"{verdict} {fits(counts.amounts):.2f}" for verdict, fits in meaning.MEANS.items()))
    print("; ".join(f"{verdict} {p:.2f}" for verdict, p in sorted(judged.probabilities.items(), key=lambda x: -x[1]) if p >= 0.005))
    print(f"{judged.verdict}, {judged.confidence} confidence, set {list(judged.verdict_set)}: {judged.why}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
