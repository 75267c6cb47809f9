"""How often each feature cries wolf on quiet curves and sees a real change; the figures are printed (``pytest -s``)."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from rl_advisor.features.trend import direction, trend


def _load() -> ModuleType:
    where = Path(__file__).parents[2] / "benchmarks" / "calibration.py"
    spec = importlib.util.spec_from_file_location("calibration", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CALIBRATION = _load()
SERIES = 120
FEATURES = tuple(CALIBRATION.FALSE_ALARMS)


def shares(names: tuple[str, ...], step: np.ndarray, curves: np.ndarray, title: str) -> dict[str, float]:
    """Share of the curves on which each feature sees something, printed."""
    found = {name: CALIBRATION.share(CALIBRATION.FALSE_ALARMS[name], step, curves) for name in names}
    sys.stdout.write(f"{title:44s} " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()) + "\n")
    return found


# Nominal 5 %, three points of tolerance and two standard errors of 120 series (4 points): limits far below what naive tests give.
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("names", [("trend",), ("onset", "change_points")])
def test_size_under_memory(phi: float, names: tuple[str, ...]) -> None:
    """Quiet AR(1) curves of 200 points give at most about the nominal share of alarms."""
    found = shares(names, np.arange(200.0), CALIBRATION.memory(200, phi, SERIES, seed=1), f"size, n=200, AR(1) {phi}")
    assert max(found.values()) <= 0.12


@pytest.mark.parametrize("kind", ["heavy tails (t3)", "binomial of 16, p=.1", "binomial of 8, p=.98", "half the steps missing, AR .9"])
def test_size_on_awkward_curves(kind: str) -> None:
    """Heavy tails, bounded rewards and missing steps do not raise the share of alarms."""
    step, curves = CALIBRATION.quiet_curves(100, 40)[kind]
    found = shares(FEATURES, step, curves, f"size, n=100, {kind}")
    # The course knows memories up to .7: slower noise is a level that wanders, and may have fallen.
    assert found.pop("fell") <= (0.35 if "AR .9" in kind else 0.1)
    assert max(found.values()) <= 0.15


@pytest.mark.parametrize("n", [5, 10, 30])
def test_size_of_short_curves(n: int) -> None:
    """A handful of evaluations with a little memory rarely shows a trend that is not there."""
    found = shares(("trend",), np.arange(float(n)), CALIBRATION.memory(n, 0.3, SERIES, seed=n), f"size, n={n}, AR(1) 0.3")
    assert found["trend"] <= 0.11


@pytest.mark.parametrize("n", [10, 20, 30])
def test_no_direction_is_claimed_of_short_noise_with_long_memory(n: int) -> None:
    """Noise of 0.9 is seldom called a trend or a step; intervals alone would claim it of one in four or five."""
    curves = CALIBRATION.memory(n, 0.9, SERIES, seed=n)
    found = shares(("trend", "change_points"), np.arange(float(n)), curves, f"size, n={n}, AR(1) 0.9")
    assert max(found.values()) <= 0.12
    step = np.arange(float(n))
    ends = [trend(step, curves[:, i]) for i in range(SERIES)]
    assert np.mean([t.low > 0 or t.high < 0 for t in ends]) > 0.12 and {direction(t, 0.0) for t in ends} > {"undecidable"}


def test_a_cliff_is_a_decline_however_long_the_memory() -> None:
    """A fall of six deviations that stays down, which simulated noise takes for memory, is seen; the same noise alone is not called one."""
    u = np.linspace(0, 1, 60)
    noise = CALIBRATION.memory(60, 0.7, 30, seed=8)
    cliff = 6.0 * ((u > 0.3) & (u < 0.8))[:, None]
    assert shares(("fell",), u, noise + cliff, "power, cliff of 6 sd, AR(1) 0.7")["fell"] >= 0.9
    assert shares(("fell",), u, noise, "size, n=60, AR(1) 0.7")["fell"] <= 0.2


@pytest.mark.parametrize(("phi", "least"), [(0.0, 0.99), (0.5, 0.99), (0.9, 0.7)])
def test_power_for_a_drift(phi: float, least: float) -> None:
    """A drift of three standard deviations over 300 points is seen, where naive tests of that size cannot be had."""
    drift = np.linspace(0, 3, 300)[:, None]
    found = shares(("trend",), np.arange(300.0), CALIBRATION.memory(300, phi, 60, seed=2) + drift, f"power, drift of 3 sd, AR(1) {phi}")
    assert found["trend"] >= least


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_power_for_a_step(phi: float) -> None:
    """A step of three standard deviations half way is seen by all that look for steps."""
    step = np.arange(200.0)
    curves = CALIBRATION.memory(200, phi, 25, seed=3) + 3.0 * (step >= 100)[:, None]
    found = shares(("onset", "change_points", "discontinuity"), step, curves, f"power, step of 3 sd, AR(1) {phi}")
    assert min(found.values()) >= 0.9


@pytest.mark.parametrize(("phi", "size", "power"), [(0.0, 0.05, 0.95), (0.5, 0.05, 0.85), (0.9, 0.16, 0.1)])
def test_decline_from_a_peak(phi: float, size: float, power: float) -> None:
    """A plateau is seldom called a decline, a fall of three standard deviations mostly is."""
    u = np.linspace(0, 1, 300)
    noise = CALIBRATION.memory(300, phi, 40, seed=4)
    fall = (np.minimum(u * 2, 1) * 3 - np.maximum(u - 0.5, 0) * 6)[:, None]
    assert shares(("fell",), u, noise, f"size, plateau, AR(1) {phi}")["fell"] <= size
    assert shares(("fell",), u, noise + fall, f"power, decline of 3 sd, AR(1) {phi}")["fell"] >= power


@pytest.mark.parametrize(
    ("first", "second", "lag", "phi", "least"),
    [("ramp", "ramp", 30, 0.5, 0.95), ("step", "step", 10, 0.9, 0.9), ("ramp", "step", 30, 0.5, 0.95)],
)
def test_the_cause_is_placed_before_the_effect(first: str, second: str, lag: int, phi: float, least: float) -> None:
    """The order of two onsets comes out right, also for a slow cause with an abrupt effect."""
    right, _ = CALIBRATION.order(first, second, lag, phi, 8)
    assert right >= least
