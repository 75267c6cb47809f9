"""The general reader of logs: counts, pairs, tables and blocks in the forms that people print them in."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import UnreadableRun, format_of, read_run
from rl_advisor.reading.parsing.line_shapes import NUMBER
from rl_advisor.reading.parsing.slot_names import BARE, slots

NAN = float("nan")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[math]   1/100 | loss=-0.52 | acc=62.5%", [(BARE, "1"), ("loss", "-0.52"), ("acc", "62.5")]),
        ("[math] Step   1/30 | loss=-3.1", [("Step", "1"), ("loss", "-3.1")]),
        ("# of episode :20, avg score : 18.2", [("episode", "20"), ("avg score", "18.2")]),
        ("`Frame 1633280. reward: 1075.25`", [("Frame", "1633280"), ("reward", "1075.25")]),
        (
            "Iter 7: Train loss 0.004, KL 0.002, Learning Rate 1.0e-05",
            [("Iter", "7"), ("Train loss", "0.004"), ("KL", "0.002"), ("Learning Rate", "1.0e-05")],
        ),
        ("step 3 loss 0.5 reward 1.5 lr 1e-4", [("step", "3"), ("loss", "0.5"), ("reward", "1.5"), ("lr", "1e-4")]),
        (
            "Steps:  45%|███ | 12/50 [00:10<29:11, 8.2s/it, loss=-.31, grad_norm=0.3]",
            [(BARE, "12"), ("loss", "-.31"), ("grad_norm", "0.3")],
        ),
        ("Grad. Norm: 0.14 | Seq. Length: 420", [("Grad. Norm", "0.14"), ("Seq. Length", "420")]),
        ("| approxkl           | -5.9e-07 |", [("approxkl", "-5.9e-07")]),
        ("EvalEpRet                  -1.5", [("EvalEpRet", "-1.5")]),
        ("data: {'total_reward': 141.0, 'n': 2}", [("total_reward", "141.0")]),
        ("[Update 1/4] Pred(mean=1.1, std=0.4)KL=0.02", [("Update", "1"), ("Pred/mean", "1.1"), ("std", "0.4"), ("KL", "0.02")]),
        ("loss: nan, reward: -inf", [("loss", "nan"), ("reward", "-inf")]),
        ("Agent SUCCESS Rate 0.0415", [("Agent SUCCESS Rate", "0.0415")]),
        ("policy_training: 12.34s (40.1%)", [("policy_training", "12.34")]),
        ("The answer is 5.", []),
        ("Reward trace: [0.625, 0.0, 0.25]", []),
        ("cards: 3 3 4 4 A A", []),
        ("model-4B.safetensors v2.1", []),
        ("2024-01-01 12:00:01,123 - INFO - ready", []),
    ],
)
def test_what_a_line_calls_its_numbers(line: str, said: list[tuple[str, str]]) -> None:
    """Names and numbers of one line, and nothing where it has no named number."""
    parts = NUMBER.split(line)
    assert [(slot.name, parts[1::2][slot.at]) for slot in slots(parts[::2])] == said


ROWS = {
    "bare count": ("[a] {i:3d}/40 | loss=-{i}.25 | reward={i}.5\n", "steps", 40),
    "padded count": ("[a] Step {i:5d}/40 | loss=-{i}.25 | reward={i}.5\n", "steps", 40),
    "colon in front": ("# of episode :{i}, avg reward : {i}.5\n", "episodes", None),
    "quoted line": ("`Frame {i}. reward: {i}.5`\n", "env steps", None),
    "dict without braces": ("step {i}: 'reward': {i}.5, 'kl': 0.25\n", "steps", None),
    "count of batches": ("INFO rollout batch {i} generated\nINFO rl_loss: 0.{i}, data: {{'total_reward': {i}.5}}\n", "steps", None),
    "postfix": ("\rTrain:  1%|█   | {i}/40 [00:01<00:09, 1.0it/s, loss=0.25, reward={i}.5]", "steps", 40),
    "block": ("==== Iteration {i} ====\n  Mean reward: {i}.5\n  Entropy: 0.25\n", "iterations", None),
    "box": (
        "//------------------\n| ep_rewmean | {i}.5 |\n| total_timesteps | {i} |\n| value_loss | 2 |\n//------------------\n",
        "env steps",
        None,
    ),
    "unit": ("Epoch: {i} took 12s reward = {i}.5 pts, entropy = 0.2\n", "epochs", None),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_form(tmp_path: Path, name: str) -> None:
    """Reward over the count, what the count counts, and the plan where a total stands behind it."""
    line, unit, planned = ROWS[name]
    path = tmp_path / "train.log"
    path.write_text("starting\n" + "".join(line.format(i=i) for i in range(1, 8)))
    run = read_run(path)
    reward = run.curves["reward/mean"]
    assert (reward.step.tolist(), reward.value.tolist()) == (list(range(1, 8)), [i + 0.5 for i in range(1, 8)])
    assert (run.step_unit, run.planned_steps) == (unit, planned)


@pytest.mark.parametrize(
    "table",
    [
        "Step | Loss | reward | kl\n-- | -- | -- | --\n1 | -0.25 | 1.5 | nan\n2 | No Log | 2.5 | 0.5\n",
        "| Step | Loss | reward | kl |\n|---|---|---|---|\n| 1 | -0.25 | **1.5** | nan |\n| 2 | No Log | 2.5 | 0.5 |\n",
        "┃ Step ┃ Loss ┃ reward ┃ kl ┃\n┡━━━━╇━━━━┩\n│ 1 │ -0.25 │ 1.5 │ nan │\n│ 2 │ │ 2.5 │ 0.5 │\n",
        "Step    Loss    reward   kl\n1     -0.25     1.5   nan\n2     none     2.5    0.5\n",
    ],
)
def test_tables_with_any_border(tmp_path: Path, table: str) -> None:
    """Two rows are enough below a header; a cell that says nan is NaN, one that says nothing is none."""
    path = tmp_path / "log.md"
    path.write_text(table)
    curves = {curve.raw: curve for curve in read_run(path).curves.values()}
    assert curves["reward"].value.tolist() == [1.5, 2.5]
    np.testing.assert_array_equal(curves["kl"].value, [NAN, 0.5])
    assert curves["Loss"].step.tolist() == [1]


def test_a_table_of_epochs_without_a_count_goes_by_its_rows(tmp_path: Path) -> None:
    """What PPO1 prints for the epochs of one iteration."""
    path = tmp_path / "log.txt"
    path.write_text(
        "Optimizing...\n     pol_surr |    vf_loss |     kl |    ent\n"
        + "".join(f"   0.{i} |   1e+0{i} |  0.{i} |  -0.3\n" for i in (1, 2, 3))
    )
    run = read_run(path)
    assert run.curves["kl/old"].value.tolist() == [0.1, 0.2, 0.3]


def test_runs_under_headings_are_parted(tmp_path: Path) -> None:
    """Training and evaluation of a results page."""
    rows = "".join(f"Episode:   {i}00   Avg: {i}.5   Spread: 1.0\n" for i in range(1, 8))
    (tmp_path / "results.md").write_text(f"# Notes\n#### DQN Training\n```\n{rows}```\n#### DQN Evaluation\n```\n{rows[:200]}```\n")
    run = read_run(f"{tmp_path / 'results.md'}#DQN Training")
    assert run.last_step == 700
    assert run.others == ("results.md#DQN Evaluation",)


def test_a_run_of_one_row_is_read_where_it_is_listed(tmp_path: Path) -> None:
    """An evaluation printed once below its training."""
    rows = "".join(f"Episode:   {i}00   Avg: {i}.5   Spread: 1.0\n" for i in range(1, 8))
    (tmp_path / "results.md").write_text(
        f"#### Training\n```\n{rows}```\n#### Evaluation\n```\nEpisode: 10   Avg: 9.5   Spread: 0.0\n```\n"
    )
    training = read_run(tmp_path / "results.md")
    assert training.others == ("results.md#Evaluation",)
    assert read_run(f"{tmp_path / training.others[0]}").curves["Avg"].value.tolist() == [9.5]


def test_a_run_that_starts_anew_is_another_run(tmp_path: Path) -> None:
    """Three starts appended to one file are three runs, not one that was resumed; a count inside epochs is none."""
    path = tmp_path / "train.log"
    line = "2026-01-0{day} 10:00:{i:02d} - INFO - Episode {i}: reward={reward}.5\n"
    rows = [(day, i) for day, n in ((1, 5), (2, 20), (3, 9)) for i in range(1, n)]
    path.write_text("".join(line.format(day=day, i=i, reward=i + day) for day, i in rows))
    run = read_run(path)
    assert (run.last_step, len(run.others)) == (19, 2)
    assert read_run(f"{path}#2026-01-03 10:00:01").curves["reward/mean"].value[0] == 4.5
    path.write_text("".join(f"epoch: {e}\n" + "".join(f"Update {u}/4 reward={e}.{u} entropy=0.5\n" for u in range(1, 5)) for e in range(9)))
    run = read_run(path)
    assert (run.others, run.last_step, run.curves["reward/mean"].value.tolist()) == ((), 8.0, [e + 0.4 for e in range(9)])


def test_one_box_is_read_and_one_row_of_prose_is_not(tmp_path: Path) -> None:
    """What people paste: a single box of a known kind."""
    path = tmp_path / "log.txt"
    box = "".join(f"| {name:18} | {i}.5 |\n" for i, name in enumerate(("approxkl", "policy_entropy", "value_loss", "clipfrac", "fps")))
    path.write_text(f"//-----\n{box}| total_timesteps    | 1166190 |\n//-----\n")
    assert read_run(path).curves["entropy/mean"].value.tolist() == [1.5]
    path.write_text("At step 5 the reward was 3.5\n")
    with pytest.raises(UnreadableRun):
        read_run(path)


def test_a_bar_drawn_a_thousand_times_over_is_read_to_its_end(tmp_path: Path) -> None:
    """Each drawing is a line of its own; the newest of a count stays."""
    path = tmp_path / "train.log"
    path.write_text("".join(f"\rTrain:  1%|█   | {i // 10}/400 [00:01<00:09, 1.0it/s, loss=0.25, reward={i}.5]" for i in range(4_000)))
    reward = read_run(path).curves["reward/mean"]
    assert (reward.step[-1], reward.value[-1]) == (399, 3999.5)
    assert format_of(path).FORMAT.endswith("console")
