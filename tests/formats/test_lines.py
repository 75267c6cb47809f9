"""Logs of lines with named numbers, in the form of many trainers; and other logs with numbers, which are none."""

# ruff: noqa: E501 - lines of logs are as long as they are

from pathlib import Path

import pytest
from rl_advisor.reading import UnreadableRun, format_of, read_run
from rl_advisor.reading.assembling import SPEAKS
from rl_advisor.reading.formats import dict_console, line_console
from rl_advisor.reading.parsing import bytes_in, line_shapes

LINES = {
    "cleanrl": "global_step={i}00, episodic_return=[{i}.5]\nSPS: 10{i}\n",
    "mlagents": "[INFO] 3DBall. Step: {i}000. Time Elapsed: {i}9.4 s. Mean Reward: {i}.5. Std of Reward: 0.71. Training.\n",
    "score": "Episode {i}00\\tAverage Score: {i}.5\n",
    "logging": "2024-01-0{i} 12:00:0{i},123 - INFO - Episode {i}/500, Reward: {i}.5, Epsilon: 0.9{i}, Loss: 0.12\n",
    "brackets": "[Episode {i}] total reward = {i}.5 steps = 20 loss = 1e-0{i}\n",
    "a2c": "Updates {i}0, num timesteps {i},760, FPS 800\n Last 10 training episodes: mean/median reward {i}.5/14.5, min/max reward 9.0/30.0\n",
    "mappo": "\n Map 3m Algo mappo Exp e updates {i}/100 episodes, total num timesteps {i}00/1000, FPS 300.\n\naverage episode rewards is {i}.5\n",
    "tianshou": "Epoch #{i}: 1001it [00:0{i}, 12.5it/s, env_step={i}000, gradient_step=100, loss=0.5, n/ep=8, rew={i}.50]\n"
    "Epoch #{i}: test_reward: 20{i}.5 ± 0.0, best_reward: 205.5 ± 0.0 in #1\n",
    "sample_factory": "[2023-01-01 00:00:0{i},123][12] Fps is (10 sec: 12.5, 60 sec: 1.0). Total num frames: {i}000. Samples: 10. Policy #0 lag: "
    "(min: 0.0, avg: 1.2, max: 3.0)\n[2023-01-01 00:00:0{i},124][12] Avg episode reward: [(0, '{i}.5')]\n",
    "torchtune": "Step {i} | loss:0.1 policy_loss:0.{i} kl:0.2 scores:{i}.5 rlhf_reward:0.3 approx_policy_kl:0.001 \n",
    "nemo_rl": "========= Step {i}/100 =========\n📊 Training Results:\n  • Loss: 0.01{i}\n  • Generation KL Error: 0.001\n  • Avg Reward: {i}.5\n"
    "  • Mean Generation Length: 120.5\n⏱️  Timing:\n  • policy_training: 12.34s (40.1%)\n",
    "keras_rl": "   {i}00/50000: episode: {i}, duration: 0.6s, episode steps: 166, steps per second: 274, episode reward: {i}.5, "
    "mean reward: -1.8 [-100.0, 3.0], loss: 4.9\n",
    "tune": "Result for PPO_CartPole_00000:\n  date: 2023-01-01_12-00-0{i}\n  episode_len_mean: 20.0\n  episode_reward_mean: {i}.5\n  info:\n"
    "    num_steps_trained: 10\n  episodes_this_iter: 3\n  training_iteration: {i}\n\n",
    "count_last": "Reward: {i}.5\nLoss: 0.1\nEpisode: {i}\n----------\n",
    "deepspeed": "epoch: 0|step: {i}|ppo_ep: 1|act_loss: 0.0{i}|cri_loss: 0.1|unsuper_loss: 0.0\naverage reward score: {i}.5\n-----\n",
    "epymarl": "[INFO 12:34:5{i}] my_main Recent Stats | t_env:      {i}0050 | Episode:       6{i}\nep_length_mean:   149.9\\tepsilon:    0.8\\t"
    "loss:   0.03\\treturn_mean:      {i}.5\n[INFO 12:34:59] my_main Updated target network\n",
    "deepspeed_chat": "Epoch: 0 | Step: {i} | PPO Epoch: 1 | Actor Loss: 0.0{i} | Critic Loss: 0.1 | Unsupervised Loss: 0.0\n"
    "End-to-End => Latency: 3.2{i}s, TFLOPs: 10.{i}, Samples/sec: 5.2\nAverage reward score: {i}.5 | EMA reward score: {i}.1\n------\n",
    "tinker_cookbook": "        Step {i}\n┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓\n┃ Metric               ┃ Value    ┃\n┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩\n"
    "│ env/all/reward/total │ {i}.50000  │\n│ optim/lr             │ 0.000040 │\n│ progress/batch       │ {i}        │\n└──────────────────────┴──────────┘\n",
    "labelled": "[A] Step {i}/30 | Reward: {i}.5 | KL: 0.00{i} | Loss: 0.1{i}\n",
    "groups": "step {i}: n_groups={i}, skipped_groups=1{i}, mean_reward={i}.5, correct=3/4, loss=0.0{i}\n",
    "said_at": "Episode {i}: reward {i}.5, length 7\n  eval score: 0.{i} at {i}00\n",
}
WANTED = {
    "cleanrl": (("cleanrl",), "episodic_return", [100, 200], "env steps", None),
    "mlagents": (("mlagents",), "Mean Reward", [1000, 2000], "env steps", None),
    "score": ((), "Average Score", [100, 200], "episodes", None),
    "logging": ((), "Reward", [1, 2], "episodes", 500),
    "brackets": ((), "total reward", [1, 2], "episodes", None),
    "a2c": ((), "mean reward", [1760, 2760], "env steps", None),
    "mappo": ((), "average episode rewards", [100, 200], "env steps", 1000),
    "tianshou": ((), "rew", [1000, 2000], "env steps", None),
    "sample_factory": ((), "Avg episode reward", [1000, 2000], "env steps", None),
    "torchtune": (("torchtune",), "scores", [1, 2], "training steps", None),
    "nemo_rl": (("nemo_rl",), "Avg Reward", [1, 2], "training steps", 100),
    "keras_rl": ((), "episode reward", [1, 2], "episodes", None),
    "tune": (("rllib",), "episode_reward_mean", [1, 2], "iterations", None),
    "count_last": ((), "Reward", [1, 2], "episodes", None),
    "deepspeed": ((), "average reward score", [1, 2], "steps", None),
    "deepspeed_chat": ((), "Average reward score", [1, 2], "steps", None),
    "tinker_cookbook": (("tinker_cookbook",), "env/all/reward/total", [1, 2], "training steps", None),
    "labelled": ((), "Reward", [1, 2], "steps", 30),
    "groups": ((), "mean_reward", [1, 2], "steps", None),
    "said_at": ((), "reward", [1, 2], "episodes", None),
    "epymarl": (("epymarl",), "return_mean", [10050, 20050], "env steps", None),
}


def written(path: Path, line: str, rows: int = 5) -> Path:
    """A log with that line for each of the first numbers."""
    path.write_text("starting\n" + "".join(line.replace("\\t", "\t").replace("{i}", str(i)) for i in range(1, rows + 1)))
    return path


@pytest.mark.parametrize("name", LINES)
def test_lines_of_a_trainer(tmp_path: Path, name: str) -> None:
    """Reward, steps and what they count; the number of steps that were planned where it is printed."""
    path = written(tmp_path / "train.log", LINES[name])
    assert format_of(path) is line_console
    run = read_run(path)
    frameworks, raw, steps, unit, planned = WANTED[name]
    reward = run.curves["reward/mean"]
    assert (run.frameworks, reward.raw, reward.step[:2].tolist(), run.step_unit, run.planned_steps) == (
        frameworks, raw, steps, unit, planned
    )  # fmt: skip
    assert reward.value.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("Epoch {i}: train loss 0.{i} acc: 0.9, f1 score: 0.8{i}, val_loss: 0.3\n", "f1 score"),
        ("step {i}: loss=0.{i} lr=0.001 grad_norm=1.{i}\n", "grad_norm"),
        ("Epoch {i}/30 - loss: 0.{i} - precision: 0.8 - recall: 0.7 - score: 0.7{i}\n", "score"),
        ("Epoch {i}: cross entropy: 0.{i}, loss: 0.3, acc: 0.5, lr: 0.1, top5: 0.9\n", "cross entropy"),
        ("[{i}/500] Building CXX object foo.o\nstep {i}: done in {i}s\n", ""),
        ("Reward your users: 5 stars\n", ""),
        ("Reward: 3.5, episode 7, loss: 0.1\n", ""),
    ],
)
def test_other_logs_with_numbers(tmp_path: Path, line: str, read: str) -> None:
    """Supervised training is read, without an outcome; builds, advice, and rows that stand still are no rows."""
    path = written(tmp_path / "train.log", line)
    if read:
        run = read_run(path)
        assert (read in {c.raw for c in run.curves.values()}, [n for n in run.curves if n.startswith(SPEAKS)]) == (True, [])
    else:
        with pytest.raises(UnreadableRun):
            read_run(path)


def test_behaviours_of_one_console_are_kept_apart(tmp_path: Path) -> None:
    """Two behaviours that learn at once are two runs: the first is read, the other is named."""
    line = "INFO:mlagents.trainers:{b}: Step: {i}000. Time Elapsed: {i}.5 s. Mean Reward: {r}{i}.5. Std of Reward: 0.7.\n"
    path = written(
        tmp_path / "train.log", line.replace("{b}", "Goalie").replace("{r}", "") + line.replace("{b}", "Striker").replace("{r}", "-")
    )
    assert read_run(path).others == ("train.log#Striker",)
    assert read_run(f"{path}#Striker").curves["reward/mean"].value.tolist() == [-1.5, -2.5, -3.5, -4.5, -5.5]


def test_a_crash_of_a_printed_log_is_an_event(tmp_path: Path) -> None:
    """The traceback behind the rows is kept."""
    path = written(tmp_path / "train.log", LINES["logging"])
    path.write_text(path.read_text() + 'Traceback (most recent call last):\n  File "a.py"\nValueError: nan\n')
    assert [e.kind for e in read_run(path).events] == ["error"]


def test_trials_that_take_turns_are_kept_apart(tmp_path: Path) -> None:
    """Two trials of Ray Tune print blocks one after the other."""
    block = "Result for {t}:\n  episode_reward_mean: {r}{i}.5\n  episode_len_mean: 20.0\n  training_iteration: {i}\n\n"
    path = written(
        tmp_path / "train.log", block.replace("{t}", "PPO_0").replace("{r}", "") + block.replace("{t}", "PPO_1").replace("{r}", "-")
    )
    assert read_run(path).others == ("train.log#PPO_1",)
    assert read_run(f"{path}#PPO_1").curves["reward/mean"].value.tolist() == [-1.5, -2.5, -3.5, -4.5, -5.5]


DICTS = {
    "trl": "{'loss': 0.1, 'reward': {i}.5, 'reward_std': 0.1, 'completions/mean_length': 9.0, 'global_step/max_steps': '{i}/100', 'memory': 3}\n",
    "skyrl": "2026-01-01 12:00:00.1 | INFO | skyrl.train.trainer:train:300 - Step {i}: \n{'async/staleness_mean': '0.0',\n 'policy/policy_entropy':"
    " '0.4',\n 'policy/policy_loss': '-0.01',\n 'reward/avg_raw_reward': '{i}.5',\n 'timing/step': '12.3'}\n",
    "slime": "[x] rollout_metrics.py:268 - rollout {i}: {'rollout/raw_reward': {i}.5, 'rollout/rewards': -1e-09, 'rollout/response_lengths': 81.3}\n"
    "[x] model.py:897 - step {i}: {'train/loss': 0.01, 'train/pg_loss': 0.01, 'train/ppo_kl': 0.0, 'train/grad_norm': 0.2}\n",
    "roll": 'metrics_tag: {"step": {i}, "metrics": {"critic/score/mean": {i}.5, "actor/kl_loss": 0.01, "actor/pg_loss@sum": 0.1, '
    '"actor/policykl@sum": 0.1}}\n',
}


@pytest.mark.parametrize("name", DICTS)
def test_dicts_behind_a_step(tmp_path: Path, name: str) -> None:
    """The step stands before the dict: in the line above, as the number of a rollout, or as the key of an outer object."""
    path = written(tmp_path / "train.log", DICTS[name])
    assert format_of(path) is dict_console
    run = read_run(path)
    assert run.frameworks == (name,)
    assert run.curves["reward/mean"].step.tolist() == [1, 2, 3, 4, 5]
    assert run.curves["reward/mean"].value.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert run.gaps == ()


@pytest.mark.parametrize("name", LINES)
def test_lines_taken_at_once_give_what_they_give_one_by_one(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log that is looked at block by block the common lines are taken together: same numbers, steps, totals, runs and events."""
    path = written(tmp_path / "train.log", LINES[name], 300)
    path.write_text(path.read_text() + "Saved.\nWARNING: nan found in the loss\n" + path.read_text().replace("1", "2"))
    alone = read_run(path)
    monkeypatch.setattr(bytes_in, "FIRST", 2_000)
    monkeypatch.setattr(bytes_in, "PIECE", 2_000)
    together = read_run(path)
    assert {n: (c.step.tolist(), c.value.tobytes()) for n, c in together.curves.items()} == {
        n: (c.step.tolist(), c.value.tobytes()) for n, c in alone.curves.items()
    }
    assert (together.planned_steps, together.others, together.events) == (alone.planned_steps, alone.others, alone.events)


def test_of_too_many_forms_those_met_before_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are never of one form cost each as much as a new one: beyond a bound they are no rows, and the gap says from where on."""
    monkeypatch.setattr(line_shapes, "ROOM", 40)
    odd = ["".join(chr(97 + int(digit)) for digit in f"{i:04d}") for i in range(60)]
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {i} reward: {i / 8} loss: {i / 4}\n{name} {name}={i}\n" for i, name in enumerate(odd)))
    run = read_run(path)
    assert run.curves["reward/mean"].value.tolist() == [i / 8 for i in range(60)]
    assert [gap.why for gap in run.gaps if "forms" in gap.why] == [
        "from line 26 on only lines of the forms met before were read: there are too many"
    ]


def test_a_nul_in_a_line_parts_no_texts(tmp_path: Path) -> None:
    """A line whose text holds a NUL is none of the form that has a number there: the others are read, and nothing fails."""
    lines = [f"step={i} loss={i / 8:.3f} reward={2 * i}\n" for i in range(3000)]
    for bad in ("step=5000 loss=\0 reward=4\n", "step=\0 loss=\0 reward=4\n", "step=5000 loss=\1 reward=4\n"):
        path = tmp_path / "train.log"
        path.write_text("".join([*lines, *[bad] * 3]))
        reward = read_run(path).curves["reward/mean"]
        assert reward.value[:2999].tolist() == [2.0 * i for i in range(2999)]
