"""One table of all arms on one corpus, for people (Markdown) and programs (JSON)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rl_advisor.evals import scoring
from rl_advisor.evals.answers import read_answers
from rl_advisor.evals.corpus import WHOLE, read_corpus
from rl_advisor.evals.harness import CUTS, MEASURES, Advise, Row, judge, reader, score_row, summarize
from rl_advisor.run import Run

WHOLE_RUN = ("verdict_hit", "macro_f1", "link_hit", "healthy_called_broken", "checkpoint_regret", "onset_hit", "onset_order")
PREFIXES = ("healthy_called_broken", "checkpoint_regret", "balanced_accuracy", "auroc", "brier", "regret_area")


def compare_arms(  # noqa: PLR0913
    corpus: Path,
    arms: Mapping[str, Advise],
    cuts: Sequence[float] = CUTS,
    *,
    reference: str | None = None,
    read: Callable[[Path], Run] | None = None,
    resamples: int = 500,
) -> dict[str, Any]:
    """The result of ``evaluate`` of every arm by its name, on the same views; each run is read once for all of them.

    With a reference arm, each other arm also gets ``difference``: its metrics minus the reference's on the same answers, as
    ``{whole, prefixes}`` of ``[difference, low, high]``.
    """
    labeled, once = read_corpus(corpus), cache(read or reader())
    judged = {name: judge(labeled, advise, cuts, once) for name, advise in arms.items()}
    results = {name: summarize(labeled, rows, rows=False, resamples=resamples) for name, rows in judged.items()}
    for name in judged.keys() - {reference} if reference else ():
        results[name]["difference"] = _differences(judged[name], judged[reference or ""], resamples)
    return results


def compare_answers(
    corpus: Path,
    files: Mapping[str, Path],
    arms: Mapping[str, Advise] | None = None,
    *,
    read: Callable[[Path], Run] | None = None,
    resamples: int = 500,
) -> dict[str, Any]:
    """Answers made elsewhere beside arms of ours in one table, on the runs and lengths that every file answers and on no others.

    Raises:
        ValueError: the files answer no run of the corpus at the same cut.

    """
    labeled, once = read_corpus(corpus), cache(read or reader())
    given = {name: read_answers(path) for name, path in files.items()}
    shared = set.intersection(*(set(answers) for answers in given.values()))
    both = [(label, cut) for label in labeled.labels.values() for cut in sorted({*label.prefixes, WHOLE}) if (label.run, cut) in shared]
    if not both:
        raise ValueError(f"{', '.join(path.name for path in files.values())} answer no run of {corpus} at the same cut")
    scored = {name: [score_row(label, cut, answers[label.run, cut]) for label, cut in both] for name, answers in given.items()}
    for name, advise in (arms or {}).items():
        kept = {(row.label.run, row.cut): row for row in judge(labeled, advise, sorted({cut for _, cut in both} - {WHOLE}), once)}
        scored[name] = [kept[label.run, cut] for label, cut in both]
    return {name: summarize(labeled, rows, rows=False, resamples=resamples) for name, rows in scored.items()}


def difference(name: str, ours: Sequence[Row], theirs: Sequence[Row], resamples: int = 500) -> tuple[float, float, float]:
    """A metric of one arm minus that of another on the same rows, with the interval over families: (difference, low, high).

    Rows that only one of the two can be scored on are left out.
    """
    of, score = MEASURES[name]
    both = [pair for pair in zip(ours, theirs, strict=True) if not any(np.isnan(row.values[of]) for row in pair)]

    def gap(index: Iterable[int]) -> float:
        one, other = ([both[i][side] for i in index] for side in (0, 1))
        return score(one) - score(other)

    if not both:
        return float("nan"), float("nan"), float("nan")
    return gap(range(len(both))), *scoring.interval(gap, scoring.resamples([a.label.family for a, _ in both], resamples))


def _differences(ours: Sequence[Row], theirs: Sequence[Row], resamples: int) -> dict[str, dict[str, list[float | None]]]:
    parts = {"whole": (WHOLE_RUN, True), "prefixes": (PREFIXES[:-1], False)}
    found = {}
    for part, (names, whole) in parts.items():
        a, b = ([r for r in rows if (r.cut == WHOLE) is whole] for rows in (ours, theirs))
        found[part] = {n: [None if np.isnan(v) else v for v in difference(n, a, b, resamples)] for n in names}
    return found


def markdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Two tables: whole runs, and prefixes of all cuts pooled. Brackets hold the 95 percent interval over families."""
    whole = scores({name: r["cuts"]["1"] for name, r in results.items() if "1" in r["cuts"]}, WHOLE_RUN)
    pooled = scores({name: r["pooled"] for name, r in results.items()}, PREFIXES)
    priced = by_price({name: r["pooled"]["regret_by_price"] for name, r in results.items()})
    return f"Whole runs\n\n{whole}\n\nPrefixes, all cuts pooled\n\n{pooled}\n\nRegret by the price of a whole budget\n\n{priced}\n"


def flips(results: Mapping[str, Mapping[str, Any]]) -> str:
    """One table an arm from what ``perturb.robustness`` gives: the share of answers that each change flips."""
    columns = ("verdict_flip", "to_undecided", "from_undecided", "contradiction", "link_flip", "call_flip", "p_shift")
    return "".join(f"{name}\n\n{scores(changes, columns, head='change')}\n\n" for name, changes in results.items())


def scores(blocks: Mapping[str, Mapping[str, Any]], columns: Sequence[str], head: str = "arm") -> str:
    """One line a block, with the interval of each metric."""
    return text_table((head, *columns), [[name, *(_cell(block, c) for c in columns)] for name, block in blocks.items()])


def by_price(curves: Mapping[str, Mapping[str, float | None]]) -> str:
    """One line a curve of regret, one column a price."""
    prices = list(next(iter(curves.values()), {}))
    return text_table(("arm", *prices), [[name, *(_number(curve[p]) for p in prices)] for name, curve in curves.items()])


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def _cell(block: Mapping[str, Any], name: str) -> str:
    return span(block[name], block["intervals"].get(name) or (None, None))


def span(value: float | None, interval: Sequence[float | None]) -> str:
    """A value with its interval; a dash for what is not defined."""
    low, high = interval
    return _number(value) + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
