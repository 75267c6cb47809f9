"""One row a run and cut: the answer beside its label, with everything that is scored on it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from rl_advisor.assessment import BROKEN
from rl_advisor.evals import scoring
from rl_advisor.evals.answers import Answer
from rl_advisor.evals.corpus import WHOLE, Label

NAN = float("nan")


@dataclass(frozen=True)
class Row:
    """An answer about a run (up to a cut) and how it compares with the label. NaN where nothing can be compared."""

    run: str
    family: str
    cut: float
    step: float
    answer: Answer
    verdicts: frozenset[str]
    links: frozenset[str]
    judged: bool
    """Whether the label of the whole run may be held against this answer: at the end, or once the fault was there to be seen."""
    healthy: bool
    called_broken: bool
    pays: bool | None
    gain: float
    """Gain of going on as a share of the range of the true score."""
    remaining: float
    """Share of the run that lies after the cut."""
    regret: float
    onset_distance: float
    onset_hit: float
    onset_span: tuple[float, float, float] = (NAN, NAN, NAN)
    """The onset that was said and the bounds of the true one, as shares of the run; NaN where either is unknown."""
    seconds: float = NAN

    @property
    def goes_on(self) -> bool:
        """The call; who says nothing, or that nothing says, lets the run go on."""
        return self.answer.call != "stop"


def score_row(label: Label, cut: float, answer: Answer, seconds: float = NAN) -> Row:
    """One answer against its label."""
    step = label.steps if cut == WHOLE else label.prefixes[cut].step
    prefix = None if cut == WHOLE else label.prefixes[cut]
    distance = _onset_distance(label, answer, step)
    return Row(
        run=label.run,
        family=label.family,
        cut=cut,
        step=step,
        answer=answer,
        verdicts=label.verdicts,
        links=label.links,
        judged=label.visible_at(step),
        healthy=label.healthy,
        called_broken=answer.verdict in BROKEN or answer.link not in ("", "none"),
        pays=prefix.continue_pays if prefix else None,
        gain=_share_of_range(label, prefix.gain_after) if prefix else NAN,
        remaining=1 - step / label.steps,
        regret=scoring.checkpoint_regret(label.truth_steps, label.truth, answer.best_step, step),
        onset_distance=distance,
        onset_hit=NAN if np.isnan(distance) else float(distance <= 0.05 * label.steps),
        onset_span=_onset_span(label, answer, distance),
        seconds=answer.seconds if answer.seconds is not None else seconds,
    )


def _onset_distance(label: Label, answer: Answer, step: float) -> float:
    """NaN unless both are known and the onset lies before the cut."""
    if label.onset is None or answer.onset is None or label.onset[0] >= step:
        return NAN
    low, high, said = (np.array([x], dtype=np.float64) for x in (*label.onset, answer.onset))
    return float(scoring.onset_distance(said, low, high)[0])


def _onset_span(label: Label, answer: Answer, distance: float) -> tuple[float, float, float]:
    if label.onset is None or answer.onset is None or np.isnan(distance):
        return NAN, NAN, NAN
    return answer.onset / label.steps, label.onset[0] / label.steps, label.onset[1] / label.steps


def _share_of_range(label: Label, gain: float) -> float:
    truth = scoring.smooth(label.truth)
    spread = float(np.ptp(truth)) if truth.size else 0.0
    return gain / spread if spread > 0 else 0.0


def shown(row: Row) -> dict[str, object]:
    """A row as plain data, for people who look at single runs."""
    flat = {name: value for name, value in asdict(row).items() if name != "answer"}
    hits = {"verdict_hit": row.answer.verdict in row.verdicts, "link_hit": row.answer.link in (row.links or {"none"})}
    return flat | asdict(row.answer) | hits | {"verdicts": sorted(row.verdicts), "links": sorted(row.links)}


def _verdict(rows: Sequence[Row]) -> float:
    return scoring.share(scoring.verdict_hits([r.answer.verdict for r in rows], [r.verdicts for r in rows]))


def _macro(rows: Sequence[Row]) -> float:
    return scoring.macro_f1([r.answer.verdict for r in rows], [r.verdicts for r in rows])


def _link(rows: Sequence[Row]) -> float:
    return scoring.share(scoring.link_hits([r.answer.link for r in rows], [r.links for r in rows]))


def _called_broken(rows: Sequence[Row]) -> float:
    return scoring.share(np.array([r.called_broken for r in rows], dtype=np.bool_))


def _of_p(measure: Callable[[scoring.Bools, scoring.Floats], float]) -> Callable[[Sequence[Row]], float]:
    def score(rows: Sequence[Row]) -> float:
        return measure(np.array([r.pays for r in rows], dtype=np.bool_), np.array([r.answer.p for r in rows], dtype=np.float64))

    return score


def _balanced(rows: Sequence[Row]) -> float:
    return scoring.balanced_accuracy(np.array([r.pays for r in rows], dtype=np.bool_), np.array([r.goes_on for r in rows], dtype=np.bool_))


def _order(rows: Sequence[Row]) -> float:
    said, low, high = np.array([r.onset_span for r in rows], dtype=np.float64).reshape(-1, 3).T
    return scoring.order_accuracy(said, low, high)


def _abstention(truth: scoring.Bools, p: scoring.Floats) -> float:
    return scoring.risk_coverage_area((p >= 0.5) != truth, np.abs(p - 0.5))


def _regret_at(price: float) -> Callable[[Sequence[Row]], float]:
    def score(rows: Sequence[Row]) -> float:
        gain, remaining = (np.array([getattr(r, name) for r in rows], dtype=np.float64) for name in ("gain", "remaining"))
        return scoring.mean(scoring.price_regret(gain, remaining, np.array([r.goes_on for r in rows], dtype=np.bool_), price))

    return score


def _mean_of(name: str) -> Callable[[Sequence[Row]], float]:
    def score(rows: Sequence[Row]) -> float:
        return scoring.mean(np.array([getattr(r, name) for r in rows], dtype=np.float64))

    return score


@dataclass(frozen=True)
class Measure:
    """A metric: on which rows it is taken, and how."""

    counts: Callable[[Row], bool]
    score: Callable[[Sequence[Row]], float]


def _with_p(row: Row) -> bool:
    return row.pays is not None and row.answer.p is not None


MEASURES = {
    "verdict_hit": Measure(lambda r: r.judged, _verdict),
    "macro_f1": Measure(lambda r: r.judged, _macro),
    "link_hit": Measure(lambda r: r.judged and not r.healthy, _link),
    "healthy_called_broken": Measure(lambda r: r.healthy, _called_broken),
    "checkpoint_regret": Measure(lambda r: not np.isnan(r.regret), _mean_of("regret")),
    "onset_hit": Measure(lambda r: not np.isnan(r.onset_hit), _mean_of("onset_hit")),
    "onset_distance": Measure(lambda r: not np.isnan(r.onset_distance), _mean_of("onset_distance")),
    "onset_order": Measure(lambda r: not np.isnan(r.onset_span[0]), _order),
    "balanced_accuracy": Measure(lambda r: r.pays is not None, _balanced),
    "auroc": Measure(_with_p, _of_p(scoring.auroc)),
    "brier": Measure(_with_p, _of_p(scoring.brier)),
    "calibration_error": Measure(_with_p, _of_p(scoring.calibration_error)),
    "risk_coverage_area": Measure(_with_p, _of_p(_abstention)),
}
"""Every metric of a cut by its name, beside ``regret_by_price``."""
PRICED = {f"{price:g}": Measure(lambda r: r.pays is not None, _regret_at(price)) for price in scoring.PRICES}
