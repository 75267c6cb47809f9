"""One group of GPUs in step -> which tick is generation, training or waiting, and how far that can be trusted."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rl_advisor.features import TooFewPoints
from rl_advisor.features.gpu.phase_confidence import CONSENSUS, agreement_of, levels_differ, returns_at_ends, shares_of, split_with_variants
from rl_advisor.features.gpu.phase_fit import Sensor, covered, forward_fit, levels
from rl_advisor.features.gpu.phase_levels import cycle, otsu
from rl_advisor.features.gpu.phases import GENERATION, TRAINING, WAITING, quiet_ticks, runs_of
from rl_advisor.gpu.signals import COUNTER_LAG, FINE, INSTANT, POWER_LAG, USUAL_WINDOW, Rows, Ticks
from rl_advisor.gpu.steps import Steps, step_of
from rl_advisor.run import Floats

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_STEPS = 80
MOST_TICKS = 4_000
DENSE = 15
"""Ticks a step must have for its boundary to be placed tick by tick."""
LEAST_ACTIVE = 40
"""Active ticks below which no split is tried."""
DENSE_BLIND = 20
"""Rows a cycle must have when step ends are not known."""
REGULAR = 0.4
"""Autocorrelation of power one cycle later, below which no cycle is claimed."""
MOST_TRAINING = 0.6
"""Share of active time at the higher level above which the two levels are rather work and its interruptions."""
MEETING = 0.2
"""Fitted levels of slow rows that differ by less, in power and in memory activity, meet."""
COUNTER_WINDOW = 0.2
ORDER_ASSUMED = "the order in a step: it is assumed that generation comes first and training last, beginning where the signals jump most"
SHORTEST_QUIET = 0.2
"""Seconds that the counters must read zero; their own window is as long, so the wait itself is longer."""


@dataclass(frozen=True)
class Split:
    """The ticks looked at and their labels; ``named`` says whether generation and training may be told apart."""

    at: Floats
    label: Ints
    named: bool
    confidence: str
    spread: Floats
    """Standard deviation of the share of generation, training and waiting between variants."""
    period: float
    cannot_tell: tuple[str, ...] = ()
    step: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def quiet_of(ticks: Ticks) -> Flags | None:
    """The ticks at which the GPU did nothing; None without utilisation, which alone can say so."""
    if "utilization" not in ticks.value:
        return None
    shortest = max(round(SHORTEST_QUIET / ticks.spacing), 1)
    power = ticks.value.get("power_w") if ticks.deconvolved else None
    margin = round(COUNTER_WINDOW / 2 / ticks.spacing)
    return quiet_ticks(ticks.value["utilization"], ticks.value.get("memory_activity"), power, shortest=shortest, margin=margin)


def split_of(ticks: Ticks, group: list[Rows], steps: Steps, quiet: Flags) -> Split:
    """The split by the best method that the rows allow."""
    rows_a_step = steps.period / max(group[0].spacing, FINE)
    if len(steps.spans) and ticks.deconvolved and rows_a_step >= DENSE:
        return _by_step_ends(ticks, steps, quiet)
    if len(steps.spans) and steps.period / ticks.spacing >= 4 * DENSE:
        return _by_step_ends(ticks, steps, quiet)
    if len(steps.spans) and group[0].spacing > steps.period:
        return _only_waiting(ticks, steps, np.zeros(quiet.size, bool), "any phase: rows are further apart than steps")
    if len(steps.spans):
        return _by_fit(ticks, group, steps, quiet)
    return _blind(ticks, group, quiet, steps.period)


def _by_step_ends(ticks: Ticks, steps: Steps, quiet: Flags) -> Split:
    step = _sample(step_of(steps, ticks.time), len(steps.spans))
    inside = np.flatnonzero(step >= 0)
    inside = inside[:: max(-(-inside.size // MOST_TICKS), 1)]
    if (~quiet[inside]).sum() < LEAST_ACTIVE:
        return _only_waiting(ticks, steps, quiet, "generation against training: the GPUs were hardly ever active")
    active = "tensor_active" if "tensor_active" in ticks.value else "memory_activity"
    names = {"power": "power_w", "activity": active, "temperature": "temperature", "utilization": "utilization"}
    signals = {ours: ticks.value[theirs][inside] for ours, theirs in names.items() if theirs in ticks.value}
    found = split_with_variants(signals, step[inside], quiet[inside])
    apart = levels_differ(signals["power"], signals.get("activity"), found.label, step[inside])
    back = returns_at_ends(signals["activity" if active == "tensor_active" else "power"], found.label, step[inside])
    named = found.consensus >= CONSENSUS and apart and back
    why = ORDER_ASSUMED if named else _cannot_split(found.consensus, apart=apart, back=back)
    most = float((found.label == TRAINING).sum() / max((found.label != WAITING).sum(), 1))
    confidence = "high" if found.consensus >= 0.95 and ticks.deconvolved and most <= MOST_TRAINING else "medium"
    return Split(ticks.time[inside], found.label, named, confidence, found.shares.std(axis=0), steps.period, (why,), step[inside])


def _sample(step: Ints, count: int) -> Ints:
    """At most MOST_STEPS steps, spread evenly; the others as if they were no steps."""
    if count <= MOST_STEPS:
        return step
    chosen = np.zeros(count + 1, bool)
    chosen[np.linspace(0, count - 1, MOST_STEPS).astype(int)] = True
    return np.where(chosen[step], step, -1)


def _cannot_split(consensus: float, *, apart: bool, back: bool = True) -> str:
    reason = f"the answer changes with the assumptions (they agree on {consensus:.0%} of the time)"
    reason = "power does not go back as steps end, so the clocks differ or steps overlap" if not back else reason
    reason = reason if apart else "their levels meet"
    return f"generation against training: {reason}; the trainer's own phase timings, or SM, tensor and DRAM activity, would settle it"


def _by_fit(ticks: Ticks, group: list[Rows], steps: Steps, quiet: Flags) -> Split:
    """Rows too far apart for single ticks: one duration of training, fitted; labels are then read off the fitted spans."""
    edges = steps.chain()
    spans = _spans(ticks, quiet, margin=COUNTER_WINDOW / 2 if ticks.spacing > COUNTER_WINDOW else 0.0)
    sensors = _sensors(group)
    try:
        fits = [forward_fit(s, edges, spans, rising=rising) for s, rising in ((sensors, True), (sensors[:1], True), (sensors[:2], True))]
    except TooFewPoints as short:
        return _only_waiting(ticks, steps, np.zeros(quiet.size, bool), f"any phase: {short}")
    whole = edges[-1] - edges[0]
    shares = [float((fit[:, 1] - fit[:, 0]).sum() / whole) for fit in fits]
    fine = np.arange(edges[0], edges[-1], max(steps.period / 400, FINE / 2)) + FINE / 4
    label = np.where(_within(fits[0], fine), TRAINING, np.where(_within(spans, fine), WAITING, GENERATION)).astype(np.int64)
    agreement, apart = agreement_of(shares), _fitted_apart(group[0], fits[0], spans, edges)
    named = agreement >= 0.80 and apart
    why = (
        (_cannot_split(agreement, apart=apart),)
        if not named
        else ("whether generation is one level without waits inside, as the split of these slow rows assumes",)
    )
    spread = np.full(3, float(np.std(shares)))
    return Split(
        fine,
        label,
        named,
        "low",
        spread,
        steps.period,
        why,
        step_of(steps, fine),
    )


def _fitted_apart(rows: Rows, training: Floats, quiet: Floats, edges: Floats) -> bool:
    """Whether the fitted level of training lies clear of that of generation, in power or in memory activity."""
    for name, lag, window in (("power_w", POWER_LAG, USUAL_WINDOW), ("memory_activity", COUNTER_LAG - 0.1, COUNTER_WINDOW)):
        if name in rows.value:
            sensor = Sensor(rows.value[name], rows.time - lag, window).within(edges[0], edges[-1])
            trains, _, generates = levels(sensor, [training, quiet])
            if abs(trains - generates) > MEETING * abs(generates):
                return True
    return False


def _only_waiting(ticks: Ticks, steps: Steps, quiet: Flags, why: str) -> Split:
    step = step_of(steps, ticks.time)
    inside = step >= 0 if len(steps.spans) else np.ones(step.size, bool)
    label = np.where(quiet[inside], WAITING, GENERATION).astype(np.int64)
    return Split(
        ticks.time[inside],
        label,
        named=False,
        confidence="low",
        spread=np.zeros(3),
        period=steps.period,
        cannot_tell=(why,),
        step=step[inside],
    )


def _sensors(group: list[Rows]) -> list[Sensor]:
    """Power, memory activity and utilisation of the group's GPUs, each GPU in its own spread, at most eight of them."""
    kinds = [
        ("power_w", POWER_LAG, USUAL_WINDOW),
        ("memory_activity", COUNTER_LAG - 0.1, COUNTER_WINDOW),
        ("utilization", COUNTER_LAG - 0.1, COUNTER_WINDOW),
    ]
    if INSTANT in group[0].value:
        kinds[0] = (INSTANT, FINE / 2, FINE)
    sensors = []
    for name, lag, window in kinds:
        parts = [r for r in group[:8] if name in r.value and np.ptp(r.value[name]) > 0]
        if parts:
            value = np.concatenate([(r.value[name] - r.value[name].mean()) / r.value[name].std() for r in parts])
            sensors.append(Sensor(value, np.concatenate([r.time for r in parts]) - lag, window))
    return sensors


def _spans(ticks: Ticks, flags: Flags, margin: float = 0.0) -> npt.NDArray[np.float64]:
    """Flagged stretches in seconds, each tick being as wide as the spacing."""
    runs = runs_of(flags)
    half = ticks.spacing / 2 + margin
    return np.stack([ticks.time[runs[:, 0]] - half, ticks.time[runs[:, 1] - 1] + half], axis=1) if len(runs) else np.empty((0, 2))


def _within(spans: npt.NDArray[np.float64], at: Floats) -> Flags:
    return np.asarray(covered(spans, at + 1e-6) - covered(spans, at - 1e-6) > 1e-6)


def _blind(ticks: Ticks, group: list[Rows], quiet: Flags, period: float) -> Split:
    """No step ends: levels only. The higher level is called training as a stated assumption, where power goes in a clear cycle."""
    inside = after_start(ticks, quiet)
    power = ticks.value["power_w"][inside]
    seconds, regular = cycle(power, ticks.spacing)
    label = np.where(quiet[inside], WAITING, GENERATION).astype(np.int64)
    high = power > otsu(power[~quiet[inside]]) if (~quiet[inside]).any() else np.zeros(power.size, bool)
    label[high & (label == GENERATION)] = TRAINING
    told = _levels_told(power, label)
    rows = seconds / max(group[0].spacing, FINE)
    known = period if np.isfinite(period) else seconds
    most = float((label == TRAINING).sum() / max((label != WAITING).sum(), 1))
    if regular < REGULAR or rows < DENSE_BLIND or most > MOST_TRAINING or not levels_differ_blind(power, label):
        label[label == TRAINING] = GENERATION
        why = f"generation against training: step ends are not known, and power goes in no clear cycle of enough rows ({told})"
        return Split(ticks.time[inside], label, named=False, confidence="low", spread=np.zeros(3), period=known, cannot_tell=(why,))
    why = f"which level is training: the higher one is assumed to be ({told}); wall-clock step ends would settle it"
    period_why = "whether the cycle of power is one step or several"
    return Split(
        ticks.time[inside], label, named=True, confidence="low", spread=np.full(3, 0.03), period=known, cannot_tell=(why, period_why)
    )


def levels_differ_blind(power: Floats, label: Ints) -> bool:
    """Whether the two levels lie further apart than 10 % of the lower and three times the spread inside them."""
    low, high = power[label == GENERATION], power[label == TRAINING]
    if min(low.size, high.size) < 8:
        return False
    inside = max(np.subtract(*np.percentile(x, [75, 25])) for x in (low, high)) / 1.35
    gap = float(np.median(high) - np.median(low))
    return bool(gap > 0.1 * np.median(low) and gap > 1.5 * inside)


def _levels_told(power: Floats, label: Ints) -> str:
    share = shares_of(label)
    parts = [f"{np.median(power[label == k]):.0f} W for {share[k]:.0%}" for k in (TRAINING, GENERATION) if (label == k).any()]
    return ", ".join([*parts, f"quiet {share[WAITING]:.0%}"])


def after_start(ticks: Ticks, quiet: Flags) -> slice:
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
