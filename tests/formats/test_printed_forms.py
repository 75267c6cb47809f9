"""The general reader of logs: counts, pairs, tables and blocks in the forms that people print them in."""

from pathlib import Path

import numpy as np
import pytest
from rl_advisor.reading import UnreadableRun, format_of, read_run
from rl_advisor.reading.parsing.printed_numbers import NUMBER
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
        ("[Update 1/4] Pred(mean=1.1, std=0.4)KL=0.02", [("Update", "1"), ("Pred/mean", "1.1"), ("Pred/std", "0.4"), ("KL", "0.02")]),
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
    assert [(slot.name, parts[1::2][slot.at]) for slot in slots(parts[::2]) if not slot.loose] == said


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
    """Three starts appended to one file are three runs, not one that was resumed, the newest is read; a count inside epochs is none."""
    path = tmp_path / "train.log"
    line = "2026-01-0{day} 10:00:{i:02d} - INFO - Episode {i}: reward={reward}.5\n"
    rows = [(day, i) for day, n in ((1, 5), (2, 20), (3, 9)) for i in range(1, n)]
    path.write_text("".join(line.format(day=day, i=i, reward=i + day) for day, i in rows))
    run = read_run(path)
    assert (run.last_step, len(run.others)) == (8, 2)
    assert read_run(f"{path}#2026-01-02 10:00:01").curves["reward/mean"].value[[0, -1]].tolist() == [3.5, 21.5]
    path.write_text("".join(f"epoch: {e}\n" + "".join(f"Update {u}/4 reward={e}.{u} entropy=0.5\n" for u in range(1, 5)) for e in range(9)))
    run = read_run(path)
    every = [float(f"{e}.{u}") for e in range(9) for u in range(1, 5)]
    assert (run.others, run.last_step, run.curves["reward/mean"].value.tolist()) == ((), 36.0, every)
    path.write_text(path.read_text().replace("epoch", "episode"))  # of an episode its last step tells
    assert read_run(path).curves["reward/mean"].value.tolist() == [e + 0.4 for e in range(9)]


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


HOME_MADE = {
    "±": ("[PPO] update {i}/99 | steps {i},000 | ep_ret {v} ± 1.{i} | KL 0.01{i}", "KL; ep_ret, spread; steps"),
    "bracket": ("frame {i}k/1M  score {v}  loss 1.{i}e-3 (0.0{i})  eps .9{i}", "eps; loss; loss, number 2"),
    "letters": ("iter=000{i} R={v}(±1.{i}) V=0.3{i} H=1.4{i}", "H; R, spread; V"),
    "dots": ("== Iteration {i} ==\n  mean return ........ {v}\n  policy loss ........ 0.1{i}", "policy loss"),
    "tuple": ("('episode', {i}, 'reward', {v}, 'loss', 0.1{i})", "loss"),
    "sentence": ("Episode {i} ended with reward {v} after 20{i} steps (avg over last 10: 7.{i})", "avg over last; steps"),
    "units": ("Iter {i}: dist 1.2{i} m, torque=2.{i}Nm, speed 0.4{i} m/s, reward {v}, falls {i}/16", "dist; falls; speed; torque"),
    "agents": ("ep {i} rewards [1.{i}, -3.{i}, 2.{i}] mean {v}", "rewards, number 1; rewards, number 2; rewards, number 3"),
    "slashes": ("gen {i}: W/D/L = 1{i}/2{i}/3{i}, reward {v}", "D; L; W"),
    "nested": ("[step={i}] loss=0.1{i} rewards=[all={v} fmt=0.9{i} len=[mean=31{i} max=512]]", "len/mean; loss; rewards/fmt"),
    "Chinese": ("第{i}轮 奖励: {v} 损失: 0.1{i}", "损失"),
    "wide": ("回合：{i}，奖励：{v}，损失：0.1{i}", "损失"),  # noqa: RUF001
    "German": ("Folge {i}: Schritte {i}.000; Belohnung {c}; Verlust 0,1{i}", "Schritte; Verlust"),
    "Russian": ("Эпизод {i}: награда = {v}, потери = 0.1{i}", "потери"),
    "thousands": ("timesteps: {i},000  return: {v}  value loss: 1{i},345.6  frames=1_02{i}_000", "frames; value loss"),
    "touching": ("ep{i}: return={v}, length=10{i}", "length"),
    "average": ("Episode {i}\tReward {v}\tAvg(100) 7.{i}\tEps 0.9{i}", "Avg; Eps"),
    "of training": ("it {i} | rew(train) {v} | q 1.{i}", "q"),
    "range": ("step: {i} | reward: {v} | advantage: [-1.{i} .. 2.{i}]", "advantage; advantage, number 2"),
    "German, in a row": ("Lauf {i}: Ertrag={c}, Fehler=0,1{i}, Lernrate=0,00{i}", "Fehler; Lernrate"),
    "named in Chinese": ("迭代 {i}，平均回报 {v}，价值损失 9{i}.5，熵 0.{i}", "价值损失; 熵"),  # noqa: RUF001
    "window": ("Episode {i} | Reward (last 10): {v} | mean 100 step loss | 0.1{i}", "mean step loss"),
}


@pytest.mark.parametrize("style", HOME_MADE)
def test_home_made_logs(tmp_path: Path, style: str) -> None:
    """The outcome over its count, and every other number that changes, by its name."""
    line, names = HOME_MADE[style]
    rows = [line.format(i=i, v=f"{9.5 - i}", c=f"{9.5 - i}".replace(".", ",")) for i in range(1, 10)]
    (tmp_path / "train.log").write_text("\n".join(rows) + "\n")
    run = read_run(tmp_path)
    outcome = run.curves["reward/mean"]
    assert outcome.value.tolist() == [9.5 - i for i in range(1, 10)]
    assert [step / outcome.step[0] for step in outcome.step] == list(range(1, 10))
    assert sorted(c.raw for c in run.curves.values() if c.varies) == sorted([outcome.raw, *names.split("; ")])


def test_a_count_of_thousands_and_of_units_is_the_number_that_is_meant(tmp_path: Path) -> None:
    """``1.2k`` is 1,200, below 950 of the line before; metres and bytes are no thousands."""
    steps = ["950", "1.2k", "1.5k", "2.5k", "1.5M"]
    (tmp_path / "train.log").write_text("".join(f"steps {s} | return {i}.5 | memory 1.{i}G | height 2.{i}m\n" for i, s in enumerate(steps)))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].step.tolist() == [950, 1200, 1500, 2500, 1_500_000]
    assert {c.raw: c.value[1] for c in run.curves.values() if c.raw in ("memory", "height")} == {"memory": 1.1, "height": 2.1}


def test_a_row_of_units_is_no_header(tmp_path: Path) -> None:
    """The names of the columns are those above it."""
    rows = "".join(f"| {i} | {i}.5 | 0.{i} |\n" for i in range(1, 6))
    (tmp_path / "train.log").write_text("| iter | reward | dist |\n|  #   |   -    |  m   |\n|------|-----|----|\n" + rows)
    assert {"dist", "reward/mean"} == set(read_run(tmp_path).curves)


def test_cells_left_empty_in_a_table_of_blanks_take_nothing_from_their_neighbours(tmp_path: Path) -> None:
    """A number belongs to the name that stands nearest above it; below two that are as near it belongs to none."""
    head = "iter    reward    length    note\n"
    rows = "".join(f"{i:>4}    {i + 0.5:>6}    {i * 10 if i % 2 else '':>6}    \n" for i in range(1, 9))
    (tmp_path / "train.log").write_text(head + rows)
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == [i + 0.5 for i in range(1, 9)]
    assert run.curves["length"].value.tolist() == [10, 30, 50, 70]
    (tmp_path / "train.log").write_text(head + rows.replace("    ", "       "))
    assert all(set(c.value) <= {i + 0.5 for i in range(9)} for n, c in read_run(tmp_path).curves.items() if n == "reward/mean")


def test_lists_of_other_lengths_take_nothing_from_the_names_beside_them(tmp_path: Path) -> None:
    """Samples of a step are no columns."""
    (tmp_path / "train.log").write_text(
        "".join(f"step {i} samples [{', '.join('123456789'[: 2 + i % 5])}] reward {i}.5\n" for i in range(30))
    )
    assert read_run(tmp_path).curves["reward/mean"].value.tolist() == [i + 0.5 for i in range(30)]


@pytest.mark.parametrize(
    ("line", "runs"), [("seed {s} | iter {i} | ret {v}", 2), ("iter {i} arm {s}: ret {v}", 2), ("iter {i} | gpu {s} | ret {v}", 0)]
)
def test_lines_of_several_runs_are_told_apart_by_the_number_that_names_them(tmp_path: Path, line: str, runs: int) -> None:
    """Seeds that take turns are runs of one log, none of whose numbers is lost; another number that changes is no name."""
    rows = [line.format(s=s, i=i, v=i + 10.5 * s) for i in range(1, 9) for s in range(2)]
    (tmp_path / "train.log").write_text("\n".join(rows) + "\n")
    run = read_run(tmp_path)
    assert len(run.others) + bool(run.place) == runs
    if runs:
        assert run.curves["reward/mean"].value.tolist() == list(range(1, 9))
        assert read_run(f"{tmp_path / run.others[0]}").curves["reward/mean"].value.tolist() == [i + 10.5 for i in range(1, 9)]


@pytest.mark.parametrize("row", ["INFO:root:回合 {i} - 奖励 {i}.5", "root:回合 {i} 奖励 {i}.5e+00"])
def test_short_words_of_another_script_behind_a_prefix(tmp_path: Path, row: str) -> None:
    """Two letters that mean the reward say as much as the English word."""
    (tmp_path / "train.log").write_text("".join(row.format(i=i) + "\n" for i in range(1, 19)))
    assert read_run(tmp_path).curves["reward/mean"].value.tolist() == [i + 0.5 for i in range(1, 19)]


@pytest.mark.parametrize(
    ("beside", "read"), [("", True), ("compiled {i}.5 units of code in {i}.2 seconds\nand {i}.1 of {i}.9 left\n", False)]
)
def test_lines_of_one_short_name_are_rows_where_nothing_else_is_written(tmp_path: Path, beside: str, *, read: bool) -> None:
    """Two letters beside a number are its name where all lines have them, and chance among others."""
    (tmp_path / "history.log").write_text("".join(f"{i} sr {i}.5\n" + beside.format(i=i) for i in range(1, 22)))
    try:
        found = [c.value.tolist() for c in read_run(tmp_path).curves.values()]
    except UnreadableRun:
        found = []
    assert ([i + 0.5 for i in range(1, 22)] in found) == read
