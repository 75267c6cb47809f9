"""What slows a run, found where it was put and not found where it was not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rl_advisor.detectors import (
    background_process,
    checkpoint_stall,
    generation_bound,
    memory_creep,
    memory_near_capacity,
    straggler,
    throttling,
    throughput_drop,
    waiting_on_reward,
)
from rl_advisor.diagnosis import run_detector
from rl_advisor.run import Checkpoint, Curve, Run

from gpu_runs import RECORDINGS, recorded, simulated

HERE = {
    "generation_bound": {"generation-bound", "background-merge"},
    "waiting_on_reward": {"slow-reward"},
    "checkpoint_stall": {"checkpoint-heavy"},
    "background_process": {"background-merge"},
    "throttling": set(),
    "memory_near_capacity": set(),
}
MODULES = {m.__name__.rpartition(".")[2]: m for m in (
    background_process, checkpoint_stall, generation_bound, memory_creep, memory_near_capacity,
    straggler, throttling, throughput_drop, waiting_on_reward,
)}  # fmt: skip


def outcome(name: str, run: Run) -> str:
    return run_detector(MODULES[name], run).outcome.value


def timed(seconds: np.ndarray, name: str = "time/step") -> Run:
    step = np.arange(1.0, seconds.size + 1)
    return Run(curves={name: Curve(name, name, "log", step, seconds)})


@pytest.mark.parametrize("recording", RECORDINGS)
def test_recordings(recording):
    """Each recording shows what was put into it and nothing else."""
    run = recorded(recording)
    assert {name for name in HERE if outcome(name, run) == "present"} == {name for name, where in HERE.items() if recording in where}


@pytest.mark.parametrize("name", MODULES)
def test_nothing_logged(name):
    """A run without telemetry and timers is not logged, never fine."""
    assert outcome(name, Run()) == "not_logged"


def test_telemetry_without_step_ends_is_unclear():
    """Where the step of a wait is unknown its cause is not claimed."""
    run = recorded("slow-reward", ends=False)
    assert {outcome(n, run) for n in ("waiting_on_reward", "checkpoint_stall", "generation_bound")} == {"unclear"}


def test_event_study_of_the_background_process():
    """Steps before, during and after the other process are compared."""
    found = run_detector(background_process, recorded("background-merge"))
    assert found.measures["excess_gib"] == pytest.approx(5.67, abs=0.05)
    assert found.measures["step_s_during"] == pytest.approx(2.11, abs=0.1)
    assert (found.evidence[0].first_step, found.evidence[0].last_step) == (11, 16)


def test_memory_that_stays_is_no_process():
    """Memory that rises once and stays is left open."""
    run = simulated((300.0, 500.0))
    late = run.telemetry["time"] > run.telemetry["time"].iloc[0] + 100
    assert outcome("background_process", replace(run, telemetry=run.telemetry.assign(memory_gib=60.0 + 4 * late))) == "unclear"


def test_memory_that_comes_back_with_the_steps_is_no_process():
    """An engine that wakes in each step moves its own memory."""
    run = simulated((300.0, 500.0))
    phase = (run.telemetry["time"] - run.clock()[1][0]) % 4.9
    assert outcome("background_process", replace(run, telemetry=run.telemetry.assign(memory_gib=60.0 + 4 * (phase < 2.5)))) == "absent"


def test_stalls_beside_checkpoints_are_counted():
    """Stalls after steps that wrote a checkpoint are told from others."""
    run = replace(recorded("checkpoint-heavy"), checkpoints=(Checkpoint(16, "checkpoint-16"), Checkpoint(18, "checkpoint-18")))
    assert run_detector(checkpoint_stall, run).measures["beside_a_checkpoint"] == 2


@pytest.mark.parametrize(("share", "expected"), [(0.30, "present"), (0.001, "absent")])
def test_throttle_reasons(share, expected):
    """Thermal reasons in many rows are a finding, a power cap is none."""
    run = recorded("balanced")
    mask = np.where(np.arange(len(run.telemetry)) < share * len(run.telemetry), 0x20, 0x4)
    assert outcome("throttling", replace(run, telemetry=run.telemetry.assign(throttle=mask))) == expected


def test_falling_clock_without_reasons():
    """A clock that falls while the card gets warmer is a finding even where reasons are not logged."""
    run = recorded("generation-bound")
    late = np.linspace(0, 1, len(run.telemetry)) > 0.6
    hot = run.telemetry.assign(sm_clock=np.where(late, 1500.0, 1980.0), temperature=np.where(late, 85.0, 60.0))
    assert outcome("throttling", replace(run, telemetry=hot)) == "present"


@pytest.mark.parametrize(("factor", "expected"), [(0.6, "present"), (1.02, "absent")])
def test_straggler(factor, expected):
    """One of eight GPUs that stays apart is named."""
    run = simulated((300.0, 500.0))
    scale = [factor if i == 5 else 1 + i / 500 for i in range(8)]
    gpus = [run.telemetry.assign(gpu=str(i), power_w=run.telemetry["power_w"] * s) for i, s in enumerate(scale)]
    found = run_detector(straggler, replace(run, telemetry=pd.concat(gpus, ignore_index=True)))
    assert found.outcome.value == expected
    assert ("GPU 5" in found.statement) == (expected == "present")


def test_memory_near_capacity():
    """Memory above 95 percent of the card is a finding."""
    run = simulated((300.0, 500.0))
    assert outcome("memory_near_capacity", replace(run, telemetry=run.telemetry.assign(memory_gib=135.0))) == "present"


@pytest.mark.parametrize(("end", "expected"), [(60.0, "present"), (40.2, "absent")])
def test_memory_creep(end, expected):
    """Memory that grows with every step is a finding."""
    noise = np.random.default_rng(3).normal(0, 0.1, 100)
    assert outcome("memory_creep", timed(np.linspace(40, end, 100) + noise, "memory/allocated")) == expected


def test_memory_that_jumps_once_is_no_creep():
    """One jump of the allocator is not a steady growth."""
    assert outcome("memory_creep", timed(np.where(np.arange(100) < 50, 40.0, 60.0), "memory/allocated")) != "present"


@pytest.mark.parametrize(("end", "noise", "expected"), [(3.0, 0.1, "present"), (2.0, 0.02, "absent"), (2.6, 3.0, "unclear")])
def test_throughput_drop(end, noise, expected):
    """Steps that lengthen beyond their noise are a finding; in noise they are unclear, not fine."""
    seconds = np.linspace(2, end, 120) + np.abs(np.random.default_rng(1).normal(0, noise, 120))
    assert outcome("throughput_drop", timed(seconds)) == expected
