"""Size and power of every feature on generated curves: how often each cries wolf, and how often it sees the wolf.

Run ``python benchmarks/calibration.py`` (minutes), or with ``--series 60`` for a rough look.
"""

import argparse
from collections.abc import Callable

import numpy as np
from rl_advisor.features.autoregression import colour
from rl_advisor.features.change import change_points, discontinuity, onset, onset_draws, probability_before
from rl_advisor.features.gain import expected_gain
from rl_advisor.features.noise import sign_changes
from rl_advisor.features.peak import peak
from rl_advisor.features.rate import rate
from rl_advisor.features.relation import correlation, gap_trend
from rl_advisor.features.series import Floats
from rl_advisor.features.trend import level_change, trend

PHIS = (0.0, 0.5, 0.9, 0.97)
Says = Callable[[Floats, Floats], bool]


def memory(n: int, phi: float, series: int, seed: int = 0) -> Floats:
    """AR(1) noise of standard deviation one, a column a series."""
    return colour(np.random.default_rng(seed).standard_normal((n, series)), phi, np.ones(n - 1))


def share(says: Says, step: Floats, curves: Floats) -> float:
    """Share of the columns of ``curves`` of which ``says`` is true."""
    return float(np.mean([says(step, curves[:, i]) for i in range(curves.shape[1])]))


def trending(step: Floats, value: Floats) -> bool:
    """Whether zero lies outside the interval of the slope."""
    found = trend(step, value)
    return found.low > 0 or found.high < 0


def level_moves(step: Floats, value: Floats) -> bool:
    """Whether zero lies outside the interval of the change of level half way."""
    found = level_change(step, value, float(step[step.size // 2]))
    return found.low > 0 or found.high < 0


def rate_moves(step: Floats, value: Floats) -> bool:
    """Whether zero lies outside the interval of the change of slope."""
    found = rate(step, value)
    return found.low > 0 or found.high < 0


FALSE_ALARMS: dict[str, Says] = {
    "trend": trending,
    "level_change": level_moves,
    "rate": rate_moves,
    "onset": lambda s, v: onset(s, v, draws=20).shape != "none",
    "change_points": lambda s, v: bool(change_points(s, v)),
    "discontinuity": lambda s, v: discontinuity(s, np.exp(0.3 * v)).p < 0.05,
    "peak": lambda s, v: peak(s, v).p < 0.05,
    "sign_changes": lambda _, v: abs(sign_changes(v)) > 1.96,
}


def row(name: str, cells: list[float]) -> None:
    """One line of a table."""
    print(f"{name:34s}" + "".join(f"{c:8.3f}" for c in cells), flush=True)


def trend_table(series: int) -> None:
    """Size of the trend, and its power for a drift of three standard deviations."""
    print("\nTREND: size at 5 % and [power for a drift of 3 sd], by phi", *PHIS)
    for n in (5, 10, 30, 100, 300, 1000):
        step = np.arange(n, dtype=np.float64)
        size = [share(trending, step, memory(n, phi, series, n)) for phi in PHIS]
        power = [share(trending, step, memory(n, phi, series, n) + 3 * step[:, None] / n) for phi in PHIS]
        row(f"n={n}", size + power)


def noise_table(series: int) -> None:
    """False alarms of every feature on curves without a change: kinds of noise and of cadence."""
    print("\nFALSE ALARMS at 5 %, n=100 |", *FALSE_ALARMS)
    for name, (step, curves) in quiet_curves(100, series).items():
        row(name, [share(says, step, curves) for says in FALSE_ALARMS.values()])
    print("n=300")
    for phi in PHIS:
        step = np.arange(300.0)
        row(f"AR(1) {phi}", [share(says, step, memory(300, phi, series // 2)) for says in FALSE_ALARMS.values()])
    pairs = [np.mean([_related(memory(100, phi, 2, i)) for i in range(series)]) for phi in PHIS]
    row("correlation of two, by phi", [float(p) for p in pairs])
    gaps = [np.mean([_parting(memory(300, phi, 2, i)) for i in range(series)]) for phi in PHIS]
    row("gap of two (every 10th), by phi", [float(g) for g in gaps])


def _related(pair: Floats) -> bool:
    found = correlation(pair[:, 0], pair[:, 1])
    return found.low > 0 or found.high < 0


def _parting(pair: Floats) -> bool:
    step = np.arange(pair.shape[0], dtype=np.float64)
    found = gap_trend(step, pair[:, 0], step[::10], pair[::10, 1])
    return found.low > 0 or found.high < 0


def quiet_curves(n: int, series: int, seed: int = 7) -> dict[str, tuple[Floats, Floats]]:
    """Curves in which nothing happens, by kind: their steps and a column a series."""
    generator = np.random.default_rng(seed)
    step = np.arange(n, dtype=np.float64)
    kept = np.sort(generator.choice(2 * n, n, replace=False))
    waves = np.sin(step * 2 * np.pi / 12)[:, None]
    made = {f"AR(1) {phi}": (step, memory(n, phi, series, seed)) for phi in PHIS}
    made["heavy tails (t3)"] = (step, generator.standard_t(3, (n, series)))
    made["binomial of 16, p=.1"] = (step, generator.binomial(16, 0.1, (n, series)) / 16)
    made["binomial of 8, p=.98"] = (step, generator.binomial(8, 0.98, (n, series)) / 8)
    made["half the steps missing, AR .9"] = (kept.astype(np.float64), memory(2 * n, 0.9, series, seed)[kept])
    made["every 4th period a wave"] = (step, waves + generator.standard_normal((n, series)))
    return made


def breaks_table(series: int) -> None:
    """Power of the break features: change of 3 sd half way."""
    print("\nPOWER, n=300, change of 3 sd half way, by phi", *PHIS)
    n, step = 300, np.arange(300.0)
    late = (step >= 150)[:, None] * 3.0
    ramp = np.maximum(step - 150, 0)[:, None] / 50
    for name, change in (("step", late), ("ramp", ramp)):
        for feature in ("trend", "level_change", "rate", "onset", "change_points"):
            row(f"{name}: {feature}", [share(FALSE_ALARMS[feature], step, memory(n, phi, series) + change) for phi in PHIS])
    wider = [share(FALSE_ALARMS["onset"], step, memory(n, phi, series) * (1 + late / 2)) for phi in PHIS]
    row("spread x 2.5: onset", wider)
    row("doubled: discontinuity", [share(FALSE_ALARMS["discontinuity"], step, memory(n, phi, series) + late) for phi in PHIS])


def peak_table(series: int) -> None:
    """Size and power of the decline test, as in the literature: plateau, rising, decline of 1 and of 3 sd from the middle."""
    print("\nPEAK, n=300: plateau, rising (6 sd), rise then plateau, decline 1 sd, decline 3 sd")
    u = np.linspace(0, 1, 300)[:, None]
    rise = np.minimum(u * 2, 1) * 3
    fall = np.maximum(u - 0.5, 0) * 2
    for phi in (0.0, 0.5, 0.9):
        noise = memory(300, phi, series, 3)
        cells = [share(FALSE_ALARMS["peak"], u[:, 0], noise + m) for m in (0 * u, 6 * u, rise, rise - fall, rise - 3 * fall)]
        row(f"phi={phi}", cells)
    print("PEAK, evaluations: n=8, 15, 30 (phi .2): plateau, rise then plateau, decline 3 sd")
    for n in (8, 15, 30):
        u = np.linspace(0, 1, n)[:, None]
        noise, rise, fall = memory(n, 0.2, series, n), np.minimum(u * 2, 1) * 3, np.maximum(u - 0.5, 0) * 6
        row(f"n={n}", [share(FALSE_ALARMS["peak"], u[:, 0], noise + m) for m in (0 * u, rise, rise - fall)])


def order_table(series: int) -> None:
    """How often the cause is found to break before the effect, n=300, cause at 150."""
    print("\nORDER: accuracy of the median onset | share of pairs called (P >= .8) | share of calls right | median bias of the cause")
    cases = (("ramp", "ramp", 30, 0.5), ("ramp", "ramp", 10, 0.0), ("step", "step", 10, 0.9))
    cases += tuple(("ramp", "step", lag, phi) for phi in (0.0, 0.5, 0.9) for lag in (10, 30, 60))
    for first, second, lag, phi in cases:
        row(f"{first} then {second}, lag {lag}, phi {phi}", order(first, second, lag, phi, series))


def order(first: str, second: str, lag: int, phi: float, series: int) -> list[float]:
    """The figures of one kind of pair: order right, share called, share of calls right, median bias of the cause's onset."""
    step = np.arange(300.0)
    causes, effects = (memory(300, phi, series, seed) for seed in (11, 12))
    pairs = [_order(step, causes[:, i] + _break(step, first, 150), effects[:, i] + _break(step, second, 150 + lag)) for i in range(series)]
    before, right, bias = (np.array(v) for v in zip(*pairs, strict=True))
    called = (before >= 0.8) | (before <= 0.2)
    return [float(v) for v in (right.mean(), called.mean(), (before[called] >= 0.8).mean(), np.median(bias))]


def _break(step: Floats, shape: str, at: float) -> Floats:
    return np.maximum(step - at, 0) / 15 if shape == "ramp" else (step >= at) * 4.0


def _order(step: Floats, cause: Floats, effect: Floats) -> tuple[float, float, float]:
    first, second = onset_draws(step, cause), onset_draws(step, effect, seed=1)
    a, b = onset(step, cause, draws=2).at, onset(step, effect, draws=2).at
    return probability_before(first, second), float(a < b) + 0.5 * float(a == b), a - 150


def gain_table(series: int) -> None:
    """Calibration of the expected gain: coverage of the 80 % interval, Brier score and mean of ``pays`` against what happened."""
    print("\nGAIN from half way: coverage of the 80 % interval | mean pays | share that paid | Brier | base-rate Brier")
    u = np.linspace(0, 1, 200)
    shapes = {
        "saturating early": 3 * (1 - np.exp(-u / 0.1)),
        "saturating late": 3 * (1 - np.exp(-u / 0.5)),
        "line": 3 * u,
        "plateau": 0 * u,
        "sigmoid late": 3 / (1 + np.exp(-(u - 0.6) / 0.05)),
        "peak at .4": 3 * np.minimum(u / 0.4, 1) - 4 * np.maximum(u - 0.4, 0),
    }
    for name, mean in shapes.items():
        for phi in (0.0, 0.5):
            curves = mean[:, None] + 0.3 * memory(200, phi, series, 5)
            row(f"{name}, phi {phi}", _gain_scores(u, mean, curves))


def _gain_scores(u: Floats, mean: Floats, curves: Floats) -> list[float]:
    truth = max(float(mean.max() - mean[:100].max()), 0.0)
    found = [expected_gain(u[:100], curves[:100, i], 1.0) for i in range(curves.shape[1])]
    pays = np.array([g.pays for g in found])
    paid = float(truth > 0.1)
    inside = np.mean([g.low - 0.05 <= truth <= g.high + 0.05 for g in found])
    return [float(inside), float(pays.mean()), paid, float(((pays - paid) ** 2).mean()), 0.25]


TABLES = {"trend": trend_table, "noise": noise_table, "breaks": breaks_table, "peak": peak_table, "order": order_table, "gain": gain_table}


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=300, help="curves per cell")
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=f"any of {', '.join(TABLES)}")
    asked = parser.parse_args()
    for name in asked.tables:
        TABLES[name](asked.series)


if __name__ == "__main__":
    main()
