"""What slows a run, found where it was put and not found where it was not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rl_advisor.detectors import patterns
from rl_advisor.judgement.causes import explains
from rl_advisor.judgement.diagnosis import run_detector
from rl_advisor.run import Checkpoint, Curve, Event, Run

from gpu_loops import Part, simulate
from gpu_runs import RECORDINGS, recorded, simulated

HERE = {
    "generation_bound": {"generation-bound", "background-merge"},
    "waiting_on_reward": {"slow-reward"},
    "checkpoint_stall": {"checkpoint-heavy"},
    "background_process": {"background-merge"},
    "throttling": set(),
    "trainer_bound": set(),
    "long_tail_generation": set(),
    "hardware_error": set(),
    "idle_ranks": set(),
}
MODULES = (
    "background_process", "checkpoint_stall", "generation_bound", "hardware_error", "idle_ranks", "long_tail_generation", "memory_creep",
    "out_of_memory", "straggler", "throttling", "throughput_drop", "trainer_bound", "waiting_on_reward",
)  # fmt: skip


def outcome(name: str, run: Run) -> str:
    return run_detector(patterns()[name], run).outcome.value


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
    found = run_detector(patterns()["background_process"], recorded("background-merge"))
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
    assert run_detector(patterns()["checkpoint_stall"], run).measures["gpu beside_a_checkpoint"] == 2


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
    found = run_detector(patterns()["straggler"], replace(run, telemetry=pd.concat(gpus, ignore_index=True)))
    assert found.outcome.value == expected
    assert ("GPU 5" in found.statement) == (expected == "present")


@pytest.mark.parametrize(("end", "expected"), [(60.0, "present"), (40.2, "absent")])
def test_memory_creep(end, expected):
    """Memory that grows with every step is a finding."""
    noise = np.random.default_rng(3).normal(0, 0.1, 100)
    assert outcome("memory_creep", timed(np.linspace(40, end, 100) + noise, "memory/allocated")) == expected


def test_memory_that_jumps_once_is_no_creep():
    """One jump of the allocator is not a steady growth."""
    assert outcome("memory_creep", timed(np.where(np.arange(100) < 50, 40.0, 60.0), "memory/allocated")) != "present"


@pytest.mark.parametrize(("end", "noise", "expected"), [(3.0, 0.1, "present"), (2.0, 0.02, "absent"), (2.6, 1.0, "unclear")])
def test_throughput_drop(end, noise, expected):
    """Steps that lengthen beyond their noise are a finding; in noise they are unclear, not fine."""
    seconds = np.linspace(2, end, 120) + np.abs(np.random.default_rng(1).normal(0, noise, 120))
    assert outcome("throughput_drop", timed(seconds)) == expected


def with_events(*events: Event, curves: dict | None = None, telemetry: pd.DataFrame | None = None) -> Run:
    return Run(curves=curves or {}, events=events, telemetry=telemetry if telemetry is not None else pd.DataFrame())


def test_event_study_has_power_and_memory():
    """Power and memory are compared as step times are."""
    found = run_detector(patterns()["background_process"], recorded("background-merge")).measures
    assert found["memory_gib_during"] > found["memory_gib_before"] + 2
    assert {"power_w_before", "power_w_during", "power_w_after"} <= found.keys()


@pytest.mark.parametrize(("other", "expected"), [(3.0, "present"), (0.1, "absent")])
def test_recorded_processes_tell_whose_memory_it_is(other, expected):
    """Where processes were recorded, the run's own growth is no foreign process, and a foreign one is found behind a steady total."""
    run = simulated((300.0, 500.0))
    time = run.telemetry["time"] - run.telemetry["time"].iloc[0]
    held = np.where((time > 60) & (time < 80), other, 0.0)
    grown = run.telemetry.assign(memory_gib=60.0 + 4 * ((time > 90) & (time < 95)), other_gib=held)
    assert outcome("background_process", replace(run, telemetry=grown)) == expected


@pytest.mark.parametrize(("drain", "expected"), [(0.6, "present"), (0.15, "absent"), (0.0, "absent")])
def test_long_tail(drain, expected):
    """Generation that ebbs for a third of its time is a long tail; one that ends sharply, or nearly so, is none."""
    parts = (Part("generate", 3.0, 450, 0.5, 0.9, drain=drain), Part("reward", 0.3), Part("train", 1.5, 600, 0.4, 0.95))
    run = simulate(parts, seconds=50, seed=2).run
    assert outcome("long_tail_generation", run) == expected


def test_long_tail_by_lengths_alone_is_unclear():
    """Very unequal lengths say that there may be a tail, not how long the GPUs wait for it."""
    step = np.arange(1.0, 9.0)
    for longest, expected in ((4000.0, "unclear"), (800.0, "absent")):
        lengths = {"response/length": 500.0, "response/length_max": longest}
        curves = {n: Curve(n, n, "log", step, np.full(8, v)) for n, v in lengths.items()}
        assert outcome("long_tail_generation", Run(curves=curves)) == expected


@pytest.mark.parametrize(("update", "expected"), [(8.0, "present"), (5.0, "absent"), (2.0, "absent")])
def test_trainer_bound(update, expected):
    """Timers that put most of a step into updates are a finding."""
    step = np.arange(1.0, 9.0)
    timers = {"gen": 4.0, "update_actor": update, "step": 4.5 + update}
    curves = {f"time/phase/{n}": Curve(f"time/phase/{n}", n, "log", step, np.full(8, s)) for n, s in timers.items()}
    assert outcome("trainer_bound", Run(curves=curves)) == expected


@pytest.mark.parametrize(("use", "expected"), [(0.0, "present"), (0.3, "absent")])
def test_idle_ranks(use, expected):
    """A GPU that does nothing while three work is named; one that works a third of the time is none."""
    run = simulated((300.0, 500.0))
    gpus = [run.telemetry.assign(gpu=str(i)) for i in range(3)]
    rest = run.telemetry.assign(gpu="3", power_w=120.0, utilization=np.where(np.arange(len(run.telemetry)) % 10 < 10 * use, 0.9, 0.0))
    found = run_detector(patterns()["idle_ranks"], replace(run, telemetry=pd.concat([*gpus, rest], ignore_index=True)))
    assert found.outcome.value == expected
    assert ("(3)" in found.statement) == (expected == "present")


def test_one_gpu_cannot_be_an_idle_rank():
    """A single GPU has nothing to be compared with."""
    assert outcome("idle_ranks", simulated((300.0, 500.0))) == "unclear"


@pytest.mark.parametrize(("code", "expected"), [(79, "present"), (31, "unclear"), (0, "absent")])
def test_xid_in_telemetry(code, expected):
    """A code of the card is a finding with its step; one that programs cause is open; zero is a measured no."""
    run = simulated((300.0, 500.0))
    half = len(run.telemetry) // 2
    found = run_detector(
        patterns()["hardware_error"], replace(run, telemetry=run.telemetry.assign(xid=[0.0] * half + [code] * (len(run.telemetry) - half)))
    )
    assert found.outcome.value == expected
    if code == 79:
        assert found.onset.step == pytest.approx(15, abs=3)


def test_a_code_from_before_the_recording_is_old():
    """The counter keeps the last code: what it says from the first row on did not happen here."""
    run = simulated((300.0, 500.0))
    assert outcome("hardware_error", replace(run, telemetry=run.telemetry.assign(xid=79.0, ecc_uncorrected=2.0))) == "absent"


def test_xid_in_the_log_is_laid_beside_the_loss():
    """A driver's line is found, and explains numbers that break after it, not before."""
    step = np.arange(1.0, 41.0)
    loss = Curve("policy/loss", "loss", "log", step, np.where(step > 22, np.nan, 0.1))
    line = Event("error", "NVRM: Xid (PCI:0000:18:00): 79, pid=1234, GPU has fallen off the bus.", "train.log", 20.0)
    found = run_detector(patterns()["hardware_error"], with_events(line, curves={"policy/loss": loss}))
    assert found.outcome.value == "present"
    assert explains(found, run_detector(patterns()["non_finite"], Run(curves={"policy/loss": loss})))
    early = replace(loss, value=np.where(step > 9, np.nan, 0.1))
    assert not explains(found, run_detector(patterns()["non_finite"], Run(curves={"policy/loss": early})))


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("out_of_memory",), "present"),
        (("out_of_memory", "resume"), "present"),
        (("resume", "resume"), "unclear"),
        (("resume",), "unclear"),
        (("warning",), "absent"),
        ((), "not_logged"),
    ],
)
def test_out_of_memory_and_restarts(kinds, expected):
    """A lack of memory is a finding, restarts alone tell nothing of why, a log without either is a no."""
    events = [Event(kind, f"{kind} {i}", "train.log", 10.0 * i) for i, kind in enumerate(kinds)]
    assert outcome("out_of_memory", with_events(*events)) == expected


def test_systems_can_be_why_data_is_stale():
    """Stale samples are explained by what slows the loop, when that is seen and did not begin later."""
    for pattern in ("straggler", "throttling", "background_process", "waiting_on_reward", "checkpoint_stall", "long_tail_generation"):
        assert "stale_data" in patterns()[pattern].brings
