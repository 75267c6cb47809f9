"""Folders that hold many runs: each stands alone, whatever lies beside it, and nothing of one is read as another's."""

import json
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import read_run


def evaluations(path, steps, level):
    path.parent.mkdir(parents=True, exist_ok=True)
    results = np.random.default_rng(int(level)).normal(level, 5, (len(steps), 5))
    np.savez(path, timesteps=np.array(steps), results=results, ep_lengths=np.full((len(steps), 5), 50))


def monitor(path, lengths, reward):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{reward},{length},{i}.5\n" for i, length in enumerate(lengths))
    path.write_text('#{"t_start": 1600000000.0}\nr,l,t\n' + rows)


def rows(path, names, count=20, first=1, every=1, level=0.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ""
    for i in range(count):
        text += json.dumps({"step": first + i * every} | {n: level + 0.01 * i * (k + 1) for k, n in enumerate(names)}) + "\n"
    path.write_text(text)


SB3 = ("rollout/ep_rew_mean", "train/explained_variance", "train/n_updates", "train/clip_range")
VERL = ("critic/score/mean", "actor/ppo_kl", "actor/pg_loss", "response_length/mean")


def test_runs_of_other_lengths_do_not_continue_each_other(tmp_path):
    """One run's evaluations end before another's begin: without times that is a restart only at the same pace and right behind."""
    evaluations(tmp_path / "short" / "evaluations.npz", [10_000, 20_000], 10)
    evaluations(tmp_path / "long" / "evaluations.npz", range(100_000, 1_100_000, 100_000), 500)
    run = read_run(tmp_path)
    assert (run.place, run.others) == ("long", ("short",))
    assert run.curves["eval/score/mean_reward"].step.size == 10


def test_a_run_that_goes_on_at_its_pace_is_one(tmp_path):
    """Evaluations every 10,000 steps to 50,000 here, from 60,000 there."""
    evaluations(tmp_path / "part0" / "evaluations.npz", range(10_000, 60_000, 10_000), 10)
    evaluations(tmp_path / "part1" / "evaluations.npz", range(60_000, 110_000, 10_000), 20)
    run = read_run(tmp_path)
    assert run.others == ()
    assert run.curves["eval/score/mean_reward"].step.size == 10


def test_a_neighbours_episodes_stay_with_the_neighbour(tmp_path):
    """Two runs, one with evaluations alone, one with episodes as well: the files of a folder stay together."""
    evaluations(tmp_path / "pick" / "evaluations.npz", range(1_000, 21_000, 1_000), 10)
    evaluations(tmp_path / "push" / "evaluations.npz", range(1_000, 21_000, 1_000), 50)
    monitor(tmp_path / "push" / "0.monitor.csv", [50] * 400, -1.0)
    run = read_run(tmp_path)
    assert (run.place, run.others) == ("push", ("pick",))
    assert set(run.files) == {"push/evaluations.npz", "push/0.monitor.csv"}
    assert run.curves["eval/score/mean_reward"].value.mean() == pytest.approx(50, abs=5)


def test_the_steps_of_a_neighbour_say_nothing_of_the_environments(tmp_path):
    """A longer run beside: the episodes of this one are not taken for one of several environments."""
    evaluations(tmp_path / "a" / "evaluations.npz", range(1_000, 11_000, 1_000), 10)
    monitor(tmp_path / "a" / "0.monitor.csv", [50] * 200, -1.0)
    evaluations(tmp_path / "b" / "evaluations.npz", range(1_000, 31_000, 1_000), 50)
    run = read_run(tmp_path)
    assert run.place == "a"
    assert run.curves["episode/length"].step[-1] == 10_000
    assert not any("environment" in gap.why for gap in run.gaps)


def test_two_frameworks_in_one_tree_are_two_runs(tmp_path):
    """No name in common, so no number can differ: the frameworks' own names tell."""
    rows(tmp_path / "robot" / "progress.json", SB3, every=1_000)
    rows(tmp_path / "words" / "metrics.jsonl", VERL)
    run = read_run(tmp_path)
    assert run.frameworks in (("verl",), ("sb3",))
    assert len(run.others) == 1


def test_two_files_of_one_run_in_two_folders_are_one(tmp_path):
    """The same framework's evaluation and training metrics lie apart, with no name in common: that is how many lay them out."""
    rows(tmp_path / "logs" / "progress.json", SB3, every=1_000)
    evaluations(tmp_path / "eval" / "evaluations.npz", range(5_000, 21_000, 5_000), 100)
    run = read_run(tmp_path)
    assert run.others == ()
    assert {"reward/mean", "eval/score/mean_reward"} <= set(run.curves)


def test_supervised_training_beside_is_another_run(tmp_path):
    """The console of the fine-tuning before lies beside the one of the training: its loss is not the policy's."""
    (tmp_path / "ppo.log").write_text("".join(f"step:{i} - critic/score/mean:0.{i} - actor/pg_loss:0.1{i}\n" for i in range(1, 9)))
    (tmp_path / "sft.log").write_text("".join(f"step:{i} - train/loss:1.{i} - train/lr(1e-3):0.1\n" for i in range(1, 9)))
    run = read_run(tmp_path)
    assert run.files == ("ppo.log",)
    assert run.others == ("sft.log",)


def test_checkpoints_and_crashes_of_others_are_not_taken(tmp_path):
    """Several runs: a checkpoint in another's folder and a traceback of nobody belong to none of them."""
    for name, level in (("a", 0.0), ("b", 5.0)):
        rows(tmp_path / name / "metrics.jsonl", VERL, count=20 + int(level), level=level)
        (tmp_path / name / f"global_step_{10 + int(level)}").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "crash.log").write_text("Traceback (most recent call last):\n  File x\nValueError: of nobody\n")
    run = read_run(tmp_path)
    assert run.place == "b"
    assert [c.path for c in run.checkpoints] == ["b/global_step_15"]
    assert not run.events
    assert [g.why for g in run.gaps if g.where == "old/crash.log"] == [
        "lies beside several runs, and nothing says of which it is; left out"
    ]


def test_every_run_of_a_tree_of_trees_is_named(tmp_path):
    """Three algorithms with three seeds each: nine runs, each by its own folder."""
    for a, algorithm in enumerate(("dqn", "ppo", "sac")):
        for seed in range(3):
            evaluations(tmp_path / algorithm / f"seed{seed}" / "evaluations.npz", range(1_000, 11_000, 1_000), 100 * a + 10 * seed)
    run = read_run(tmp_path)
    names = {f"{a}/seed{s}" for a in ("dqn", "ppo", "sac") for s in range(3)}
    assert {run.place, *run.others} == names


def test_a_tree_of_many_hundred_runs_is_not_one(tmp_path):
    """More files than are compared with each other: those that are not looked at are no part of the first run."""
    for i in range(450):
        evaluations(tmp_path / f"seed{i}" / "evaluations.npz", [1_000, 2_000, 3_000], 10 * i)
    run = read_run(tmp_path)
    assert run.files == (f"{run.place}/evaluations.npz",)
    assert len(run.others) == 449


def test_an_initial_evaluation_under_the_bare_name_is_the_first_point(tmp_path):
    """The evaluation before training: verl prints it without the prefix of the later ones."""
    later = "".join(f"step:{i} - val/test_score/gsm8k:0.{i} - actor/ppo_kl:0.0{i}\n" for i in range(1, 5))
    (tmp_path / "console.log").write_text("step:0 - test_score/gsm8k:0.05\n" + later)
    score = read_run(tmp_path).curves["eval/score/gsm8k"]
    assert list(score.step) == [0, 1, 2, 3, 4]
    assert list(score.value) == [0.05, 0.1, 0.2, 0.3, 0.4]


def test_dictionaries_in_cells_are_columns(tmp_path):
    """RLlib of 2018 wrote what its learner said into one cell, as Python prints it, with nan."""
    cells = [f"\"{{'learner': {{'grad_gnorm': {i}.5, 'vf_loss': nan, 'note': 'x'}}, 'steps': {i}}}\"" for i in range(3)]
    text = "".join(f"{cell},{i},{i}.0,\"{{'lr': 0.1}}\"\n" for i, cell in enumerate(cells))
    (tmp_path / "progress.csv").write_text("info,training_iteration,episode_reward_mean,config\n" + text)
    run = read_run(tmp_path)
    assert list(run.curves["policy/grad_norm"].value) == [0.5, 1.5, 2.5]
    assert run.curves["policy/grad_norm"].raw == "info/learner/grad_gnorm"
    assert not any("config" in name for name in run.curves)


def test_no_path_is_a_run(tmp_path):
    """The place of a run is a folder or a file that exists."""
    for seed in range(3):
        evaluations(tmp_path / f"s{seed}" / "eval" / "evaluations.npz", [1_000, 2_000, 3_000], 10 * seed)
        monitor(tmp_path / f"s{seed}" / "monitor" / "0.monitor.csv", [50] * (60 + seed), float(seed))
    run = read_run(tmp_path)
    for place in (run.place, *run.others):
        assert (tmp_path / Path(place)).exists()
    assert len(run.others) == 2
