"""One group of GPUs in step -> which tick is generation, training or waiting, and how far that can be trusted."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phase_fit import Sensor, forward_fit, inside, levels
from rl_advisor.features.gpu.phases import GENERATION, TRAINING, WAITING, quiet_ticks, runs_of
from rl_advisor.features.series import Bools, Ints
from rl_advisor.gpu.signals import COUNTER_LAG, FINE, INSTANT, POWER_LAG, USUAL_WINDOW, Rows, Ticks
from rl_advisor.gpu.steps import Steps, step_of
from rl_advisor.run import Floats

MOST_STEPS = 200
DENSE, DENSE_SLOW = 8, 60
"""Ticks a step must have for single ticks to show its phases, where each is what was drawn, and where it is an average."""
LEAST_ACTIVE = 12
"""Active ticks below which no split is tried."""
AGREE, SURE = 0.80, 0.95
"""Agreement of the variants of a fit, in shares, from which phases are named, and from which that is more than a guess."""
MEETING = 0.2
"""Fitted levels that differ by less, in power and in memory activity, meet."""
RETURN = 0.3
"""Part of the jump at which training begins that must be undone as the step ends."""
COUNTER_WINDOW = 0.2
ORDER_ASSUMED = "the order in a step: it is assumed that generation comes first and training last, for about as long in every step"
SHORTEST_QUIET = 0.2
"""Seconds that the counters must read zero; their own window is as long, so the wait itself is longer."""
RIVAL = 0.85
"""A fit at whose beginnings the signals jump by this part of the sharpest one's is a rival: it must agree, or none is the answer."""
FALLING = 0.5
"""What a jump counts at which the signals fall: generation falls too, as its last answers finish."""


@dataclass(frozen=True)
class Split:
    """The ticks looked at and their labels; ``named`` says whether generation and training may be told apart."""

    at: Floats
    label: Ints
    period: float
    cannot_tell: tuple[str, ...]
    named: bool = False
    confidence: str = "low"
    spread: float = 0.0
    """Standard deviation of the share of training between variants."""
    step: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def kinds(self) -> npt.NDArray[np.str_]:
        """What each label is called; generation and training are one where they may not be told apart."""
        return np.array(("generation", "training", "waiting") if self.named else ("other", "other", "waiting"))


def quiet_of(ticks: Ticks) -> Bools | None:
    """The ticks at which the GPU did nothing; None without utilisation, which alone can say so."""
    if "utilization" not in ticks.value:
        return None
    shortest = max(round(SHORTEST_QUIET / ticks.spacing), 1)
    power = ticks.value.get("power_w") if ticks.deconvolved else None
    margin = round(COUNTER_WINDOW / 2 / ticks.spacing)
    return quiet_ticks(ticks.value["utilization"], ticks.value.get("memory_activity"), power, shortest=shortest, margin=margin)


def split_of(ticks: Ticks, group: list[Rows], steps: Steps, quiet: Bools) -> Split:
    """The split as far as the rows allow.

    One duration of training at the end of each step, fitted under several assumptions; labels are read off the fitted spans.
    """
    if not len(steps.spans):
        return _only_waiting(
            ticks, steps, quiet, "generation against training: step ends are not known; times beside the steps would settle it"
        )
    if group[0].spacing > steps.period:
        return _only_waiting(ticks, steps, np.zeros(quiet.size, bool), "any phase: rows are further apart than steps")
    edges, dense = steps.chain(), steps.period >= ticks.spacing * (DENSE if ticks.deconvolved else DENSE_SLOW)
    first = max((edges.size - 1 - MOST_STEPS) // 2, 0)
    edges = edges[first : first + MOST_STEPS + 1]
    spans = _spans(ticks, quiet, margin=COUNTER_WINDOW / 2 if ticks.spacing > COUNTER_WINDOW else 0.0)
    sensors = _sensors(ticks, group[0], dense)
    kinds = [(some, rising) for some in (sensors, sensors[:1], sensors[:2]) for rising in ((True, False) if dense else (True,))]
    if not sensors or (~quiet).sum() < LEAST_ACTIVE:
        return _only_waiting(ticks, steps, quiet, "generation against training: the GPUs were hardly ever active")
    try:
        fits = [forward_fit(some, edges, spans, rising=rising) for some, rising in kinds]
    except TooFewPoints as short:
        return _only_waiting(ticks, steps, np.zeros(quiet.size, bool), f"any phase: {short}")
    if dense:
        jumps = [_jump(sensors[0], _begins(fit, edges), ticks.spacing) for fit in fits]
        sharp = [abs(jump) * (1.0 if jump > 0 else FALLING) for jump in jumps]
        fits = [fit for fit, jump in zip(fits, sharp, strict=True) if jump >= RIVAL * max(sharp)]
    shares = np.array([float((fit[:, 1] - fit[:, 0]).sum() / (edges[-1] - edges[0])) for fit in fits])
    training = fits[int(np.abs(shares[:, None] - shares).sum(axis=1).argmin()) if dense else 0]
    fine = np.arange(edges[0], edges[-1], max(steps.period / 400, FINE / 2)) + FINE / 4
    label = np.where(inside(training, fine), TRAINING, np.where(inside(spans, fine), WAITING, GENERATION)).astype(np.int64)
    agreement, apart = 1 - float(np.ptp(shares)), _apart(sensors, training, spans, edges)
    start, end = (_jump(sensors[0], at, ticks.spacing) for at in (_begins(training, edges), edges[1:-1]))
    back = not dense or -np.sign(start) * end >= RETURN * abs(start)
    named = agreement >= AGREE and apart and back
    why = (ORDER_ASSUMED if named else _cannot_split(agreement, apart=apart, back=back),)
    sure = "high" if agreement >= SURE and ticks.deconvolved else "medium"
    return Split(fine, label, steps.period, why, named, sure if dense else "low", float(np.std(shares)), step_of(steps, fine))


def _begins(training: Floats, edges: Floats) -> Floats:
    """Where training begins in each step that has any."""
    step = np.searchsorted(edges, training[:, 0], side="right")
    return np.asarray(training[np.unique(step, return_index=True)[1], 0])


def _jump(sensor: Sensor, at: Floats, spacing: float) -> float:
    """How far a signal jumps, in its own spread, at some moments: what comes after less what comes before, the mean of all."""
    reach, middle = spacing * np.array([2.0, 3.0, 4.0]), sensor.end - sensor.window / 2
    after, before = (np.interp(at[:, None] + side * reach, middle, sensor.value).mean(axis=1) for side in (1, -1))
    return float(np.clip((after - before) / (sensor.value.std() or 1.0), -3, 3).mean()) if at.size else 0.0


def _cannot_split(agreement: float, *, apart: bool, back: bool) -> str:
    reason = f"the answer changes with the assumptions (they agree on {agreement:.0%} of the time)"
    reason = "power does not go back as steps end, so the clocks differ or steps overlap" if not back else reason
    reason = reason if apart else "their levels meet"
    return f"generation against training: {reason}; the trainer's own phase timings, or SM, tensor and DRAM activity, would settle it"


def _apart(sensors: list[Sensor], training: Floats, quiet: Floats, edges: Floats) -> bool:
    """Whether the fitted level of training lies clear of that of generation, in one of the first two signals."""
    for sensor in sensors[:2]:
        trains, _, generates = levels(sensor.within(edges[0], edges[-1]), [training, quiet])
        if abs(trains - generates) > MEETING * abs(generates):
            return True
    return False


def _sensors(ticks: Ticks, rows: Rows, dense: bool) -> list[Sensor]:
    """The signals that tell most, the plainest first: tick by tick, or as the rows averaged them."""
    if dense:
        first = ("tensor_active", "power_w") if "tensor_active" in ticks.value else ("power_w", "memory_activity")
        names = [n for n in (*first, "utilization") if n in ticks.value and np.ptp(ticks.value[n]) > 0]
        return [Sensor(ticks.value[n], ticks.time + ticks.spacing / 2, ticks.spacing) for n in names]
    power = (INSTANT, FINE / 2, FINE) if INSTANT in rows.value else ("power_w", POWER_LAG, USUAL_WINDOW)
    kinds = (power, *((name, COUNTER_LAG - FINE, COUNTER_WINDOW) for name in ("memory_activity", "utilization")))
    known = [kind for kind in kinds if kind[0] in rows.value and np.ptp(rows.value[kind[0]]) > 0]
    return [Sensor(rows.value[name], rows.time - lag, window) for name, lag, window in known]


def _only_waiting(ticks: Ticks, steps: Steps, quiet: Bools, why: str) -> Split:
    step = step_of(steps, ticks.time)
    inside = step >= 0 if len(steps.spans) else after_start(ticks, quiet)
    label = np.where(quiet[inside], WAITING, GENERATION).astype(np.int64)
    return Split(ticks.time[inside], label, steps.period, (why,), step=step[inside])


def _spans(ticks: Ticks, flags: Bools, margin: float = 0.0) -> Floats:
    """Flagged stretches in seconds, each tick being as wide as the spacing."""
    runs = runs_of(flags)
    half = ticks.spacing / 2 + margin
    return np.stack([ticks.time[runs[:, 0]] - half, ticks.time[runs[:, 1] - 1] + half], axis=1) if len(runs) else np.empty((0, 2))


def after_start(ticks: Ticks, quiet: Bools) -> slice:
    """From when memory first reaches its settled level to the last activity."""
    active = np.flatnonzero(~quiet)
    last = int(active[-1]) + 1 if active.size else quiet.size
    memory = ticks.value.get("memory_gib")
    if memory is None:
        return slice(0, last)
    level = float(np.median(memory[last // 2 : last]))
    reached = [int((memory[:last] >= part * level).argmax()) for part in (1.0, 0.95)]
    first = next((at for at in reached if at < max(last // 2, 1)), 0)
    return slice(first if first < last - 20 else 0, last)
