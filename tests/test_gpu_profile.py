"""The GPU profile against recordings whose phases are known, and against loops whose levels meet."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from rl_advisor.gpu.profile import profile
from rl_advisor.run import Curve, Run

from gpu_runs import RECORDINGS, clock, recorded, shares, simulated, step_ends, truth

KEYS = {"gpus", "hours", "step_period_s", "phases", "idle", "interference", "headroom_gib", "cannot_tell", "gaps"}
ROW_KEYS = {
    "name", "share", "share_low", "share_high", "seconds_per_step", "power_w",
    "utilization", "memory_gib", "energy_j_per_step", "confidence",
}  # fmt: skip


@cache
def answer_of(name: str, **how: object) -> dict:
    """The profile of a recording."""
    return profile(recorded(name, **how))


def errors(name: str, **how: object) -> np.ndarray | None:
    """Errors of the shares in points; None where the profile does not name the phases."""
    found = shares(answer_of(name, **how))
    return None if found is None else 100 * (found - truth(name)[0])


def overlaps(idle: list[dict], start: float, end: float) -> bool:
    return any(i["start"] < end and i["start"] + i["seconds"] > start for i in idle)


@pytest.mark.parametrize("name", RECORDINGS)
def test_shares_with_step_ends(name):
    """With step ends every share is within 6 points of the truth."""
    found = errors(name)
    assert found is not None
    assert np.abs(found).max() < 6


def test_mean_error_with_step_ends():
    """Over the five recordings the shares are within 3 points on average."""
    assert np.mean([np.abs(errors(name)) for name in RECORDINGS]) < 3


@pytest.mark.parametrize("name", RECORDINGS)
def test_true_shares_lie_in_their_intervals(name):
    """The interval of each share holds the truth."""
    rows = {row["name"]: row for row in answer_of(name)["phases"]}
    for phase, true in zip(("generation", "training", "waiting"), truth(name)[0], strict=True):
        assert rows[phase]["share_low"] - 0.01 <= true <= rows[phase]["share_high"] + 0.01, phase


@pytest.mark.parametrize("name", RECORDINGS)
def test_telemetry_alone_names_with_a_stated_assumption_or_not_at_all(name):
    """Without step ends a name is never confident, and where one is given the shares are within 5 points."""
    answer = answer_of(name, ends=False)
    found = errors(name, ends=False)
    if found is None:
        assert any("generation against training" in c for c in answer["cannot_tell"])
    else:
        assert np.abs(found).max() < 5
        assert any("assumed" in c for c in answer["cannot_tell"])
        assert {row["confidence"] for row in answer["phases"] if row["name"] != "waiting"} == {"low"}


def test_rows_a_second_apart_with_step_ends():
    """Thinned to one row a second the shares are within 6 points on average, wherever the thinning starts."""
    found = [errors(name, every=10, start=start) for name in RECORDINGS for start in (0, 5)]
    assert all(f is not None for f in found)
    assert np.mean(np.abs(found)) < 6


@pytest.mark.parametrize("name", RECORDINGS)
def test_step_period(name):
    """The period is within 3 percent of the true one."""
    assert answer_of(name)["step_period_s"] == pytest.approx(np.diff(step_ends(name)).mean(), rel=0.03)


@pytest.mark.parametrize("name", RECORDINGS)
def test_idle_gaps(name):
    """Every true wait of half a second and more is found, and nothing else."""
    _, spans = truth(name)
    ends = step_ends(name)
    waits = spans[spans["phase"].isin(["reward", "checkpoint", "idle"]) & (spans["end"] - spans["start"] >= 0.5)]
    waits = waits[(waits["start"] >= ends[0]) & (waits["end"] <= ends[-1])]
    idle = answer_of(name)["idle"]
    assert [overlaps(idle, a, b) for a, b in zip(waits["start"], waits["end"], strict=True)] == [True] * len(waits)
    assert len(idle) == len(waits)


@pytest.mark.parametrize("name", RECORDINGS)
def test_background_process_is_found_where_it_is(name):
    """Another process's memory is seen in its recording, to within a second, and in no other."""
    found = answer_of(name)["interference"]
    if name == "background-merge":
        assert [(e["start"], e["end"]) for e in found] == [(pytest.approx(1795219812.12, abs=1), pytest.approx(1795219823.08, abs=1))]
    else:
        assert found == []


@pytest.mark.parametrize("levels", [(300.0, 300.0), (300.0, 305.0), (450.0, 450.0)])
@pytest.mark.parametrize("row", [0.1, 1.0])
@pytest.mark.parametrize("ends", [True, False])
def test_equal_levels_cannot_be_told_apart(levels, row, ends):
    """Where generation and training draw the same the profile gives no names and says so."""
    run = simulated(levels, row=row)
    answer = profile(run if ends else replace(run, curves={}))
    assert shares(answer) is None
    assert any("generation against training" in c for c in answer["cannot_tell"])
    assert sum(row["share"] for row in answer["phases"]) == pytest.approx(1)


@pytest.mark.parametrize("row", [0.1, 1.0])
def test_reversed_levels_with_step_ends(row):
    """Training that draws less than generation is still found at the end of the step."""
    found = shares(profile(simulated((500.0, 300.0), activity=(0.5, 0.3), row=row)))
    assert found is not None
    assert found == pytest.approx([0.55, 0.25, 0.2], abs=0.06)


def test_reversed_levels_without_step_ends_stay_an_assumption():
    """Without step ends a reversed loop is named wrongly, so the name is an assumption with low confidence, or absent."""
    answer = profile(replace(simulated((500.0, 300.0)), curves={}))
    assert all(row["confidence"] == "low" for row in answer["phases"] if row["name"] in {"generation", "training"})
    assert any("assumed" in c or "generation against training" in c for c in answer["cannot_tell"])


@pytest.mark.parametrize("hours", [-8, 5.5, 1])
def test_times_of_another_zone(hours):
    """Local times are moved onto the run's clock, which is said, and nothing else changes."""
    run = recorded("slow-reward")
    away = replace(run, telemetry=run.telemetry.assign(time=run.telemetry["time"] + hours * 3600))
    answer = profile(away)
    assert shares(answer) == pytest.approx(shares(profile(run)), abs=0.01)
    assert any(f"{-hours:+g} h were added" in gap["why"] for gap in answer["gaps"])


def test_logged_timings_are_the_answer():
    """The trainer's timers give the shares exactly; telemetry adds power."""
    run = recorded("slow-reward")
    step = np.arange(1.0, 10.0)
    timers = {"gen": 1.0, "reward": 4.0, "update_actor": 0.25, "old_log_prob": 0.05, "step": 5.3}
    curves = {f"time/phase/{n}": Curve(f"time/phase/{n}", n, "log", step, np.full(9, s)) for n, s in timers.items()}
    answer = profile(replace(run, curves={**run.curves, **curves}))
    rows = {row["name"]: row for row in answer["phases"]}
    assert rows["training"]["share"] == pytest.approx(0.3 / 5.3)
    assert rows["waiting"]["share"] == pytest.approx(4 / 5.3)
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    assert rows["waiting"]["power_w"] == pytest.approx(122, rel=0.1)


def test_the_answer_has_the_keys_of_the_contract():
    """Keys are those promised, with telemetry and without, and energy is power times seconds."""
    for answer in (answer_of("balanced"), profile(Run())):
        assert answer.keys() == KEYS
        for row in answer["phases"]:
            assert row.keys() == ROW_KEYS
    rows = answer_of("balanced")["phases"]
    assert rows[0]["energy_j_per_step"] == pytest.approx(rows[0]["power_w"] * rows[0]["seconds_per_step"])


def test_groups_are_not_averaged():
    """GPUs that work while others idle are another group, and the profile says that it speaks of one."""
    run = recorded("slow-reward")
    other = run.telemetry.assign(gpu="1", power_w=500 - run.telemetry["power_w"])
    both = replace(run, telemetry=pd.concat([run.telemetry.assign(gpu="0"), other], ignore_index=True))
    answer = profile(both)
    assert answer["gpus"] == 2
    assert any("2 groups of GPUs" in c for c in answer["cannot_tell"])


def test_gpus_in_step_give_one_answer():
    """Eight copies of a GPU with their own offsets of power profile like one."""
    run = recorded("checkpoint-heavy")
    copies = [run.telemetry.assign(gpu=str(i), power_w=run.telemetry["power_w"] * (1 + i / 100)) for i in range(8)]
    answer = profile(replace(run, telemetry=pd.concat(copies, ignore_index=True)))
    assert answer["gpus"] == 8
    assert shares(answer) == pytest.approx(truth("checkpoint-heavy")[0], abs=0.06)


def test_a_hole_in_the_rows():
    """Steps without rows are left out, the rest keeps its shares, and the hole is named."""
    run = recorded("checkpoint-heavy")
    ends = step_ends("checkpoint-heavy")
    time = run.telemetry["time"]
    answer = profile(replace(run, telemetry=run.telemetry[(time < ends[6]) | (time > ends[9])]))
    assert any("1 stretches without rows" in gap["why"] for gap in answer["gaps"])
    assert shares(answer) == pytest.approx(truth("checkpoint-heavy")[0], abs=0.08)


def test_every_tenth_step_logged():
    """Where only every tenth step has a time the period is right and no step ends are made up."""
    run = simulated((300.0, 500.0))
    ends = run.clock()[1][::10]
    number = np.arange(1.0, 31.0 + 1, 10)
    sparse = {"clock": Curve("clock", "step", "log", number, number, time=ends)}
    answer = profile(replace(run, curves=sparse))
    assert answer["step_period_s"] == pytest.approx(np.diff(ends).mean() / 10, rel=0.03)
    assert all(row["confidence"] != "high" for row in answer["phases"])


def test_too_few_rows_are_an_answer():
    """One row of telemetry is no error."""
    run = recorded("balanced")
    answer = profile(replace(run, telemetry=run.telemetry.iloc[:1]))
    assert answer["phases"] == []
    assert answer["cannot_tell"]


def test_rows_further_apart_than_steps():
    """Rows every five seconds over steps of two give no phase at all."""
    answer = profile(recorded("balanced", every=50))
    assert [row["name"] for row in answer["phases"]] in (["waiting", "other"], ["other"])
    assert answer["phases"][-1]["share"] == pytest.approx(1)
    assert any("further apart than steps" in c for c in answer["cannot_tell"])


def test_clock_helper_matches_run_clock():
    """The tests' own clock is what a run reads as its clock."""
    ends = step_ends("balanced")
    assert Run(curves=clock(ends)).clock()[1] == pytest.approx(ends)


ODD = {
    "no power": lambda t: t.drop(columns="power_w"),
    "no utilisation": lambda t: t.drop(columns="utilization"),
    "no counters": lambda t: t[["time", "gpu"]],
    "power never read": lambda t: t.assign(power_w=np.nan),
    "always idle": lambda t: t.assign(power_w=100.0, utilization=0.0, memory_activity=0.0),
    "one moment": lambda t: t.assign(time=t["time"].iloc[0]),
    "two rows": lambda t: t.iloc[:2],
    "backwards": lambda t: t.iloc[::-1].reset_index(drop=True),
    "twice": lambda t: pd.concat([t, t], ignore_index=True),
    "days apart": lambda t: t.assign(time=np.where(np.arange(len(t)) > 300, t["time"] + 1e6, t["time"])),
    "another year": lambda t: t.assign(time=t["time"] + 1e7),
    "rows every 20 s": lambda t: t.iloc[::200],
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("ends", [True, False])
def test_odd_telemetry_gives_an_answer(odd, ends):
    """Whatever is missing or out of order, the answer keeps its form, its shares sum to one, and what cannot be told is said."""
    run = recorded("checkpoint-heavy", ends=ends)
    answer = profile(replace(run, telemetry=ODD[odd](run.telemetry)))
    assert answer.keys() == KEYS
    assert answer["cannot_tell"]
    assert not answer["phases"] or sum(row["share"] for row in answer["phases"]) == pytest.approx(1)


def test_rows_left_out_are_said():
    """Rows days away from the others are left out, and the reader is told how many."""
    run = recorded("checkpoint-heavy")
    answer = profile(replace(run, telemetry=ODD["days apart"](run.telemetry)))
    assert any("rows that repeat a time" in gap["why"] for gap in answer["gaps"])


def test_memory_between_phases():
    """What each phase holds is told apart, so that a generation that is nearly full is seen beside a training that is not."""
    run = simulated((300.0, 500.0))
    ends, at = next(iter(run.curves.values())).time, run.telemetry["time"].to_numpy()
    step = np.searchsorted(ends, at).clip(1, ends.size - 1)
    share = (at - ends[step - 1]) / (ends[step] - ends[step - 1])
    full = run.telemetry.assign(memory_gib=np.where(share < 0.65, 70.0, 20.0))
    rows = {row["name"]: row["memory_gib"] for row in profile(replace(run, telemetry=full))["phases"]}
    assert rows["generation"] > rows["training"] + 20
