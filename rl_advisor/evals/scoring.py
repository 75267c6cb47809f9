"""The numbers that say how good a judgement was. Pure functions over numpy arrays; nothing else of ours is used here.

A value that the data do not define (no positive example, no run of that kind) is NaN, never 0.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]

BINS = 15
"""Parts of the probabilities in which they are held against what happened."""
PRICES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Prices of a whole training budget, as shares of the range of the score."""


def class_counts(verdicts: Sequence[str], admissible: Sequence[AbstractSet[str]]) -> dict[str, tuple[float, int, int]]:
    """Per class how often it was the truth, was said, and was said rightly.

    An admitted answer is taken as the truth of its run; of a miss the admitted classes are the truth in equal parts.
    """
    truth: Counter[str] = Counter()
    said, right = Counter(verdicts), Counter(v for v, admitted in zip(verdicts, admissible, strict=True) if v in admitted)
    for verdict, admitted in zip(verdicts, admissible, strict=True):
        truth.update({verdict: 1} if verdict in admitted else dict.fromkeys(admitted, 1 / len(admitted)))
    return {c: (truth[c], said[c], right[c]) for c in sorted({*truth, *said})}


def macro_f1(verdicts: Sequence[str], admissible: Sequence[AbstractSet[str]]) -> float:
    """Mean F1 over the classes that are the truth of some run; see ``class_counts`` for how a set counts."""
    scores = [2 * right / (n + said) for n, said, right in class_counts(verdicts, admissible).values() if n]
    return float(np.mean(scores)) if scores else float("nan")


def smooth(scores: Floats, window: int = 5) -> Floats:
    """Centred moving mean of the same length.

    At the start the window is narrowed on both sides, so that the score before training stands for itself; at the end it holds what
    exists. Labels of a corpus are smoothed in the same way.
    """
    reach = [min(window // 2, i) for i in range(scores.size)]
    return np.array([scores[i - half : i + half + 1].mean() for i, half in enumerate(reach)], dtype=np.float64)


def score_error(scores: Floats) -> float:
    """Standard error of a smoothed score, from the median second difference of the raw one (a slope is no noise)."""
    if scores.size < 3:
        return 0.0
    noise = 1.4826 * float(np.median(np.abs(np.diff(scores, n=2)))) / 6**0.5  # normal noise has second differences of variance 6
    return float(noise / min(5, scores.size) ** 0.5)


def checkpoint_regret(steps: Floats, scores: Floats, chosen: float | None, until: float = np.inf) -> float:
    """How far the true score at the chosen step lies below the best one, as a share of the run's range (0 is best, 1 worst).

    Scores are smoothed first; only checkpoints up to ``until`` compete, while the range is that of the whole run. A shortfall
    within one standard error is a tie and costs nothing, and so does any choice in a run whose score never moves. Who names no
    step is taken to keep the last one, and a step after ``until`` stands for the last one too. NaN without any true score.
    """
    if not steps.size:
        return float("nan")
    truth = smooth(scores)
    known = steps <= until
    known[0] = True
    step = steps[known][-1] if chosen is None else min(chosen, steps[known][-1])
    loss = truth[known].max() - float(np.interp(step, steps[known], truth[known]))
    spread = truth.max() - truth.min()
    return 0.0 if spread == 0 or loss <= score_error(scores) else float(loss / spread)


def order_accuracy(said: Floats, low: Floats, high: Floats) -> float:
    """Share of the pairs of runs whose onsets are told in the right order, ties counting half.

    Only pairs whose true intervals do not overlap are asked; NaN when there is none. All times on one scale, such as shares of the run.
    """
    earlier, later = np.nonzero(high[:, None] < low[None, :])
    return float(np.mean((np.sign(said[later] - said[earlier]) + 1) / 2)) if earlier.size else float("nan")


def balanced_accuracy(truth: Bools, said: Bools) -> float:
    """Mean of the hit rates among the true and among the false cases; NaN when one kind is missing."""
    if truth.all() or not truth.any():
        return float("nan")
    return float((said[truth].mean() + (~said[~truth]).mean()) / 2)


def auroc(truth: Bools, p: Floats) -> float:
    """Probability that a true case gets the higher ``p`` than a false one, ties counting half; NaN when one kind is missing."""
    positive, negative = p[truth], p[~truth]
    if not positive.size or not negative.size:
        return float("nan")
    above = np.sign(positive[:, None] - negative[None, :])
    return float((above.mean() + 1) / 2)


def brier(truth: Bools, p: Floats) -> float:
    """Mean squared distance between the probability and what happened; NaN of none."""
    return float(np.mean((p - truth) ** 2)) if p.size else float("nan")


def calibration_error(truth: Bools, p: Floats) -> float:
    """Expected calibration error: mean gap between probability and frequency over equal bins of ``p``, weighted by their size."""
    if not p.size:
        return float("nan")
    place = np.minimum((p * BINS).astype(np.intp), BINS - 1)
    return float(sum(abs(p[place == b].sum() - truth[place == b].sum()) for b in range(BINS)) / p.size)


def price_regret(gain: float, remaining: float, go_on: bool, price: float) -> float:
    """What a call lost against the better one, as a share of the score's range.

    Going on brings ``max(gain, 0)`` and costs ``price * remaining`` (gain: share of the range; remaining: share of the budget);
    stopping brings nothing and costs nothing.
    """
    worth = max(gain, 0.0) - price * remaining
    return max(worth, 0.0) - (worth if go_on else 0.0)


def regret_area(regrets: Sequence[float]) -> float:
    """Mean regret over the logarithm of the price, by the trapezoid rule."""
    x = np.log(np.asarray(PRICES, dtype=np.float64))
    return float(np.trapezoid(np.asarray(regrets, dtype=np.float64), x) / (x[-1] - x[0]))


def resamples(families: Sequence[str], count: int) -> list[Ints]:
    """Row numbers of ``count`` bootstrap samples, each drawn as whole families with replacement."""
    names = sorted(set(families))
    members = [np.flatnonzero(np.array([f == name for f in families])) for name in names]
    draws = np.random.default_rng(0).integers(0, len(names), size=(count, len(names)))
    return [np.concatenate([members[i] for i in draw]) for draw in draws]


def interval(statistic: Callable[[Ints], float], samples: Sequence[Ints]) -> tuple[float, float]:
    """Percentile bootstrap interval of a statistic of row numbers; samples in which it is undefined are left out."""
    values = np.array([statistic(rows) for rows in samples], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not values.size:
        return float("nan"), float("nan")
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
