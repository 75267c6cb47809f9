"""The GPU profile on loops that it was not made for, and on loops in which nothing tells generation from training."""

from dataclasses import replace

import numpy as np
import pytest
from rl_advisor.gpu.profile import profile

from gpu_loops import CANNOT, LOOPS, Part, Sensor, simulate
from gpu_pieces import RECIPES, put_together
from gpu_runs import shares

DRAWS = 14


def confident(answer: dict) -> bool:
    """Whether generation or training is named with more than low confidence."""
    return any(row["name"] in {"generation", "training"} and row["confidence"] != "low" for row in answer["phases"])


@pytest.mark.parametrize("name", LOOPS)
def test_simulated_loops(name):
    """With step ends the shares of loops of many shapes are within 8 points."""
    loop = simulate(LOOPS[name], seconds=150 if "slow" in name else 45, seed=1)
    found = shares(profile(loop.run))
    assert found is not None
    assert np.abs(found - loop.shares()).max() < 0.08


@pytest.mark.parametrize("recipe", ["training-bound", "slow reward", "waiting for data", "long steps"])
def test_recordings_in_other_proportions(recipe):
    """Pieces of a recording, put together as another loop, profile as that loop."""
    loop = put_together("background-merge", RECIPES[recipe], seconds=45, seed=1)
    found = shares(profile(loop.run))
    assert found is not None
    assert np.abs(found - loop.shares()).max() < 0.06


@pytest.mark.parametrize("draw", range(DRAWS))
def test_levels_that_meet_are_never_named_confidently(draw):
    """Whatever the level, the lag, the rows and their jitter: equal levels are no answer, or an assumption that is stated."""
    rng = np.random.default_rng(draw)
    watts, activity = rng.uniform(200, 600), rng.uniform(0.1, 0.7)
    near = 1 + rng.uniform(-0.01, 0.01)
    parts = (
        Part("generate", rng.uniform(1, 4), watts, activity, 0.9),
        Part("reward", rng.uniform(0.05, 1.5)),
        Part("train", rng.uniform(0.5, 4), watts * near, activity * near, 0.9),
    )
    sensor = Sensor(
        row=float(rng.choice([0.1, 0.2, 0.5, 1.0, 2.0])),
        lag=rng.uniform(0, 0.15),
        row_jitter=rng.uniform(0, 0.02),
        noise_w=rng.uniform(0, 6),
    )
    loop = simulate(parts, seed=draw, sensor=sensor)
    for run in (loop.run, replace(loop.run, curves={})):
        answer = profile(run)
        assert not confident(answer)
        assert shares(answer) is None or any("assume" in c for c in answer["cannot_tell"])


@pytest.mark.parametrize("draw", range(DRAWS))
def test_reversed_levels_are_found_or_an_assumption(draw):
    """Training that draws less than generation is right with step ends, or not named confidently; alone it is at most an assumption."""
    rng = np.random.default_rng(100 + draw)
    high, low = rng.uniform(380, 650), rng.uniform(200, 330)
    parts = (
        Part("generate", rng.uniform(1.5, 4), high, rng.uniform(0.4, 0.7), 0.95),
        Part("reward", rng.uniform(0.05, 1.0)),
        Part("train", rng.uniform(1, 3), low, rng.uniform(0.1, 0.3), 0.8),
    )
    sensor = Sensor(row=float(rng.choice([0.1, 0.2, 0.5, 1.0])), lag=rng.uniform(0, 0.15), row_jitter=rng.uniform(0, 0.02))
    loop = simulate(parts, seed=draw, sensor=sensor)
    answer = profile(loop.run)
    if confident(answer):
        assert np.abs(shares(answer) - loop.shares()).max() < 0.12
    alone = profile(replace(loop.run, curves={}))
    assert not confident(alone)
    assert shares(alone) is None or any("assumed" in c for c in alone["cannot_tell"])


@pytest.mark.parametrize("name", CANNOT)
def test_nothing_to_tell_them_apart(name):
    """With step ends and ten rows a second the answer is that it cannot be told."""
    answer = profile(simulate(CANNOT[name], seed=3, seconds=45).run)
    assert shares(answer) is None
    assert any("generation against training" in c for c in answer["cannot_tell"])


def test_clocks_that_differ_are_noticed():
    """Where power does not go back as steps end, the clocks differ or steps overlap, and nothing is named."""
    run = simulate(LOOPS["micro-batches with dips"], seconds=45, seed=1).run
    answer = profile(replace(run, telemetry=run.telemetry.assign(time=run.telemetry["time"] + 1.5)))
    assert shares(answer) is None
    assert any("clocks differ" in c for c in answer["cannot_tell"])


def test_power_that_is_no_average_is_taken_as_it_is():
    """Sensors that print what is drawn at the moment need no undoing of an average, whatever the column is called."""
    loop = simulate(LOOPS["critic and actor"], seconds=45, sensor=Sensor(window=0.05), seed=1)
    found = shares(profile(loop.run))
    assert np.abs(found - loop.shares()).max() < 0.06


def test_more_steps_than_are_looked_at():
    """Of many steps a sample is split, and its phases are named like those of few."""
    loop = simulate(LOOPS["quick steps"], seconds=200, seed=1)
    assert loop.ends.size > 100
    assert np.abs(shares(profile(loop.run)) - loop.shares()).max() < 0.08


def test_tensor_activity_settles_equal_levels():
    """Where power and memory activity meet, the tensor cores' activity, when it is recorded, tells training from generation."""
    loop = simulate(CANNOT["equal levels"], seconds=45, seed=3)
    time, tensor = loop.run.telemetry["time"].to_numpy(), np.zeros(len(loop.run.telemetry))
    for kind, begin, end in loop.truth:
        tensor[(time >= begin) & (time < end)] = {"generate": 0.1, "train": 0.6}.get(kind, 0.0)
    found = shares(profile(replace(loop.run, telemetry=loop.run.telemetry.assign(tensor_active=tensor))))
    assert found is not None
    assert np.abs(found - loop.shares()).max() < 0.08
