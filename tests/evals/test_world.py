"""The table of strangers' runs: numbers only, and a run built up from it is the run that went in."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from evals.world import build, built_on, gather, slim, table
from rl_advisor.finding import VERDICTS
from rl_advisor.run import Curve, Event, Guess, Run


@pytest.mark.parametrize("n", [1, 200, 201, 5000])
def test_a_long_curve_keeps_its_course_and_its_holes(n: int) -> None:
    """At most 200 points, the mean kept; a stretch without a number keeps what stood there, a single hole goes."""
    value = np.linspace(0, 1, n)
    value[: n // 10] = np.nan
    value[-1] = np.inf
    step, kept = slim.thinned(np.arange(n, dtype=float), value)
    assert step.size == kept.size == min(n, slim.POINTS)
    assert np.isnan(kept).mean() == pytest.approx(n // 10 / n, abs=0.01)
    assert np.isinf(kept).any() == (n <= slim.POINTS + 1)
    if n > 1:
        assert np.mean(kept[np.isfinite(kept)]) == pytest.approx(np.mean(value[np.isfinite(value)]), rel=1e-3, abs=1e-3)


def test_a_run_is_built_up_again_as_far_as_it_was_kept() -> None:
    """Known curves, plan, kind, method, guess and events stay; unknown curves and all text go."""
    grid = np.arange(10.0)
    known = Curve("reward/mean", "rew", "/home/me/x.csv", grid, grid, mapped=True, trailing=100)
    unknown = Curve("mine", "episode return of mine", "x.csv", grid, grid)
    run = Run(
        name="/home/me",
        curves={c.name: c for c in (known, unknown)},
        frameworks=("sb3",),
        settings={"algorithm": "PPO", "learning_rate": 0.1, "model": "/home/me/model"},
        planned_steps=20,
        step_unit="episodes",
        outcome_guess=Guess("reward/mean", "rew"),
        events=(Event("error", "/home/me failed", "x.log", 4.0),),
    )
    told, rows = slim.facts(run), list(slim.curves(run))
    assert "/home/me" not in repr((told, rows))
    again = slim.rebuilt("a/b/c", told, rows)
    assert list(again.curves) == ["reward/mean"]
    assert again.curves["reward/mean"].trailing == 100
    assert (again.curves["reward/mean"].value == grid).all()
    assert (again.planned_steps, again.step_unit, again.outcome_guess) == (20, "episodes", run.outcome_guess)
    assert slim.facts(again) == told | {"settings": '{"learning_rate": 0.1}'}


@pytest.mark.parametrize(
    ("first", "second", "verdicts", "admitted", "ends"),
    [
        ({"verdict": "improving", "admissible": ["plateaued"], "end_call": "stop"}, {"verdict": "unstable", "call": "continue"}, 2, 3, 2),
        ({"verdict": "improving", "admissible": [], "end_call": "stop"}, {}, 1, 1, 1),
        ({"verdict": "no word of ours", "end_call": "stop"}, {"verdict": "improving", "call": "perhaps"}, 1, 1, 0),
    ],
)
def test_what_readers_said_is_kept_a_reader_apart(first, second, verdicts, admitted, ends) -> None:
    """Two verdicts, the union of what is defended, every call."""
    told = build.said([first, second])
    assert [len(told[k]) for k in ("verdicts", "admissible", "end_calls")] == [verdicts, admitted, ends]


def test_the_table_holds_numbers_of_public_repositories_and_nothing_else() -> None:
    """Owner and name for every run, verdicts of ours, bounded curves, no paths of a machine."""
    worlds = table.worlds()
    assert len({w.told["id"] for w in worlds}) == len(worlds) >= 511
    for world in worlds:
        assert f"{world.told['id']}/".startswith(f"{world.repository}/")
        assert world.repository.count("/") == 1
        assert set(world.told["verdicts"]) <= set(world.told["admissible"]) <= set(VERDICTS)
        assert all(len(row["step"]) == len(row["value"]) <= slim.POINTS for row in world.curves)
    assert sum(file.stat().st_size for file in (table.RUNS, table.CURVES)) < 40e6


def test_logs_are_taken_out_of_a_copy_of_a_repository_and_nothing_else(tmp_path: Path) -> None:
    """The largest of several states, trainers. and people.s logs, licence and commit; no copy, no other file, nothing too short."""
    work = tmp_path / "me+mine" / "repo"
    files = {
        **{f"out/checkpoint-{n}/trainer_state.json": "{}" * n * 9 for n in (20, 100)},
        "logs/progress.csv": "a" * gather.SMALLEST,
        "logs/copy/progress.csv": "b" * (gather.SMALLEST - 1),
        "mine/train_grpo.log": "c" * gather.SMALLEST,
        "theirs/train_grpo.log": "c" * gather.SMALLEST,
        "logs/code.py": "import verl\nfrom trl import GRPOTrainer\nimport trl",
        "spoken/mine.txt": "step 1 critic/score/mean:0.5\n" * (gather.SMALLEST // 8),
        "spoken/data/mine.txt": "step 2 critic/score/mean:0.5\n" * (gather.SMALLEST // 8),
        "LICENSE": "MIT License",
    }
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    me = ("-c", "user.name=me", "-c", "user.email=me@here")
    for asked in (("init", "-q"), ("add", "."), (*me, "commit", "-qm", "all")):
        subprocess.run(["git", "-C", str(work), *asked], check=True)
    gather.main(tmp_path, "crawl", [work])
    rows = [json.loads(line) for line in (tmp_path / "sources.jsonl").read_text().splitlines()]
    assert sorted(row["path"] for row in rows) == [
        *("crawl/me__mine/logs", "crawl/me__mine/mine/train_grpo.log", "crawl/me__mine/out", "crawl/me__mine/spoken/mine.txt")
    ]
    assert {row["built_on"] for row in rows} == {"trl"}
    assert {row["licence"] for row in rows} == {"MIT"}
    taken = sorted(str(f.relative_to(tmp_path / "crawl")) for f in (tmp_path / "crawl").rglob("*") if f.is_file())
    assert taken == [
        f"me__mine/{name}"
        for name in (*("logs/progress.csv", "mine/train_grpo.log", "out/checkpoint-100/trainer_state.json"), "spoken/mine.txt")
    ]
    assert build.source(rows[0])["id"].startswith("me/mine/")


def test_a_run_inside_of_a_known_one_is_that_run() -> None:
    known = {"me/mine/runs/a", "me/mine/logs/train.jsonl", "me/other"}
    assert build.stands("me/mine/runs/a/tb", known)
    assert build.stands("me/mine/logs", known)
    assert not build.stands("me/mine/runs/ab", known)
    assert not build.stands("me/other/runs/a", known)  # the whole repository is no folder of a run


def test_a_copy_says_what_a_run_from_before_was_built_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "me+mine" / "repo"
    work.mkdir(parents=True)
    (work / "train.py").write_text("from model.model_minimind import MiniMindForCausalLM\nimport torch\n")
    me = ("-c", "user.name=me", "-c", "user.email=me@here")
    for asked in (("init", "-q"), ("add", "."), (*me, "commit", "-qm", "all")):
        subprocess.run(["git", "-C", str(work), *asked], check=True)
    told = {"kind": "llm", "kinds": None, "repository": "me/mine", "built_on": None}
    kept: list[object] = []
    runs = [table.World(told | {"id": "me/mine/a"}, [{"id": "me/mine/a"}]), table.World(told | {"id": "b", "built_on": "trl"}, [])]
    monkeypatch.setattr(built_on, "worlds", lambda: runs)
    monkeypatch.setattr(built_on, "store", lambda rows, curves: kept.extend([rows, curves]) or "")
    built_on.main([work])
    assert kept == [[told | {"id": "me/mine/a", "built_on": "minimind"}], [{"id": "me/mine/a"}]]
