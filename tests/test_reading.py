"""A folder becomes one run: joined, on the right axis, with a gap for all that does not fit."""

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import UnreadableRun, read_run, run_folder
from rl_advisor.tools.advisors.builtin import assess

DATA = Path(__file__).parent / "data" / "formats"


def place(folder, *names, **renamed):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(DATA / name, folder / name)
    for name, target in renamed.items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / name, folder / target)
    return folder


def jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def whys(run):
    return " | ".join(f"{gap.where}: {gap.why}" for gap in run.gaps)


def test_copies_of_one_run_merge(tmp_path):
    """Console lines and trainer state of one run agree: one curve, both sources, exact steps, and no gap."""
    run = read_run(place(tmp_path / "run", "trainer_state.json", "train.log", "training_args.json"))
    reward = run.curves["reward/mean"]
    assert run.frameworks == ("trl",)
    assert reward.source == "trainer_state.json, train.log"
    assert list(reward.step) == [*range(1, 24, 2), 25]
    assert reward.value[0] == 0.7245656251907349
    assert not run.gaps
    assert (run.name, run.planned_steps, run.settings["kl_coef"], run.step_unit) == ("run", 80, 0.02, "updates")


def test_rows_go_on_behind_the_structured_file(tmp_path):
    """What the console holds beyond the last saved state gets the next steps."""
    run = read_run(place(tmp_path, "trainer_state.json", "train.log"))
    assert run.curves["policy/loss"].step[-1] == 25
    assert run.curves["policy/loss"].source == "trainer_state.json, train.log"


@pytest.mark.parametrize(("args", "steps", "word"), [(True, [10, 20], "logging_steps = 10"), (False, [1, 2], "rows are counted")])
def test_rows_alone_take_the_logging_interval(tmp_path, args, steps, word):
    """Without any file with steps they come from logging_steps, else rows are counted; a gap says which."""
    (tmp_path / "train.log").write_text(
        "{'loss': 0.1, 'reward': 1.0, 'reward_std': 0.1}\n{'loss': 0.2, 'reward': 2.0, 'reward_std': 0.1}\n"
    )
    if args:
        (tmp_path / "training_args.json").write_text('{"logging_steps": 10}')
    run = read_run(tmp_path)
    assert list(run.curves["reward/mean"].step) == steps
    assert word in whys(run)


def test_unequal_copies_keep_the_exact_one(tmp_path):
    """A console whose numbers differ does not overwrite the file that keeps all digits, and a gap names both."""
    jsonl(tmp_path / "m.jsonl", [{"step": i, "data": {"critic/score/mean": 0.123456 * i, "actor/ppo_kl": 0.1}} for i in range(1, 6)])
    (tmp_path / "console.log").write_text("".join(f"step:{i} - critic/score/mean:{0.2 * i} - actor/ppo_kl:0.1\n" for i in range(1, 8)))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value[0] == 0.123456
    assert run.curves["reward/mean"].step[-1] == 5
    assert run.curves["kl/old"].step[-1] == 7
    assert "m.jsonl, console.log: reward/mean differ" in whys(run)


def test_printed_digits_are_no_difference(tmp_path):
    """Three printed decimals agree with all digits; the union takes the steps of both."""
    jsonl(tmp_path / "m.jsonl", [{"step": i, "data": {"critic/score/mean": 0.123456 * i, "actor/ppo_kl": 0.0001}} for i in range(1, 6)])
    (tmp_path / "console.log").write_text(
        "".join(f"step:{i} - critic/score/mean:{0.123456 * i:.3f} - actor/ppo_kl:0.000\n" for i in range(1, 8))
    )
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value[4] == 0.123456 * 5
    assert run.curves["reward/mean"].step[-1] == 7
    assert not run.gaps


def test_a_resumed_run_keeps_the_last_writer(tmp_path):
    """Steps go back from 100 to 51: the second attempt counts from there, what the first wrote beyond is gone, and both are said."""
    first = [{"step": i, "data": {"critic/score/mean": 1.0, "actor/ppo_kl": 0.0}} for i in range(1, 101)]
    again = [{"step": i, "data": {"critic/score/mean": 2.0, "actor/ppo_kl": 0.0}} for i in range(51, 71)]
    jsonl(tmp_path / "m.jsonl", first + again)
    run = read_run(tmp_path)
    reward = run.curves["reward/mean"]
    assert list(reward.step) == list(range(1, 71))
    assert list(reward.value[[49, 50]]) == [1.0, 2.0]
    assert [(e.kind, e.step) for e in run.events] == [("resume", 51.0)]
    assert "steps go back to 51" in whys(run)


@pytest.mark.parametrize(
    "row",
    ["{{'loss': 0.{0:02}, 'reward': 0.5{0:02}, 'kl': 0.01, 'step': {0}}}", "Episode {0}/60 | Reward: 1{0:02}.5 | Critic loss: 0.{0:02}"],
)
@pytest.mark.parametrize(
    ("first", "said", "last", "found"),
    [
        (range(1, 31), "Resuming training from out/checkpoint-30", range(31, 61), [31.0]),
        (range(1, 31), "[INFO] Loaded checkpoint out/last.pt at step 26", range(27, 61), [27.0]),
        (range(0), "Resuming training from out/checkpoint-30", range(31, 61), []),
        (range(1, 31), "So I am resuming from step 26 of the recipe, the checkpoint of it", range(31, 61), []),
    ],
)
def test_a_line_says_that_a_run_was_resumed(tmp_path, row, first, said, last, found):
    """It is an event at the row behind it, once even where the steps go back too; a run that begins so has no part before it."""
    (tmp_path / "train.log").write_text("\n".join([*map(row.format, first), said, *map(row.format, last)]) + "\n")
    run = read_run(tmp_path / "train.log")
    assert [(e.step, e.text) for e in run.events if e.kind == "resume"] == [(at, said) for at in found]


LEARNS = [0.9 - 0.8 / (1 + i / 5) + 0.01 * (i % 3) for i in range(80)]
IN_ROWS = {
    "log.csv": ("step,reward,entropy", "{0},{1:.3f},{2:.3f}"),
    "train.log": ("Using cuda", "Episode {0}/40 | Reward: {1:.3f} | Entropy: {2:.3f}"),
}


@pytest.mark.parametrize("name", IN_ROWS)
@pytest.mark.parametrize(
    ("said", "second", "at"),
    [
        ("", LEARNS[40:], [41.0]),  # goes on at its level, whatever the counter says
        ("", [LEARNS[39] - 0.005 * i for i in range(40)], [41.0]),  # and is lost from there on
        ("", LEARNS[:40], []),  # a run of its own, which learns the same anew
        ("Loaded checkpoint last.pt at step 40", [0.1 + 0.01 * (i % 3) for i in range(40)], [41.0]),
    ],
)
def test_a_counter_that_begins_anew_is_a_resume_where_what_moved_goes_on(tmp_path, name, said, second, at):
    """The steps are counted on, and the place is an event; a start from the beginning is another run, unless the log says otherwise."""
    if said and name == "log.csv":
        return
    head, row = IN_ROWS[name]
    rows = [row.format(i, r, 1.2 - r) for part in (LEARNS[:40], second) for i, r in enumerate(part, 1)]
    (tmp_path / name).write_text("\n".join([head, *rows[:40], *([said] if said else []), *rows[40:]]) + "\n")
    run = read_run(tmp_path / name)
    assert ([e.step for e in run.events if e.kind == "resume"], run.last_step) == (at, 80.0 if at else 40.0)


@pytest.mark.parametrize(
    ("step", "clock", "found"),
    [
        ([*range(30), *range(90, 120)], None, [("jump", 90.0)]),
        (range(60), [30.0 * i + 9_000 * (i > 39) for i in range(60)], [("pause", 40.0)]),
        (range(60), [30.0 * i + 900 * (i // 10) for i in range(60)], []),  # it evaluates every ten
        ([*range(30), *range(30, 3_000, 99)], None, []),  # logged less often from there on
        ([*range(9), 99], None, []),  # a table of evaluations
        ([i * i % 7 + 9 * i + 200 * (i > 30) for i in range(60)], None, []),  # counted in steps, written at the end of an episode
        ([step for i in range(30) for step in (i, 500 + i)], None, []),  # two writers in turns
    ],
)
def test_jumps_of_steps_and_clock_are_events(tmp_path, step, clock, found):
    """Where steps or the clock jump by far more than nearly ever; not where they do it again and again, or from there on."""
    rows = [{"step": s, "reward": 0.1 * (i % 7), **({"time": 1.7e9 + clock[i]} if clock else {})} for i, s in enumerate(step)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert [(e.kind, e.step) for e in read_run(tmp_path).events] == found


def test_a_restart_in_a_second_file_is_one_run(tmp_path):
    """A second file, later in time, starts at step 6 of 10: the last writer counts there too."""
    for part, (first, last) in enumerate(((1, 11), (6, 9))):
        rows = [
            {"step": i, "_timestamp": 1.7e9 + 100 * part + i, "critic/score/mean": part + 0.1 * i, "actor/ppo_kl": 0.1 * i}
            for i in range(first, last)
        ]
        jsonl(tmp_path / f"part{part}.jsonl", rows)
    run = read_run(tmp_path)
    assert list(run.curves["reward/mean"].step) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert run.curves["reward/mean"].value[-1] == 1.8
    assert [(e.kind, e.step) for e in run.events] == [("resume", 6.0)]


def test_two_runs_in_one_folder_are_not_mixed(tmp_path):
    """Two seeds side by side: the larger is read with everything of its folder, the other is named."""
    for seed, count in ((0, 8), (1, 12)):
        jsonl(
            tmp_path / f"seed{seed}" / "m.jsonl",
            [{"step": i, "data": {"critic/score/mean": seed + 0.1 * i, "actor/ppo_kl": 0.0}} for i in range(count)],
        )
    (tmp_path / "seed0" / "crash.log").write_text("Traceback (most recent call last):\nValueError: of the other\n")
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value[0] == 1.0
    assert run.files == ("seed1/m.jsonl",)
    assert not run.events
    assert (run.place, run.others, run.name) == ("seed1", ("seed0",), "seed1")
    assert "seed1: one of 2 runs" in whys(run)


def test_a_run_that_goes_on_in_a_second_folder_is_one(tmp_path):
    """Steps 1 to 10 here and 11 to 20 there are one run."""
    for part in (0, 1):
        jsonl(
            tmp_path / f"part{part}" / "m.jsonl",
            [{"step": 10 * part + i, "data": {"critic/score/mean": 0.1 * i, "actor/ppo_kl": 0.0}} for i in range(1, 11)],
        )
    run = read_run(tmp_path)
    assert list(run.curves["reward/mean"].step) == list(range(1, 21))
    assert not run.gaps


def test_environments_are_merged_by_time(tmp_path):
    """Two monitors of one run: episodes in the order of their ends, steps the sum of all lengths so far."""
    run = read_run(place(tmp_path, "0.monitor.csv", "1.monitor.csv"))
    reward = run.curves["reward/mean"]
    lengths = np.concatenate([np.genfromtxt(DATA / f"{i}.monitor.csv", delimiter=",", skip_header=2)[:, 1] for i in (0, 1)])
    assert run.frameworks == ("sb3",)
    assert run.step_unit == "env steps"
    assert reward.step[-1] == lengths.sum()
    assert reward.step.size == lengths.size
    assert reward.time is not None
    assert (np.diff(reward.time) >= 0).all()


@pytest.mark.parametrize(
    ("run_ends", "last_step", "said"),
    [
        (200, 200.0, ""),  # the only environment
        (215, 200.0, ""),  # the only environment, its last episode still running
        (1600, 1600.0, "one of 8 parallel environments"),
        (1660, 1600.0, "one of 8 parallel environments"),  # the last episode of each is still running
        (520, None, "where they belong is unknown"),  # 2.6 environments: the file belongs to something else
    ],
)
def test_one_of_several_environments_stands_on_the_steps_of_all(tmp_path, run_ends, last_step, said):
    """Episodes of one environment among several: its own count would put the whole run into the first part of the axis."""
    (tmp_path / "0.monitor.csv").write_text('#{"t_start": 0.0}\nr,l,t\n' + "".join(f"1.0,20,{i + 1}.5\n" for i in range(10)))
    rows = "".join(f"{run_ends * i // 10},0.{i}\n" for i in range(1, 11))
    (tmp_path / "progress.csv").write_text(f"time/total_timesteps,rollout/ep_rew_mean\n{rows}")
    run = read_run(tmp_path)
    episodes = [c for n, c in run.curves.items() if n.endswith(("monitor/l", "episode/length"))]
    assert [c.step[-1] for c in episodes] == ([last_step] if last_step else [])
    assert said in " ".join([*(c.note for c in run.curves.values()), whys(run)])


def test_signs_and_scales_of_sb3(tmp_path):
    """Entropy is minus SB3's entropy loss; the evaluation of npz and csv stay one score apart from the training reward."""
    run = read_run(place(tmp_path, "progress.csv", "progress.json"))
    assert run.curves["entropy/mean"].value[0] == pytest.approx(0.021580922021275196)
    assert run.curves["reward/mean"].value[0] == pytest.approx(19.725490196078432)
    assert run.curves["value/loss"].raw == "train/value_loss"
    assert not run.curves["train/loss"].mapped


def test_rewards_and_kls_stay_apart(tmp_path):
    """Score, reward used, held-out score, and the three KLs of verl are different curves."""
    run = read_run(place(tmp_path, "console.log", "verl_metrics.jsonl"))
    raw = {n: c.raw for n, c in run.curves.items()}
    assert raw["reward/mean"] == "critic/score/mean"
    assert raw["reward/used"] == "critic/rewards/mean"
    assert raw["eval/score/openai/gsm8k/acc/mean@8"].startswith("val-core/")
    assert raw["eval/other/openai/gsm8k/acc/std@8"].startswith("val-aux/")
    assert (raw["kl/old"], raw["kl/ref"], raw["kl/mismatch"]) == ("actor/ppo_kl", "actor/kl_loss", "rollout_corr/k3_kl")
    assert raw["response/truncated"] == "response_length/clip_ratio"
    assert [e.kind for e in run.events] == ["out_of_memory"]
    assert not run.gaps


def test_checkpoints_are_found(tmp_path):
    """Checkpoint folders and files of several frameworks, by their step; rollout folders are none."""
    place(tmp_path, "trainer_state.json")
    for name in ("checkpoint-40", "global_step_10", "epoch0epochstep3globalstep7", "notes-5"):
        (tmp_path / name).mkdir()
    (tmp_path / "rl_model_20000_steps.zip").touch()
    jsonl(tmp_path / "iteration_000003" / "rollouts.jsonl", [{"prompt": "a", "response": "b", "reward": 1.0, "step": 1}])
    found = [(c.step, c.path) for c in read_run(tmp_path).checkpoints]
    assert found == [(7, "epoch0epochstep3globalstep7"), (10, "global_step_10"), (40, "checkpoint-40"), (20000, "rl_model_20000_steps.zip")]


def test_the_latest_checkpoint_tells_the_history(tmp_path):
    """With no state at the top the newest checkpoint's is read; a damaged one gives its rows and a gap."""
    place(tmp_path / "checkpoint-20", "trainer_state.json")
    (tmp_path / "checkpoint-24").mkdir()
    text = (DATA / "trainer_state.json").read_text()
    (tmp_path / "checkpoint-24" / "trainer_state.json").write_text(text[: len(text) // 2])
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value[0] == 0.7245656251907349
    assert "ends early" in whys(run)


def test_an_unknown_framework_is_guessed_and_overridden(tmp_path):
    """Names of nobody: roles are guessed and marked, ambiguous ones stay raw, and the caller's word goes before."""
    rows = [
        {"step": i, "train_avg_return": 0.1 * i, "policy_entropy": 1.0, "kl": 0.1, "LearningRate": 1e-4, "fancy": 3.0} for i in range(5)
    ]
    jsonl(tmp_path / "m.jsonl", rows)
    run = read_run(tmp_path)
    assert run.frameworks == ()
    assert run.curves["reward/mean"].guessed
    assert run.curves["reward/mean"].raw == "train_avg_return"
    assert run.curves["policy/learning_rate"].raw == "LearningRate"
    assert not run.curves["kl"].guessed
    mapped = read_run(tmp_path, mapping={"kl/ref": "kl", "reward/mean": "fancy"})
    assert mapped.curves["kl/ref"].mapped
    assert mapped.curves["reward/mean"].value[0] == 3.0
    with pytest.raises(KeyError, match="train_avg_return"):
        read_run(tmp_path, mapping={"reward/mean": "avg_return"})


def test_an_outcome_of_ones_own_beside_the_words_of_a_framework(tmp_path):
    """A trainer built on another's logs the outcome under its own name: that one is guessed, nothing else is."""
    rows = [{"step": i, "reward_mean": 0.1 * i, "reward_std": 0.2, "completion_length": 99, "kl": 0.1, "clip_frac": 0.1} for i in range(5)]
    jsonl(tmp_path / "m.jsonl", rows)
    run = read_run(tmp_path)
    assert run.frameworks == ("trl",)
    assert run.curves["reward/mean"].raw == "reward_mean"
    assert run.curves["reward/mean"].guessed
    assert not run.curves["clip_frac"].guessed


def test_a_missing_path_names_its_neighbours(tmp_path):
    """The error names what is near."""
    (tmp_path / "run-01").mkdir()
    with pytest.raises(FileNotFoundError, match="run-01"):
        read_run(tmp_path / "run-1")


def test_an_empty_folder_says_what_is_looked_for(tmp_path):
    """The error says what was found, what is looked for and where it usually lies."""
    (tmp_path / "README.md").write_text("hello")
    with pytest.raises(UnreadableRun, match=r"Found: 1 \.md.*trainer_state\.json.*output_dir"):
        read_run(tmp_path)


def test_supervised_training_is_read_and_named(tmp_path):
    """An SFT log has curves, no reward, and a gap that says so."""
    jsonl(
        tmp_path / "m.jsonl",
        [{"step": i, "loss": 1.0 / (i + 1), "grad_norm": 1.0, "learning_rate": 1e-4, "mean_token_accuracy": 0.5} for i in range(9)],
    )
    run = read_run(tmp_path)
    assert "reward/mean" not in run.curves
    assert "looks like supervised training" in whys(run)
    answer = assess(run)
    assert answer.first_broken_link == "none"
    assert "which is not reinforcement learning" in answer.next_experiment.do


def test_a_run_that_died_before_its_first_step(tmp_path):
    """Nothing but the traceback: that is the answer."""
    run = read_run(place(tmp_path, "crash.log"))
    assert not run.curves
    assert "NotImplementedError" in run.events[0].text


def test_a_cut_last_line_keeps_the_rest(tmp_path):
    """The last line of a log is cut: the others are read, and a gap names the line."""
    text = (DATA / "verl_metrics.jsonl").read_text()
    (tmp_path / "m.jsonl").write_text(text[:-40])
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.size == 7
    assert "line 8" in whys(run)


def test_a_half_written_event_file_gives_its_points(tmp_path):
    """A TensorBoard file that ends inside a record: the points before it, and a gap."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path))
    for step in range(1, 11):
        summary = Summary(value=[Summary.Value(tag="rollout/ep_rew_mean", simple_value=float(step))])
        writer.add_event(Event(step=step, wall_time=1.7e9 + step, summary=summary))
    writer.close()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-7])
    run = read_run(tmp_path)
    assert list(run.curves["reward/mean"].value) == [float(i) for i in range(1, 10)]
    assert path.name in whys(run)


def test_two_of_three_hundred_files_matter(tmp_path):
    """The two are read, the others cost nothing and are no gap."""
    for i in range(298):
        (tmp_path / f"note{i:03}.md").write_text("# nothing here\n" * 50)
    run = read_run(place(tmp_path, "progress.csv", "0.monitor.csv"))
    assert set(run.files) == {"progress.csv", "0.monitor.csv"}
    assert not run.gaps


def test_a_huge_folder_is_cut_and_said(tmp_path, monkeypatch):
    """More entries than are looked at: an answer, and a gap."""
    assert run_folder.ENTRY_LIMIT == 20_000
    monkeypatch.setattr(run_folder, "ENTRY_LIMIT", 2_000)
    place(tmp_path / "a", "progress.csv")
    deep = tmp_path / "b"
    deep.mkdir()
    for i in range(2_100):
        (deep / f"{i}").touch()
    run = read_run(tmp_path)
    assert run.files == ("a/progress.csv",)
    assert "stopped after 2,000 entries" in whys(run)


def test_links_that_lead_out_are_not_followed(tmp_path):
    """A link to a file elsewhere is named, not read."""
    outside = place(tmp_path / "outside", "progress.csv")
    inside = place(tmp_path / "run", "0.monitor.csv")
    (inside / "progress.csv").symlink_to(outside / "progress.csv")
    (inside / "more").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    run = read_run(inside)
    assert run.files == ("0.monitor.csv",)
    assert "progress.csv: a link that leads out" in whys(run)


def test_a_git_lfs_pointer_is_named(tmp_path):
    """A pointer instead of the file: say so, and how to fetch it."""
    pointer = (
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12\n"
    )
    (tmp_path / "progress.csv").write_text(pointer)
    with pytest.raises(UnreadableRun, match="git lfs pull"):
        read_run(tmp_path)
    place(tmp_path, "0.monitor.csv")
    assert "git-lfs pointer" in whys(read_run(tmp_path))


def test_a_single_file_is_a_run():
    """A file instead of a folder."""
    run = read_run(DATA / "progress.csv")
    assert run.files == ("progress.csv",)
    assert run.curves["reward/mean"].step.size == 7


def test_a_line_of_many_megabytes_is_bounded(tmp_path):
    """A log that is one endless line neither raises nor takes long."""
    (tmp_path / "train.log").write_bytes(b"{'loss': 0.1, 'reward': 1.0, 'epoch': 1}\n" + b"{'" * 4_000_000)
    start = time.process_time()
    run = read_run(tmp_path)
    assert run.curves["reward/mean" if "reward/mean" in run.curves else "reward"].step.size == 1
    assert time.process_time() - start < 60  # a cost that grew with the square of the line would be hours


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("checkpoint-150", 150),  # TRL, ROLL
        ("global_step_40", 40),  # verl, SkyRL, rLLM
        ("epoch1epochstep4globalstep9", 9),  # AReaL
        ("_actor/best_global_step12", 12),  # OpenRLHF
        ("results/step_200", 200),  # NeMo-RL, prime-rl, open-instruct
        ("iter_0000010", 10),  # slime
        ("checkpoints/0010", 10),  # ART
        ("checkpoint_000025", 25),  # RLlib
        ("rl_model_5000_steps.zip", 5000),  # Stable-Baselines3
        ("checkpoint_p0/checkpoint_000001_4096.pth", 4096),  # Sample Factory
        ("model_300.pt", 300),  # rsl_rl
        ("checkpoint_7.pth", 7),  # Tianshou
        ("checkpoints/agent_8000.pt", 8000),  # skrl
        ("3DBall/3DBall-49998.onnx", 49998),  # ML-Agents
    ],
)
def test_checkpoints_of_every_framework(tmp_path, path, step):
    """A checkpoint is known by its name, whichever framework gave it, and names that are none are not."""
    place = tmp_path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix:
        place.write_bytes(b"weights")
    else:
        place.mkdir()
        (place / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tmp_step_9").mkdir()
    (tmp_path / "2024").mkdir()
    jsonl(tmp_path / "m.jsonl", [{"step": i, "reward": i} for i in range(3)])
    assert [(c.step, c.path) for c in read_run(tmp_path).checkpoints] == [(step, path)]


@pytest.mark.parametrize("apart", [0.07, 5.0])
def test_the_last_step_stays_however_soon_the_summary_follows(tmp_path, apart):
    """A tracker's closing row repeats the epoch of the last step; what was logged just before it is no part of that row."""
    rows = [
        {"step": s, "_timestamp": 1.7e9 + s, "train/reward": 0.1 * s, "train/frac_reward_zero_std": 0.0, "train/epoch": 0.1 * s}
        for s in (2, 4, 6)
    ]
    closing = {"step": 6, "_timestamp": 1.7e9 + 6 + apart, "train/train_runtime": 67.7, "train/epoch": 0.9}
    jsonl(tmp_path / "history.jsonl", [*rows, closing])
    run = read_run(tmp_path)
    assert list(run.curves["reward/mean"].step) == [2, 4, 6]
    assert list(run.curves["progress/epoch"].value) == pytest.approx([0.2, 0.4, 0.6])  # the closing 0.9 is no point
    assert not any("runtime" in name for name in run.curves)


@pytest.mark.parametrize(
    ("logged", "steps", "values"),
    [
        ([(5, 1.0), (6, 1.0), (10, 2.0), (11, 2.0), (15, 1.5), (16, 1.5), (20, 3.0)], [5, 10, 15, 20], [1.0, 2.0, 1.5, 3.0]),
        ([(1, 1.0), (2, 2.0), (3, 2.0), (4, 2.0)], [1, 2, 3, 4], [1.0, 2.0, 2.0, 2.0]),
        ([(1, 1.0), (2, 1.0), (3, 1.0)], [1, 2, 3], [1.0, 1.0, 1.0]),
    ],
    ids=["repeated until the next", "at the top", "never changed"],
)
def test_an_evaluation_counts_once(tmp_path, logged, steps, values):
    """What a trainer repeats until the next evaluation is one evaluation; equal ones in a row are several."""
    rows = [{"training_iteration": i, "episode_reward_mean": i / 7, "evaluation/episode_reward_mean": v} for i, v in logged]
    (tmp_path / "result.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    held = next(c for n, c in read_run(tmp_path).curves.items() if n.startswith("eval/score/"))
    assert (held.step.tolist(), held.value.tolist()) == (steps, values)


def test_episodes_that_count_frames_stand_on_agent_steps(tmp_path):
    """A monitor under a frame skip counts four frames for each step of the agent, whose evaluations count steps."""
    np.savez(tmp_path / "evaluations.npz", timesteps=np.arange(100, 1001, 100), results=np.ones((10, 2)), ep_lengths=np.ones((10, 2)))
    rows = "".join(f"{i % 5},40,{i}\n" for i in range(100))
    (tmp_path / "0.monitor.csv").write_text('#{"t_start": 1.0, "env_id": "x"}\nr,l,t\n' + rows)
    assert read_run(tmp_path).last_step == 1000


def test_an_evaluation_that_is_written_twice_counts_once(tmp_path):
    """RLlib repeats an evaluation in the next row and then writes NaN; the same score at other times is another evaluation."""
    rows = []
    for i in range(1, 13):
        done, fresh = i // 4 * 4, i % 4 == 0
        row = {"training_iteration": i, "env_runners/episode_return_mean": 1.5 * i, "env_runners/num_episodes": 4}
        if i >= 4:
            known = fresh or i % 4 == 1
            parts = (("episode_return_mean", 200.0), ("sample", 0.25 + done), ("env_step_timer", 0.5 + done), ("x", 0.125 + done))
            for name, value in parts:
                row[f"evaluation/env_runners/{name}"] = value if known else float("nan")
        rows.append(row)
    jsonl(tmp_path / "m.jsonl", rows)
    score = read_run(tmp_path).curves["eval/score/episode_return_mean"]
    assert score.step.tolist() == [4, 8, 12]
    assert score.value.tolist() == [200.0, 200.0, 200.0]


def test_copies_are_told_as_copies(tmp_path):
    """Twenty files of the same numbers are one run, and that they are copies is said."""
    for k in range(20):
        (tmp_path / f"run{k}").mkdir()
        (tmp_path / f"run{k}" / "progress.csv").write_text("step,reward\n" + "".join(f"{i},{i % 7}\n" for i in range(1, 30)))
    run = read_run(tmp_path)
    assert run.others == ()
    assert run.curves["reward/mean"].step.size == 29
    assert "a copy, counted once" in whys(run)


@pytest.mark.parametrize(
    ("other", "points", "said"),
    [
        ([10 * i - 1 for i in range(1, 30)], 29, True),
        ([2048 * i for i in range(1, 30)], 29, True),
        ([290 + 10 * i for i in range(1, 30)], 58, False),
        ([10 * i for i in range(1, 40)], 39, False),
    ],
    ids=["counted from 0", "env steps", "goes on", "the same steps"],
)
def test_one_metric_on_two_axes_is_taken_once(tmp_path, other, points, said):
    """Series of two files are neither interleaved nor laid end to end where their steps count different things."""
    jsonl(tmp_path / "metrics.jsonl", [{"step": 10 * i, "episode_return": i / 3} for i in range(1, 30)])
    (tmp_path / "log.csv").write_text(
        "step,episode_return\n" + "".join(f"{s},{(i + 1) / 3 + (s > 290) * 0.1}\n" for i, s in enumerate(other))
    )
    run = read_run(tmp_path)
    assert max(c.step.size for c in run.curves.values()) == points
    assert ("count different things" in whys(run)) is said
