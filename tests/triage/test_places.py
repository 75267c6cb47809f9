"""Where the runs of a tree lie, told from names: tables of trees with what must come out, and the keys that follow their content."""

import os
from pathlib import Path

import pytest
from rl_advisor.answers.run_folders import holds_metrics
from rl_advisor.answers.run_places import FLAT, likely, runs_of, tree
from rl_advisor.reading.remote.listing import File
from rl_advisor.tools.triage.looking import look

TREES = {
    "one run": (["progress.csv"], [""]),
    "two seeds": (["s0/progress.csv", "s1/progress.csv"], ["s0", "s1"]),
    "parts of one run": (["logs/progress.csv", "eval/evaluations.npz", "config.json"], [""]),
    "a log and its parts": (["train.log", "tensorboard/events.out.tfevents.1", "rank_0/out.log", "rank_1/out.log"], [""]),
    "a summary beside runs": (["summary.jsonl", "a/metrics.jsonl", "b/metrics.jsonl"], ["a", "b"]),
    "a note beside one folder": (["train.log", "results_b/evaluations.npz"], [""]),
    "dumps of rollouts": (["console.log", "rollout_data/1.jsonl", "validation_data/1.jsonl", "mine/mine.jsonl"], [""]),
    "folders of iterations": (["metrics.jsonl", "iteration_000010/train_rollouts.jsonl", "iteration_000020/train_rollouts.jsonl"], [""]),
    "checkpoints": (["a/checkpoint-50/trainer_state.json", "a/checkpoint-50/model.safetensors", "a/trainer_state.json"], ["a"]),
    "runs in a folder named logs": (["logs/a/progress.csv", "logs/b/progress.csv"], ["logs/a", "logs/b"]),
    "tracker inside a run": (["a/train.log", "a/wandb/run-1/run-1.wandb", "b/train.log", "b/wandb/run-2/run-2.wandb"], ["a", "b"]),
    "MLflow's store of files": (
        ["0/meta.yaml", "0/r1/meta.yaml", "0/r1/metrics/reward", "0/r2/meta.yaml", "0/r2/metrics/reward"],
        ["0/r1", "0/r2"],
    ),
    "event files alone": (["a/events.out.tfevents.1.host", "a/events.out.tfevents.2.host"], ["a"]),
    "many logs side by side": ([f"sweep_{i:03}.csv" for i in range(FLAT)], [f"sweep_{i:03}.csv" for i in range(FLAT)]),
    "many monitors of one run": ([f"{i}.monitor.csv" for i in range(FLAT)], [""]),
    "a project's pages beside a run": (["README.md", "play.ipynb", "out/a/metrics.jsonl"], ["out/a"]),
    "printed lines beside parts of it": (["out.txt", "tensorboard/events.out.tfevents.1", "eval/a/evaluations.npz"], [""]),
    "a notebook alone": (["play.ipynb", "src/train.py"], [""]),
    "nothing that is a log": (["weights.bin", "src/train.py"], []),
}


@pytest.mark.parametrize("name", TREES)
def test_runs_are_told_from_names(name: str) -> None:
    """No file is opened where names tell."""
    files, runs = TREES[name]
    assert runs == [run.path for run in runs_of(tree(File(f, 10, 0.0) for f in files), lambda _: True)]


def test_a_listing_of_the_disk_is_that_of_a_store(tmp_path: Path) -> None:
    """The same names in a bucket are the same runs."""
    for name, (files, _) in TREES.items():
        for file in files:
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("step,reward\n1,2\n")
        found = {p.run for p in look([str(tmp_path / name)])}
        assert found == {run or name for run in TREES[name][1]} or name == "nothing that is a log", name


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link to a run elsewhere is no run here."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "progress.csv").write_text("step,reward\n1,2\n")
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "progress.csv").write_text("step,reward\n1,2\n")
    (tmp_path / "root" / "b").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "a" / "train.log").symlink_to(tmp_path / "outside" / "progress.csv")
    assert [p.run for p in look([str(tmp_path / "root")])] == ["a"]


def test_a_key_follows_the_content(tmp_path: Path) -> None:
    """The same however often it is made; another once a file grew, or was rewritten with its size and time kept; weights count by name."""
    file = tmp_path / "a" / "progress.csv"
    file.parent.mkdir()
    file.write_text("step,reward\n1,2\n")

    def key() -> str:
        return look([str(tmp_path)])[0].key

    first, moment = key(), file.stat().st_mtime_ns
    assert first == key()
    file.write_text("step,reward\n1,3\n")
    os.utime(file, ns=(moment, moment))
    rewritten = key()
    file.write_text("step,reward\n1,2\n2,2\n")
    grown = key()
    (tmp_path / "a" / "checkpoint-50").mkdir()
    assert len({first, rewritten, grown, key()}) == 4


def test_names_say_which_root(tmp_path: Path) -> None:
    """Below one root a run goes by its path in it, below several with the root."""
    for root in ("x", "y"):
        (tmp_path / root / "a").mkdir(parents=True)
        (tmp_path / root / "a" / "progress.csv").write_text("step,reward\n1,2\n")
    assert [p.run for p in look([str(tmp_path / "x")])] == ["a"]
    both = look([str(tmp_path / "x"), f"{tmp_path / 'y'}/", str(tmp_path / "x")])
    assert [f"{tmp_path}/x/a", f"{tmp_path}/y/a"] == [p.run for p in both]
    assert both[0].where == f"{tmp_path}/x/a"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('{"name": "web", "version": "1.0.0", "files": ["a", "b"], "dependencies": {"a": "1"}}', False),
        ('{"learning_rate": 1e-6, "num_generations": 8, "betas": [0.9]}', False),
        ('[{"step": 1, "reward": 0.1}, {"step": 2, "reward": 0.2}]', True),
        ('{"rewards": [0.1, 2e-3, 0.5]}', True),
        ('{"1": 0.1, "2": 0.2}', True),
    ],
)
def test_a_json_of_a_project_is_a_log_where_it_holds_rows_or_lists_of_numbers(tmp_path: Path, text: str, holds: bool) -> None:
    (tmp_path / "some.json").write_text(text)
    assert holds_metrics(tmp_path / "some.json") is holds


@pytest.mark.parametrize(("name", "taken"), [("history.json", True), ("metrics.csv", True), ("config.json", False), ("notes.md", False)])
def test_of_a_store_what_a_name_says_is_a_log_is_a_run(name: str, taken: bool) -> None:
    """A store opens nothing to find runs; a log that only JSON could be is not passed over."""
    found = runs_of(tree([File(f"{run}/{name}", 9, 0.0, "") for run in "ab"]), likely)
    assert [run.path for run in found] == (["a", "b"] if taken else [])
