"""One row a run and cut: the answer beside its label, with everything that is scored on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rl_advisor.assessment import BROKEN
from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer
from rl_advisor.evals.corpus import WHOLE, Label

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

    @property
    def run(self) -> str:
        """The run that was asked about."""
        return self.label.run

    @property
    def family(self) -> str:
        """Runs of one family are drawn together."""
        return self.label.family


def score_row(label: Label, cut: float, answer: Answer, seconds: float = NAN) -> Row:
    """One answer against its label. The verdict is asked at the end, or once the fault was there to be seen."""
    step = label.step_at(cut)
    judged = label.visible_at(step)
    broken = answer.verdict in BROKEN or answer.link not in ("", "none")
    distance = _onset_distance(label, answer, step)
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


def _onset_distance(label: Label, answer: Answer, step: float) -> float:
    """Steps between the onset that was said and the interval it lies in, 0 inside; NaN unless both are known and it lies before the cut."""
    if label.onset is None or answer.onset is None or label.onset[0] >= step:
        return NAN
    return max(label.onset[0] - answer.onset, answer.onset - label.onset[1], 0.0)


def _of_going_on(label: Label, cut: float, answer: Answer) -> dict[str, float]:
    """Whether going on pays, the call (who says nothing lets the run go on), its probability, and what the call lost at each price."""
    names = ("pays", "goes_on", "p", "brier", *(f"regret at {price:g}" for price in scoring.PRICES))
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
    about = {"run": row.run, "family": row.family, "cut": row.cut, "seconds": row.seconds}
    label = {"verdicts": sorted(row.label.verdicts), "links": sorted(row.label.links), "healthy": row.label.healthy}
    return row.answer.model_dump() | row.values | about | label


class Measure(NamedTuple):
    """A metric: the value that a row must have to count, and how the rows that count are scored."""

    of: str
    score: Callable[[Sequence[Row]], float]


def column(rows: Sequence[Row], name: str) -> scoring.Floats:
    """One value of every row."""
    return np.array([row.values[name] for row in rows], np.float64)


def _mean(name: str) -> Measure:
    return Measure(name, lambda rows: float(column(rows, name).mean()))


def _of_pays(name: str, score: Callable[[scoring.Bools, scoring.Floats], float]) -> Measure:
    """A score of what was said against whether going on paid."""
    return Measure(name, lambda rows: score(column(rows, "pays") > 0, column(rows, name)))


def _macro(rows: Sequence[Row]) -> float:
    return scoring.macro_f1([r.answer.verdict for r in rows], [r.label.verdicts for r in rows])


def _order(rows: Sequence[Row]) -> float:
    spans = [(r.answer.onset, *(r.label.onset or (NAN, NAN)), r.label.steps) for r in rows]
    said, low, high, steps = np.array(spans, np.float64).reshape(-1, 4).T
    return scoring.order_accuracy(said / steps, low / steps, high / steps)


MEASURES = {
    **{
        name: _mean(name)
        for name in ("verdict_hit", "link_hit", "healthy_called_broken", "checkpoint_regret", "onset_hit", "onset_distance", "brier")
    },
    "macro_f1": Measure("verdict_hit", _macro),
    "onset_order": Measure("onset_distance", _order),
    "balanced_accuracy": _of_pays("goes_on", lambda pays, goes_on: scoring.balanced_accuracy(pays, goes_on > 0)),
    "auroc": _of_pays("p", scoring.auroc),
    "calibration_error": _of_pays("p", scoring.calibration_error),
    **{name: _mean(name) for name in (f"regret at {price:g}" for price in scoring.PRICES)},
}
"""Every metric of a cut by its name; those of prices stand under ``regret_by_price``."""
