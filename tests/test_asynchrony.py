"""Runs in step against asynchronous ones, and looks at a held-out set: what is told, and where there is nothing to tell."""

import json
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.answers.compare import compare
from rl_advisor.curves.course import course
from rl_advisor.curves.looks import looks
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run

NAMES = {
    "areal": (
        "ppo_actor/task_reward/avg",
        "ppo_actor/update/clip_ratio/avg",
        "timeperf/train_step",
        "rollout.max_head_offpolicyness",
        0,
        4,
    ),
    "verl": ("critic/score/mean", "actor/pg_clipfrac", "timing_s/step", "async_training.staleness_threshold", None, 0.5),
    "openrlhf": ("reward", "ppo_clip_ratio", "timing/step_total", "async_train", False, True),
    "skyrl": ("reward/avg_raw_reward", "policy/loss_metrics/clip_ratio", "timing/step", "trainer.fully_async.max_staleness_steps", 0, 4),
}


def made(folder: Path, framework: str, late: bool, top: float, seconds: float, steps: int = 80) -> Run:
    """A run that rises to ``top``; what lets its samples be old is written among its settings."""
    chance, (reward, clip, time, key, off, on) = np.random.default_rng(int(late)), NAMES[framework]
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "step": i,
                    reward: 0.2 + (top - 0.2) * (1 - np.exp(-i / 18)) + chance.normal(0, 0.012),
                    clip: (0.08 if late else 0.01) + abs(chance.normal(0, 0.002)),
                    time: seconds * np.exp(0.03 * chance.normal()),
                }
            )
            + "\n"
            for i in range(1, steps + 1)
        )
    )
    given = on if late else off
    (folder / "config.json").write_text(json.dumps({"dataset_name": "gsm8k", "seed": 1} | ({} if given is None else {key: given})))
    return read_run(folder)


@pytest.mark.parametrize("framework", NAMES)
@pytest.mark.parametrize(
    ("top", "seconds", "samples", "time", "says"),
    [
        (0.7, 30, "level", "above", "asynchrony pays"),
        (0.64, 10, "below", "above", "brings more than it costs"),
        (0.64, 26, "below", "level", "what asynchrony gains in speed"),
        (0.4, 50, "below", "below", "does not pay"),
        (0.7, 60, "level", "level", "No difference"),
    ],
)
def test_what_asynchrony_costs_and_brings(tmp_path, framework, top, seconds, samples, time, says) -> None:
    """At equal samples and at equal time, in the words of four frameworks."""
    found = compare([made(tmp_path / "late", framework, True, top, seconds), made(tmp_path / "fresh", framework, False, 0.7, 60)])[
        "asynchrony"
    ]
    assert (found["synchronous"], found["asynchronous"]) == (["fresh"], ["late"])
    assert found["untold"] == (["fresh"] if framework == "verl" else [])
    assert (found["equal_samples"]["way"], found["equal_time"]["way"]) == (samples, time) and says in found["said"][-1]
    assert found["speed"] == pytest.approx(60 / seconds, rel=0.05)
    assert found["off_policy"]["ratio/clip_fraction"] == pytest.approx((0.01, 0.08), abs=0.01)


@pytest.mark.parametrize(
    ("config", "ages", "asynchronous"),
    [
        ({"grpo.async_grpo.enabled": False, "grpo.async_grpo.max_trajectory_age_steps": 1}, [], "b"),
        ({"async_config": None, "seed": 2}, [2.0, 2.5], "ab"),
        ({"seed": 2}, [0.0, 0.2], "b"),
        ({}, [], ""),
    ],
)
def test_which_is_which(config, ages, asynchronous) -> None:
    """A switch that is off outweighs a depth beside it; then how old samples were; without settings nothing is taken for granted."""
    step = np.arange(40.0)

    def run(name: str, config: dict, ages: list[float]) -> Run:
        age = np.resize(ages or [0.0], 40)
        told = {"rollout/staleness": Curve("rollout/staleness", "s", "f", step, age, mapped=True)} if ages else {}
        reward = Curve("reward/mean", "r", "f", step, np.sin(step / 9), mapped=True)
        return Run(name=name, curves={"reward/mean": reward, **told}, config=config)

    b = run("b", {"max_head_offpolicyness": 4}, [])
    found = compare([run("a", config, ages), b])["asynchrony"]
    assert found.get("asynchronous", []) == (["b"] if asynchronous == "b" else [])


@pytest.mark.parametrize(("first", "second"), [(True, True), (False, False)])
def test_two_of_a_kind_are_not_parted(tmp_path, first, second) -> None:
    """Two runs in step, or two asynchronous ones, say nothing of asynchrony."""
    assert not compare([made(tmp_path / "a", "areal", first, 0.7, 30), made(tmp_path / "b", "areal", second, 0.6, 60)])["asynchrony"]


def curve(levels: np.ndarray, seed: int) -> Curve:
    value = levels + 0.02 * np.random.default_rng(seed).standard_normal(levels.size)
    return Curve("eval/score/x", "x", "f", 10.0 * np.arange(levels.size), value, mapped=True)


@pytest.mark.parametrize(
    ("count", "climb", "low", "high"),
    [(5, 0.0, 0.015, 0.035), (20, 0.0, 0.03, 0.045), (60, 0.0, 0.04, 0.055), (20, 0.3, 0.005, 0.025), (5, 0.4, 0.0, 0.012)],
)
def test_the_best_of_many_looks_is_flattered(count: int, climb: float, low: float, high: float) -> None:
    """Over forty draws as much as the best point's own luck; more with more looks, less where the policy climbs."""
    told, luck = [], []
    for seed in range(40):
        levels = 0.4 + climb * np.linspace(0, 1, count)
        one = curve(levels, seed)
        seen, flattered = looks([course(one)])
        told.append(flattered)
        luck.append(float((one.value - levels)[one.value.argmax()]))
        assert seen == count
    assert low < np.mean(told) < high
    assert np.mean(told) == pytest.approx(np.mean(luck), abs=0.004)


def test_few_looks_need_the_size_of_the_set() -> None:
    """Three looks say nothing of their error; three at a set of 400 questions do; a return is no share of questions."""
    three = course(curve(np.full(3, 0.4), 1))
    assert looks([three]) == (3, None)
    assert looks([three], 400)[1] == pytest.approx(0.85 * (0.24 / 400) ** 0.5, rel=0.4)
    assert looks([course(Curve("eval/score/x", "x", "f", np.arange(3.0), np.array([50.0, 60, 55]), mapped=True))], 400)[1] is None


def test_runs_that_share_a_set_count_their_looks_together() -> None:
    """Eight looks of each of three runs are 24, and their best is flattered more than one run's."""
    runs = [
        Run(name=n, curves={"eval/score/x": curve(np.full(8, 0.5), k)}, config={"lr": k}, frameworks=("trl",)) for k, n in enumerate("abc")
    ]
    found = compare(runs)
    assert (found["looks"]["looks"], found["looks"]["of"]) == (24, 3)
    assert any("looked at 24 times over these 3 runs" in note for note in found["notes"])
    assert found["looks"]["flattered"] > looks([course(runs[0].curves["eval/score/x"])])[1]
