"""Size and power of every feature on generated curves: how often each cries wolf, and how often it sees the wolf.

Run ``python benchmarks/calibration.py`` (a quarter of an hour), or with ``--series 40`` for a rough look; ``--write FILE``
puts the tables where they are kept. Order of onsets stands beside the figures of the literature that the project goes by.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from evals.remembering import colour
from rl_advisor.curves.ahead import WORTH, ahead
from rl_advisor.curves.course import course_of
from rl_advisor.features.change import change_points, discontinuity, onset
from rl_advisor.features.series import Floats
from rl_advisor.features.trend import direction, trend
from rl_advisor.run import Curve

PHIS = (0.0, 0.5, 0.7, 0.9, 0.97)
COUNTS = (10, 20, 30, 60, 100, 300)
Says = Callable[[Floats, Floats], bool]
Rows = Iterator[list[str]]


def memory(n: int, phi: float, series: int, seed: int = 0) -> Floats:
    """AR(1) noise of standard deviation one, a column a series."""
    return colour(np.random.default_rng(seed).standard_normal((n, series)), phi, np.ones(n - 1))


def share(says: Says, step: Floats, curves: Floats) -> float:
    """Share of the columns of ``curves`` of which ``says`` is true."""
    return float(np.mean([says(step, curves[:, i]) for i in range(curves.shape[1])]))


FALSE_ALARMS: dict[str, Says] = {
    "trend": lambda s, v: direction(trend(s, v), 0.0) in ("rising", "falling"),
    "onset": lambda s, v: onset(s, v) is not None,
    "change_points": lambda s, v: bool(change_points(s, v)),
    "discontinuity": lambda s, v: discontinuity(s, np.exp(0.3 * v)).p < 0.05,
    "fell": lambda s, v: course_of(Curve("reward/mean", "", "", s, v)).fell,
}


def cells(shares: list[float]) -> list[str]:
    """Shares as a table shows them."""
    return [f"{v:.3f}" for v in shares]


def size_table(series: int) -> Rows:
    """False alarms at a nominal 5 %, on curves in which nothing happens: AR(1) noise of every length and memory."""
    yield ["points", "phi", *FALSE_ALARMS]
    for n in COUNTS:
        for phi in PHIS:
            curves = memory(n, phi, series, n)
            yield [str(n), str(phi), *cells([share(says, np.arange(float(n)), curves) for says in FALSE_ALARMS.values()])]


def awkward_table(series: int) -> Rows:
    """False alarms at a nominal 5 %, 100 points: other kinds of noise and of cadence."""
    yield ["curves", *FALSE_ALARMS]
    for name, (step, curves) in quiet_curves(100, series).items():
        yield [name, *cells([share(says, step, curves) for says in FALSE_ALARMS.values()])]


def quiet_curves(n: int, series: int, seed: int = 7) -> dict[str, tuple[Floats, Floats]]:
    """Curves in which nothing happens, by kind: their steps and a column a series."""
    generator = np.random.default_rng(seed)
    step = np.arange(n, dtype=np.float64)
    kept = np.sort(generator.choice(2 * n, n, replace=False))
    uneven = np.cumsum(generator.geometric(0.2, n)).astype(np.float64)
    waves = np.sin(step * 2 * np.pi / 12)[:, None]
    return {
        "heavy tails (t3)": (step, generator.standard_t(3, (n, series))),
        "binomial of 16, p=.1": (step, generator.binomial(16, 0.1, (n, series)) / 16),
        "binomial of 8, p=.98": (step, generator.binomial(8, 0.98, (n, series)) / 8),
        "half the steps missing, AR .9": (kept.astype(np.float64), memory(2 * n, 0.9, series, seed)[kept]),
        "unequal cadence, AR .5": (uneven, colour(generator.standard_normal((n, series)), 0.5, np.diff(uneven) / 5)),
        "a wave every 12 steps": (step, waves + generator.standard_normal((n, series))),
    }


def changes(u: Floats) -> dict[str, tuple[Floats, tuple[str, ...]]]:
    """Changes that there are to be seen, in standard deviations of the noise, and who should see them."""
    rise = 3 * np.minimum(2 * u, 1)
    return {
        "drift of 3": (3 * u, ("trend",)),
        "drift of 6": (6 * u, ("trend",)),
        "step of 3": (3.0 * (u >= 0.5), ("onset", "change_points", "discontinuity")),
        "ramp of 4 over a sixth": (np.clip((u - 0.5) * 24, 0, 4), ("onset", "change_points")),
        "fall of 3": (rise - 6 * np.maximum(u - 0.5, 0), ("fell",)),
        "fall of 6": (2 * rise - 12 * np.maximum(u - 0.5, 0), ("fell",)),
        "cliff of 6": (6.0 * ((u > 0.3) & (u < 0.8)), ("fell",)),
    }


def power_table(series: int) -> Rows:
    """Power, ordinary runs: share of the curves with a change in which it is seen."""
    yield ["change", "feature", *(f"n={n} phi={phi}" for n in (20, 40, 60) for phi in (0.3, 0.5, 0.7)), "n=300 phi=.5", "n=300 phi=.9"]
    sizes = [(n, phi, series) for n in (20, 40, 60) for phi in (0.3, 0.5, 0.7)] + [(300, 0.5, series // 4), (300, 0.9, series // 4)]
    for name, (_, features) in changes(np.zeros(1)).items():
        for feature in features:
            found = []
            for n, phi, count in sizes:
                step = np.arange(float(n))
                found.append(share(FALSE_ALARMS[feature], step, memory(n, phi, count, n + 1) + changes(step / n)[name][0][:, None]))
            yield [name, feature, *(f"{v:.2f}" for v in found)]


LITERATURE = {
    ("ramp", "ramp", 30, 0.5): 0.98, ("ramp", "ramp", 10, 0.0): 0.90, ("step", "step", 10, 0.9): 0.94,
    ("ramp", "step", 10, 0.0): 1.0, ("ramp", "step", 30, 0.0): 1.0, ("ramp", "step", 60, 0.0): 1.0,
    ("ramp", "step", 10, 0.5): 0.89, ("ramp", "step", 30, 0.5): 1.0, ("ramp", "step", 60, 0.5): 1.0,
    ("ramp", "step", 10, 0.9): 0.56, ("ramp", "step", 30, 0.9): 0.84, ("ramp", "step", 60, 0.9): 0.93,
}  # fmt: skip
"""Cause, effect, lag, phi -> the best order accuracy that was measured for any method when the project was planned."""


def order_table(series: int) -> Rows:
    """What broke first: cause at 150 of 300 points, and the best figure of the methods compared beforehand."""
    yield ["pair", "lag", "phi", "right", "beforehand", "median bias of the cause"]
    for (first, second, lag, phi), known in LITERATURE.items():
        found = order(first, second, lag, phi, series)
        yield [f"{first} then {second}", str(lag), str(phi), f"{found[0]:.2f}", f"{known:.2f}", *(f"{v:.2f}" for v in found[1:])]


def order(first: str, second: str, lag: int, phi: float, series: int) -> list[float]:
    """The figures of one kind of pair: order right, median bias of the cause's onset."""
    step = np.arange(300.0)
    causes, effects = (memory(300, phi, series, seed) for seed in (11, 12))
    pairs = [_order(step, causes[:, i] + _break(step, first, 150), effects[:, i] + _break(step, second, 150 + lag)) for i in range(series)]
    right, bias = (np.array(v) for v in zip(*pairs, strict=True))
    return [float(right.mean()), float(np.median(bias))]


def _break(step: Floats, shape: str, at: float) -> Floats:
    return np.maximum(step - at, 0) / 15 if shape == "ramp" else (step >= at) * 4.0


def _order(step: Floats, cause: Floats, effect: Floats) -> tuple[float, float]:
    found = onset(step, cause), onset(step, effect)
    a, b = (float(step[-1]) if o is None else o.at for o in found)
    return float(a < b) + 0.5 * float(a == b), a - 150


def gain_table(series: int) -> Rows:
    """Whether going on from half way pays: the Brier score of the probability against what happened."""
    yield ["curve", "phi", "mean probability", "share that paid", "Brier"]
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
            yield [name, str(phi), *cells(_gain_scores(u, mean, mean[:, None] + 0.3 * memory(200, phi, series, 5)))]


def _gain_scores(u: Floats, mean: Floats, curves: Floats) -> list[float]:
    truth = max(float(mean.max() - mean[:100].max()), 0.0)
    courses = [course_of(Curve("reward/mean", "", "", u[:100], curves[:100, i])) for i in range(curves.shape[1])]
    pays = np.array([ahead(c, 1.0).pays for c in courses])
    paid = np.array([float(truth > WORTH * c.margin) for c in courses])
    return [float(pays.mean()), float(paid.mean()), float(((pays - paid) ** 2).mean())]


TABLES: dict[str, Callable[[int], Rows]] = {
    "size": size_table,
    "awkward": awkward_table,
    "power": power_table,
    "order": order_table,
    "gain": gain_table,
}
ABOUT = """# Size and power of the features

Made by `python benchmarks/calibration.py --series {series} --write docs/dev/calibration.md`; nothing is typed by hand. A share of {series}
curves has a standard error of {error:.1f} points at 5 %. Sizes are to stay within 3 points of 5 % at any lag-one correlation up to 0.9;
0.97 is shown, not promised. A feature that finds nothing does not say that there is nothing: a direction is *undecidable* then, unless
its whole interval lies inside the margin, and how many more points the margin needs is said beside it.
"""


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=200, help="curves per cell")
    parser.add_argument("--write", type=Path, help="a Markdown file for the tables")
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=f"any of {', '.join(TABLES)}")
    asked = parser.parse_args()
    text = ABOUT.format(series=asked.series, error=100 * np.sqrt(0.05 * 0.95 / asked.series))
    for name in asked.tables:
        count = asked.series if name != "order" else asked.series // 4
        print(f"\n## {(TABLES[name].__doc__ or '').rstrip('.')}\n")
        text += f"\n## {(TABLES[name].__doc__ or '').rstrip('.')}\n\n"
        for i, row in enumerate(TABLES[name](count)):
            line = f"| {' | '.join(row)} |" + ("\n|" + "---|" * len(row) if i == 0 else "")
            print(line, flush=True)
            text += line + "\n"
    if asked.write:
        asked.write.write_text(text)


if __name__ == "__main__":
    main()
