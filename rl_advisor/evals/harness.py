"""The test bench: shows an advisor labeled runs, whole and cut short, and scores what it answers.

A label speaks about the whole run. At a cut, a verdict or link is therefore scored only on runs whose fault had already been put in,
or whose true score had already fallen; false alarms are counted on healthy runs at every cut; whether going on pays, and the
best checkpoint so far, have labels of their own at every cut.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer, read_answer, read_answers, read_key
from rl_advisor.evals.corpus import WHOLE, Corpus, Label, read_corpus
from rl_advisor.evals.firewall import blind, leaks
from rl_advisor.evals.rows import MEASURES, PRICED, Measure, Row, score_row, shown
from rl_advisor.run import Run

Advise = Callable[[Run], Mapping[str, Any] | BaseModel]
CUTS = (0.25, 0.5, 0.75)


def evaluate(  # noqa: PLR0913
    corpus: Path,
    advise: Advise,
    cuts: Sequence[float] = CUTS,
    *,
    read: Callable[[Path], Run] | None = None,
    split: str | None = None,
    rows: bool = False,
    resamples: int = 500,
) -> dict[str, Any]:
    """Scores an advisor on every labeled run, at each cut and at full length; see ``summarize`` for what comes back.

    Each run is read once and cut in memory; the advisor sees ``firewall.blind`` views only. The same input gives the same output,
    apart from ``seconds``.

    Raises:
        ValueError: a cut that the labels say nothing about.

    """
    labeled = read_corpus(corpus, split)
    scored, told = judge(labeled, advise, cuts, read or reader())
    return summarize(labeled, scored, rows=rows, resamples=resamples) | {"leaks": told}


def judge(corpus: Corpus, advise: Advise, cuts: Sequence[float], read: Callable[[Path], Run]) -> tuple[list[Row], dict[str, list[str]]]:
    """The scored answers to every run, at each cut and at full length, and the leaks that were found in what the advisor saw."""
    scored, found = judge_all(corpus, {"": advise}, cuts, read)
    return scored[""], found


def judge_all(
    corpus: Corpus, arms: Mapping[str, Advise], cuts: Sequence[float], read: Callable[[Path], Run]
) -> tuple[dict[str, list[Row]], dict[str, list[str]]]:
    """The same of several arms, which are shown the same views: each run is read once, each view is made and checked once."""
    _check_cuts(corpus, cuts)
    scored: dict[str, list[Row]] = {name: [] for name in arms}
    found = {}
    for label in corpus.labels.values():
        run = read(corpus.folder(label.run))
        for cut in sorted({*cuts, WHOLE}):
            view = blind(run, label.steps if cut == WHOLE else label.prefixes[cut].step, whole=cut == WHOLE)
            told = leaks(view, label, cut)
            if told:
                found[f"{label.run} at {cut:g}"] = told
            for name, advise in arms.items():
                start = time.perf_counter()
                answer = read_answer(advise(view))
                scored[name].append(score_row(label, cut, answer, time.perf_counter() - start))
    return scored, found


def score_answers(  # noqa: PLR0913
    corpus: Path, answers: Path, *, key: Path | None = None, split: str | None = None, rows: bool = False, resamples: int = 500
) -> dict[str, Any]:
    """Scores answers made elsewhere. A run without an answer counts as an empty one: wrong verdict, no checkpoint, going on.

    ``key`` is that of exported packs: then its tasks are what was asked, instead of every run at every cut that is answered.

    Raises:
        ValueError: an answer to a run or cut that the corpus does not label, or a line that is no answer.

    """
    labeled = read_corpus(corpus, split)
    tasks = read_key(key) if key else None
    given = read_answers(answers, tasks)
    unknown = sorted({run for run, _ in given} - read_corpus(corpus).labels.keys())
    if unknown:
        raise ValueError(f"answers to runs that are not in the corpus: {', '.join(unknown)}")
    cuts = sorted({cut for _, cut in given})
    _check_cuts(labeled, [cut for cut in cuts if cut != WHOLE])
    asked = set(tasks.values()) if tasks is not None else {(run, cut) for run in labeled.labels for cut in cuts}
    wanted = [(labeled.labels[run], cut) for run, cut in sorted(asked) if run in labeled.labels]
    missing = [f"{label.run} at {cut:g}" for label, cut in wanted if (label.run, cut) not in given]
    scored = [score_row(label, cut, given.get((label.run, cut), Answer())) for label, cut in wanted]
    return summarize(labeled, scored, rows=rows, resamples=resamples) | {"missing": missing}


def summarize(corpus: Corpus, scored: Sequence[Row], *, rows: bool, resamples: int) -> dict[str, Any]:
    """``{runs, families, cuts: {"1": block, "0.25": block, ...}, pooled, confusion, by_class, seconds, cost}`` and on demand ``rows``.

    A block holds ``n`` and every metric by name (None where it is not defined), ``regret_by_price``, its ``regret_area``,
    and under ``intervals`` and ``counts`` the 95 percent bootstrap interval over families and the number of answers of each.
    """
    cuts = sorted({r.cut for r in scored})
    prefixes = [r for r in scored if r.cut != WHOLE]
    whole = [r for r in scored if r.cut == WHOLE]
    result = {
        "schema": "rl-advisor/eval/1",
        "corpus": corpus.root.name,
        "runs": len(corpus.labels),
        "families": len({label.family for label in corpus.labels.values()}),
        "healthy": sum(label.healthy for label in corpus.labels.values()),
        "cuts": {f"{cut:g}": block([r for r in scored if r.cut == cut], resamples) for cut in cuts},
        "pooled": block(prefixes, resamples),
        "confusion": {"verdict": _confusion(whole, "verdict", "verdicts"), "link": _confusion(whole, "link", "links")},
        "by_class": _by_class(whole),
        "seconds": _seconds(scored),
        "cost": _cost(scored),
    }
    shown_rows = {"rows": [shown(r) for r in scored]} if rows else {}
    return {name: _plain(value) for name, value in (result | shown_rows).items()}


def block(rows: Sequence[Row], resamples: int = 500) -> dict[str, Any]:
    """All metrics of some rows, each with its interval and count."""
    measured = {name: _measure(m, rows, resamples) for name, m in MEASURES.items()}
    priced = {price: _measure(m, rows, resamples) for price, m in PRICED.items()}
    curve = {price: value for price, (value, _, _) in priced.items()}
    return {
        "n": len(rows),
        **{name: value for name, (value, _, _) in measured.items()},
        "regret_by_price": curve,
        "regret_area": scoring.regret_area(list(curve.values())),
        "intervals": {name: span for name, (_, span, _) in measured.items()}
        | {"regret_by_price": {price: span for price, (_, span, _) in priced.items()}},
        "counts": {name: count for name, (_, _, count) in measured.items()},
    }


def difference(name: str, ours: Sequence[Row], theirs: Sequence[Row], resamples: int = 500) -> tuple[float, float, float]:
    """A metric of one arm minus that of another on the same rows, with the interval over families: (difference, low, high).

    Rows that only one of the two can be scored on are left out.
    """
    measure = (MEASURES | PRICED)[name]
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if measure.counts(a) and measure.counts(b)]
    samples = scoring.resamples([a.family for a, _ in both], resamples) if both else []
    return scoring.paired_difference(
        lambda rows: measure.score([both[i][0] for i in rows]), lambda rows: measure.score([both[i][1] for i in rows]), len(both), samples
    )


def _measure(measure: Measure, rows: Sequence[Row], resamples: int) -> tuple[float, tuple[float, float], int]:
    taken = [r for r in rows if measure.counts(r)]
    if not taken:
        return float("nan"), (float("nan"), float("nan")), 0
    samples = scoring.resamples([r.family for r in taken], resamples)
    span = scoring.interval(lambda index: measure.score([taken[i] for i in index]), samples)
    return measure.score(taken), span, len(taken)


def _confusion(rows: Sequence[Row], said: str, admitted: str) -> dict[str, dict[str, int]]:
    """Answers counted under each truth; an admitted answer is its own truth, a miss stands under the whole set."""
    table: dict[str, Counter[str]] = {}
    for row in rows:
        answer, truth = getattr(row.answer, said), getattr(row, admitted) or frozenset({"none"})
        table.setdefault(answer if answer in truth else "|".join(sorted(truth)), Counter())[answer or "no answer"] += 1
    return {truth: dict(sorted(counts.items())) for truth, counts in sorted(table.items())}


def _by_class(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Per verdict how often it was the truth, was said, and was said rightly; see ``scoring.class_counts`` for sets."""
    counts = scoring.class_counts([r.answer.verdict for r in rows], [r.verdicts for r in rows])
    return {c or "no answer": {"truth": tp + fn, "said": tp + fp, "right": tp} for c, (tp, fp, fn) in counts.items()}


def _cost(rows: Sequence[Row]) -> dict[str, float]:
    """Mean tokens and money an answer, over the answers that carry them."""
    known = {name: [v for r in rows if (v := getattr(r.answer, name)) is not None] for name in ("tokens", "money")}
    return {name: float(np.mean(values)) for name, values in known.items() if values}


def _seconds(rows: Sequence[Row]) -> dict[str, float]:
    spent = np.array([r.seconds for r in rows], dtype=np.float64)
    if not spent.size or np.isnan(spent).all():
        return {}
    return {"median": float(np.median(spent)), "max": float(spent.max()), "total": float(spent.sum())}


def _plain(value: Any) -> Any:
    """The same data with None for NaN, lists for tuples and sorted lists for sets, so that it is JSON."""
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def _check_cuts(corpus: Corpus, cuts: Sequence[float]) -> None:
    known = _labeled_cuts(corpus.labels.values())
    strange = [cut for cut in cuts if cut not in known and cut != WHOLE]
    if strange:
        raise ValueError(
            f"no labels at {', '.join(f'{c:g}' for c in strange)}; the labels speak about {', '.join(f'{c:g}' for c in known)}"
        )


def _labeled_cuts(labels: Iterable[Label]) -> list[float]:
    shares: list[set[float]] = [set(label.prefixes) for label in labels]
    return sorted(set.intersection(*shares)) if shares else []


def reader() -> Callable[[Path], Run]:
    """The way a run folder is read unless the caller has another."""
    from rl_advisor.reading import read_run  # here, so that scoring answers made elsewhere loads no format

    return read_run
