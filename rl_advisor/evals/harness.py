"""The test bench: shows an advisor labeled runs, whole and cut short, and scores what it answers.

A label speaks about the whole run. At a cut, a verdict or link is therefore scored only on runs whose fault had already been put in,
or whose true score had already fallen; false alarms are counted on healthy runs at every cut; whether going on pays, and the
best checkpoint so far, have labels of their own at every cut.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from pydantic import BaseModel

from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer, read_answer, read_answers, read_key
from rl_advisor.evals.blind import blind
from rl_advisor.evals.corpus import WHOLE, Corpus, read_corpus
from rl_advisor.evals.rows import MEASURES, Row, score_row, shown
from rl_advisor.output.progress import report_progress
from rl_advisor.run import Run

Advise = Callable[[Run], Mapping[str, Any] | BaseModel]
CUTS = (0.25, 0.5, 0.75)


def evaluate(  # noqa: PLR0913
    corpus: Path,
    advise: Advise,
    cuts: Sequence[float] = CUTS,
    *,
    read: Callable[[Path], Run] | None = None,
    rows: bool = False,
    resamples: int = 500,
) -> dict[str, Any]:
    """Scores an advisor on every labeled run, at each cut and at full length; see ``summarize`` for what comes back.

    Each run is read once and cut in memory; the advisor sees blind views only. The same input gives the same output, apart from the
    seconds of each row.

    Raises:
        ValueError: a cut that the labels say nothing about.

    """
    labeled = read_corpus(corpus)
    return summarize(labeled, judge(labeled, advise, cuts, read or reader()), rows=rows, resamples=resamples)


def judge(corpus: Corpus, advise: Advise, cuts: Sequence[float], read: Callable[[Path], Run]) -> list[Row]:
    """The scored answers to every run, at each cut and at full length."""
    _check_cuts(corpus, cuts)
    scored: list[Row] = []
    shares = sorted({*cuts, WHOLE})
    for label in corpus.labels.values():
        run = read(corpus.folder(label.run))
        for cut in shares:
            report_progress("judgement", len(scored) + 1, len(corpus.labels) * len(shares))
            view, start = blind(run, label.step_at(cut), whole=cut == WHOLE), time.perf_counter()
            answer = read_answer(advise(view))
            scored.append(score_row(label, cut, answer, time.perf_counter() - start))
    return scored


def score_answers(corpus: Path, answers: Path, *, key: Path | None = None, rows: bool = False, resamples: int = 500) -> dict[str, Any]:
    """Scores answers made elsewhere. A run without an answer counts as an empty one: wrong verdict, no checkpoint, going on.

    ``key`` is that of exported packs: then its tasks are what was asked, instead of every run at every cut that is answered.

    Raises:
        ValueError: an answer to a run or cut that the corpus does not label, or a line that is no answer.

    """
    labeled = read_corpus(corpus)
    tasks = read_key(key) if key else None
    given = read_answers(answers, tasks)
    unknown = sorted({run for run, _ in given} - labeled.labels.keys())
    if unknown:
        raise ValueError(f"answers to runs that are not in the corpus: {', '.join(unknown)}")
    cuts = {cut for _, cut in given}
    _check_cuts(labeled, cuts)
    asked = sorted(tasks.values() if tasks is not None else {(run, cut) for run in labeled.labels for cut in cuts})
    scored = [score_row(labeled.labels[run], cut, given.get((run, cut), Answer())) for run, cut in asked]
    missing = [f"{run} at {cut:g}" for run, cut in asked if (run, cut) not in given]
    return summarize(labeled, scored, rows=rows, resamples=resamples) | {"missing": missing}


def summarize(corpus: Corpus, scored: Sequence[Row], *, rows: bool, resamples: int) -> dict[str, Any]:
    """``{runs, families, healthy, cuts: {"1": block, "0.25": block, ...}, pooled}`` and on demand ``rows``; ``pooled`` are all prefixes.

    A block holds ``n`` and every metric by name (None where it is not defined), ``regret_by_price``, its ``regret_area``,
    and under ``intervals`` and ``counts`` the 95 percent bootstrap interval over families and the number of answers of each.
    """
    cuts = sorted({r.cut for r in scored})
    found = {
        "schema": "rl-advisor/eval/1",
        "corpus": corpus.root.name,
        "runs": len(corpus.labels),
        "families": len({label.family for label in corpus.labels.values()}),
        "healthy": sum(label.healthy for label in corpus.labels.values()),
        "cuts": {f"{cut:g}": block([r for r in scored if r.cut == cut], resamples) for cut in cuts},
        "pooled": block([r for r in scored if r.cut != WHOLE], resamples),
    }
    # As JSON: None for NaN, lists for tuples.
    answer: dict[str, Any] = orjson.loads(orjson.dumps(found | ({"rows": [shown(r) for r in scored]} if rows else {})))
    return answer


def block(rows: Sequence[Row], resamples: int = 500) -> dict[str, Any]:
    """All metrics of some rows, each with its interval and count."""
    found = {name: _measured(name, rows, resamples) for name in MEASURES}
    priced = {f"{price:g}": found.pop(f"regret at {price:g}") for price in scoring.PRICES}
    curve = {price: value for price, (value, _, _) in priced.items()}
    return {
        "n": len(rows),
        **{name: value for name, (value, _, _) in found.items()},
        "regret_by_price": curve,
        "regret_area": scoring.regret_area(list(curve.values())),
        "intervals": {name: span for name, (_, span, _) in found.items()}
        | {"regret_by_price": {price: span for price, (_, span, _) in priced.items()}},
        "counts": {name: count for name, (_, _, count) in found.items()},
    }


def _measured(name: str, rows: Sequence[Row], resamples: int) -> tuple[float, tuple[float, float], int]:
    """A metric over the rows that it is asked of, its interval over families, and how many rows those are."""
    taken = [r for r in rows if not np.isnan(r.values[MEASURES[name].of])]
    if not taken:
        return float("nan"), (float("nan"), float("nan")), 0
    score = MEASURES[name].score
    span = scoring.interval(lambda index: score([taken[i] for i in index]), scoring.resamples([r.family for r in taken], resamples))
    return score(taken), span, len(taken)


def _check_cuts(corpus: Corpus, cuts: Sequence[float] | set[float]) -> None:
    shares = [set(label.prefixes) for label in corpus.labels.values()]
    known = sorted(set.intersection(*shares)) if shares else []
    strange = sorted(set(cuts) - {*known, WHOLE})
    if strange:
        said, labeled = (", ".join(f"{c:g}" for c in some) for some in (strange, known))
        raise ValueError(f"no labels at {said}; the labels speak about {labeled}")


def reader() -> Callable[[Path], Run]:
    """The way a run folder is read unless the caller has another."""
    from rl_advisor.reading import read_run  # here, so that scoring answers made elsewhere loads no format

    return read_run
