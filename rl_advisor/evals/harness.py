"""The test bench: shows an advisor labeled runs, whole and cut short, and scores what it answers.

A label speaks about the whole run. At a cut, a verdict or link is therefore scored only on runs whose fault had already been put in,
or whose true score had already fallen; false alarms are counted on healthy runs at every cut; whether going on pays, and the
best checkpoint so far, have labels of their own at every cut.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from pydantic import BaseModel

from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer, read_answer, read_answers, read_key
from rl_advisor.evals.blind import blind
from rl_advisor.evals.corpus import WHOLE, Corpus, Label, read_corpus
from rl_advisor.finding import BROKEN
from rl_advisor.output.progress import report_progress
from rl_advisor.run import Run

NAN = float("nan")


@dataclass(frozen=True)
class Row:
    """An answer about a run (up to a cut) and how it compares with the label."""

    label: Label
    cut: float
    answer: Answer
    values: dict[str, float]
    """What is measured on this answer alone, by name; NaN where nothing can be compared."""
    seconds: float = NAN


def score_row(label: Label, cut: float, answer: Answer, seconds: float = NAN) -> Row:
    """One answer against its label. The verdict is asked at the end, or once the fault was there to be seen."""
    step = label.step_at(cut)
    judged = label.visible_at(step)
    broken = answer.verdict in BROKEN or answer.link not in ("", "none")
    # Steps between the onset that was said and the interval it lies in, 0 inside; only where both are known and it lies before the cut.
    began = label.onset if label.onset and label.onset[0] < step else None
    distance = NAN if began is None or answer.onset is None else max(began[0] - answer.onset, answer.onset - began[1], 0.0)
    values = {
        "verdict_hit": float(answer.verdict in label.verdicts) if judged else NAN,
        "link_hit": float(answer.link in label.links) if judged and label.links else NAN,
        "healthy_called_broken": float(broken) if label.healthy else NAN,
        "checkpoint_regret": scoring.checkpoint_regret(label.truth_steps, label.truth, answer.best_step, step),
        "onset_hit": NAN if np.isnan(distance) else float(distance <= 0.05 * label.steps),
        "onset_distance": distance,
        **_of_going_on(label, cut, answer),
    }
    return Row(label, cut, answer, values, answer.seconds if answer.seconds is not None else seconds)


PRICED = tuple(f"regret at {price:g}" for price in scoring.PRICES)


def _of_going_on(label: Label, cut: float, answer: Answer) -> dict[str, float]:
    """Whether going on pays, the call (who says nothing lets the run go on), its probability, and what the call lost at each price."""
    names = ("pays", "goes_on", "p", "brier", *PRICED)
    if cut == WHOLE:
        return dict.fromkeys(names, NAN)
    prefix, goes_on = label.prefixes[cut], answer.call != "stop"
    p, pays = NAN if answer.p is None else answer.p, float(prefix.continue_pays)
    spread = float(np.ptp(scoring.smooth(label.truth))) if label.truth.size else 0.0
    gain, remaining = prefix.gain_after / spread if spread > 0 else 0.0, 1 - prefix.step / label.steps
    lost = (scoring.price_regret(gain, remaining, goes_on, price) for price in scoring.PRICES)
    return dict(zip(names, (pays, float(goes_on), p, (p - pays) ** 2, *lost), strict=True))


def shown(row: Row) -> dict[str, Any]:
    """A row as plain data, for people who look at single runs."""
    about = {"run": row.label.run, "family": row.label.family, "cut": row.cut, "seconds": row.seconds}
    label = {"verdicts": sorted(row.label.verdicts), "links": sorted(row.label.links), "healthy": row.label.healthy}
    return row.answer.model_dump() | row.values | about | label


Measure = tuple[str, Callable[[Sequence[Row]], float]]
"""A metric: the value that a row must have to count, and how the rows that count are scored."""


def column(rows: Sequence[Row], name: str) -> scoring.Floats:
    """One value of every row."""
    return np.array([row.values[name] for row in rows], np.float64)


def _mean(name: str) -> Measure:
    return name, lambda rows: float(column(rows, name).mean())


def _of_pays(name: str, score: Callable[[scoring.Bools, scoring.Floats], float]) -> Measure:
    """A score of what was said against whether going on paid."""
    return name, lambda rows: score(column(rows, "pays") > 0, column(rows, name))


def _macro(rows: Sequence[Row]) -> float:
    return scoring.macro_f1([r.answer.verdict for r in rows], [r.label.verdicts for r in rows])


def _order(rows: Sequence[Row]) -> float:
    spans = [(r.answer.onset, *(r.label.onset or (NAN, NAN)), r.label.steps) for r in rows]
    said, low, high, steps = np.array(spans, np.float64).reshape(-1, 4).T
    return scoring.order_accuracy(said / steps, low / steps, high / steps)


_MEANS = ("verdict_hit", "link_hit", "healthy_called_broken", "checkpoint_regret", "onset_hit", "onset_distance", "brier")
MEASURES: dict[str, Measure] = {
    **{name: _mean(name) for name in (*_MEANS, *PRICED)},
    "macro_f1": ("verdict_hit", _macro),
    "onset_order": ("onset_distance", _order),
    "balanced_accuracy": _of_pays("goes_on", lambda pays, goes_on: scoring.balanced_accuracy(pays, goes_on > 0)),
    "auroc": _of_pays("p", scoring.auroc),
    "calibration_error": _of_pays("p", scoring.calibration_error),
}
"""Every metric of a cut by its name; those of prices stand under ``regret_by_price``."""

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
    found = {name: _measured(*measure, rows, resamples) for name, measure in MEASURES.items()}
    values, intervals, counts = ({name: told[i] for name, told in found.items()} for i in range(3))
    priced, spans, _ = ({name.removeprefix("regret at "): part.pop(name) for name in PRICED} for part in (values, intervals, counts))
    values |= {"regret_by_price": priced, "regret_area": scoring.regret_area(list(priced.values()))}
    return {"n": len(rows), **values, "intervals": intervals | {"regret_by_price": spans}, "counts": counts}


def _measured(of: str, score: Callable[[Sequence[Row]], float], rows: Sequence[Row], resamples: int) -> tuple[Any, ...]:
    """A metric over the rows that it is asked of, its interval over families, and how many rows those are."""
    taken = [r for r in rows if not np.isnan(r.values[of])]
    if not taken:
        return NAN, (NAN, NAN), 0
    span = scoring.interval(lambda index: score([taken[i] for i in index]), scoring.resamples([r.label.family for r in taken], resamples))
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
