"""Tables that trainers draw on the console: AReaL, Stable-Baselines3, rsl_rl."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import format_of, read_run
from rl_advisor.reading.formats import block_console, line_console

DATA = Path(__file__).parent.parent / "data" / "consoles"
RSL_RL = """
################################################################################
                      \x1b[1m Learning iteration 7/1500 \x1b[0m

                       Computation: 33333 steps/s (collection: 2.100s, learning 0.300s)
               Value function loss: 0.1234
                    Surrogate loss: -0.0012
             Mean action noise std: 0.98
                       Mean reward: nan
               Mean episode length: 22.10
 Mean episode rew_tracking_lin_vel: 0.0031
--------------------------------------------------------------------------------
                   Total timesteps: 98304
                    Iteration time: 2.40s
                               ETA: 01:02:03
"""


def test_areal_table() -> None:
    """Steps as the trackers count them (from 0), every pair of the table, nan as NaN, the planned steps."""
    path = DATA / "areal_stdout.log"
    assert format_of(path) is block_console
    run = block_console.read(path)
    assert run.planned_steps == 40
    assert run.curves["ppo_actor/task_reward/avg"].step.tolist() == [0.0, 1.0, 39.0]
    assert run.curves["ppo_actor/task_reward/avg"].value[0] == 0.125
    assert np.isnan(run.curves["ppo_actor/update/grad_norm"].value[-1])
    assert len(run.curves) > 100


def test_areal_in_our_words_turns_the_sign_of_kl() -> None:
    """The log has new minus proximal; ours is old minus new."""
    run = read_run(DATA / "areal_stdout.log")
    raw = block_console.read(DATA / "areal_stdout.log").curves["ppo_actor/update/approx_kl/avg"]
    np.testing.assert_allclose(run.curves["kl/old"].value, -raw.value)
    assert run.frameworks == ("areal",)


def test_sb3_boxes() -> None:
    """Boxes become rows at their environment steps; evaluation boxes come in between."""
    path = DATA / "sb3_stdout.log"
    assert format_of(path) is line_console
    run = line_console.read(path)
    reward = run.curves["rollout/ep_rew_mean"]
    assert reward.step[:2].tolist() == [1024, 2048]
    assert reward.value[:2].tolist() == [19.7, 22.4]
    assert run.curves["train/approx_kl"].value[0] == 0.008504941
    assert run.curves["eval/mean_reward"].step[0] % 1 == 0
    assert "time/" not in run.curves


def test_boxes_beside_the_same_numbers_in_full_are_left_alone(tmp_path: Path) -> None:
    """Three digits would only disagree with the file that keeps all of them."""
    path = tmp_path / "stdout.log"
    path.write_bytes((DATA / "sb3_stdout.log").read_bytes())
    assert line_console.read(path).curves
    (tmp_path / "progress.csv").write_text("time/total_timesteps\n1024\n")
    assert not line_console.read(path).curves


def test_a_name_that_was_cut_is_left_out(tmp_path: Path) -> None:
    """SB3 cuts long names with dots, and two of them may become one."""
    path = tmp_path / "train.log"
    box = (
        "-" * 30
        + "\n| time/            |     |\n|    total_timesteps | 10 |\n| train/  |  |\n|    a_long_na... | 1 |\n|    loss | 2 |\n"
        + "-" * 30
        + "\n"
    )
    path.write_text(box + box.replace("10", "20") + box.replace("10", "30"))
    assert line_console.claims(path)
    assert set(line_console.read(path).curves) == {"train/loss"}


def _drawn(kind: str, rows: list[tuple[str, str]]) -> str:
    """A table as a logger of that kind prints it."""
    if kind == "box":
        return "-" * 39 + "\n" + "".join(f"| {name:>18} | {value:>15} |\n" for name, value in rows) + "-" * 39 + "\n"
    before = "2018-05-01 12:00:00.123456 PDT | [trpo] " if kind == "rllab" else ""
    table = ["-" * 24 + "  " + "-" * 8, *(f"{name:24}  {value}" for name, value in rows), "-" * 24 + "  " + "-" * 8]
    return "".join(f"{before}{line}\n" for line in table)


@pytest.mark.parametrize(
    ("kind", "names", "framework", "step"),
    [
        ("box", ("eprewmean", "total_timesteps", "approxkl"), "openai_baselines", "total_timesteps"),
        ("box", ("AverageEpRet", "TotalEnvInteracts", "DeltaLossV"), "spinning_up", "TotalEnvInteracts"),
        ("garage", ("Evaluation/AverageReturn", "TotalEnvSteps", "LossBefore"), "garage", "TotalEnvSteps"),
        ("rllab", ("AverageReturn", "Iteration", "AverageDiscountedReturn"), "garage", "Iteration"),
    ],
)
def test_tables_of_other_loggers(tmp_path: Path, kind: str, names: tuple[str, str, str], framework: str, step: str) -> None:
    """Reward and steps of each; the text between the tables is no table."""
    path = tmp_path / "train.log"
    tables = [_drawn(kind, [(names[0], f"{-1.5 * i:.3g}"), (names[1], f"{1000 * i:.3g}"), (names[2], "0.01")]) for i in range(1, 5)]
    path.write_text("Logging to /data\n" + "Saving snapshot...\n\n".join(tables))
    assert format_of(path) is line_console
    run = read_run(path)
    assert run.frameworks == (framework,)
    assert run.curves["reward/mean"].value.tolist() == [-1.5, -3.0, -4.5, -6.0]
    assert run.curves["reward/mean"].step.tolist() == [1000, 2000, 3000, 4000]
    assert step not in run.curves


def test_boxes_in_markdown(tmp_path: Path) -> None:
    """A notebook that was saved as text keeps its boxes; a table of Markdown is none."""
    path = tmp_path / "results.md"
    path.write_text("# PPO\n```\n" + (DATA / "sb3_stdout.log").read_text() + "```\n")
    assert format_of(path) is line_console
    path.write_text("| step | reward |\n|------|--------|\n| 1 | 2 |\n" + "-" * 30 + "\n| step | reward |\n")
    assert not line_console.read(path).curves


def test_rsl_rl_iterations(tmp_path: Path) -> None:
    """Names as printed, units cut off, colours ignored, times of day no numbers."""
    path = tmp_path / "train.log"
    path.write_text(RSL_RL + RSL_RL.replace("7/1500", "8/1500"))
    assert format_of(path) is block_console
    run = block_console.read(path)
    assert run.planned_steps == 1500
    assert run.curves["Computation"].value.tolist() == [33333, 33333]
    assert run.curves["Iteration time"].value[0] == 2.4
    assert run.curves["Surrogate loss"].step.tolist() == [7, 8]
    assert np.isnan(run.curves["Mean reward"].value).all()
    assert "ETA" not in run.curves
    assert read_run(path).curves["reward/component/tracking_lin_vel"].value[0] == 0.0031


@pytest.mark.parametrize("text", ["", "nothing here\n", "-" * 40 + "\n| a | b |\n" + "-" * 40 + "\n", "Train step 3 done\n"])
def test_other_logs_are_left_alone(tmp_path: Path, text: str) -> None:
    """Empty logs, drawn tables of other things, similar words."""
    path = tmp_path / "train.log"
    path.write_text(text)
    assert not block_console.claims(path)
    assert not line_console.read(path).curves


def test_a_table_of_one_row_is_read(tmp_path: Path) -> None:
    """Ray Tune's status before an episode has ended: a count, and rewards that are NaN."""
    path = tmp_path / "log.txt"
    path.write_text(
        "== Status ==\nNumber of trials: 1/1 (1 RUNNING)\n+------+--------+------+------+--------+--------------------+\n"
        "| Trial name | status | iter | ts | reward | episode_reward_max | episode_len_mean |\n"
        "|------+--------+------+----+--------+--------+----------|\n"
        "| PPO_a_00000 | RUNNING | 4 | 2048 | nan | nan | nan |\n+------+--------+------+------+--------+--------------------+\n"
    )
    assert np.isnan(line_console.read(path).curves["reward"].value).tolist() == [True]
