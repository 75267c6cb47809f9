"""Tables whose axis falls or is a share, whose columns share a name, whose cells are missing, and those that are no run at all."""

import json
from pathlib import Path

import pytest
from rl_advisor.reading import UnreadableRun, read_run

RISES = [round(10 * i / (i + 5), 3) for i in range(1, 41)]


def rows(step: str, head: str = "step,reward") -> str:
    return head + "\n" + "".join(f"{eval(step, {'i': i})},{r}\n" for i, r in enumerate(RISES, 1))  # noqa: S307 - our own formulas


@pytest.mark.parametrize(
    ("step", "why"),
    [("-i", "counts down from zero"), ("round(i / 1000, 3)", "stays below one"), ("i - 50", ""), ("i / 10", ""), ("41 - i", "")],
)
def test_an_axis_that_counts_down_or_is_a_share_gives_way_to_the_order(tmp_path: Path, step: str, why: str) -> None:
    """A reward that rises in the file rises; steps from below zero up, shares above one and a table that is newest first are steps."""
    (tmp_path / "progress.csv").write_text(rows(step))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == (RISES[::-1] if step == "41 - i" else RISES)
    assert (run.axis == "row") is bool(why) is any(why in gap.why for gap in run.gaps if why)


def test_two_columns_of_one_name_are_said(tmp_path: Path) -> None:
    """Which of them goes by the name, too."""
    (tmp_path / "progress.csv").write_text("step,reward,reward\n" + "".join(f"{i},{r},{-r}\n" for i, r in enumerate(RISES)))
    run = read_run(tmp_path)
    assert run.curves["reward/mean"].value.tolist() == RISES
    assert ["reward.1" in gap.why for gap in run.gaps] == [True]


def test_what_is_null_is_missing_and_what_is_nan_is_nan(tmp_path: Path) -> None:
    """A column that is null throughout is none; null among numbers is how JSON's strict writers put NaN, and stays it."""
    lines = [{"step": i, "reward": r, "never": None, "kl": None if i % 2 else 0.1, "loss": float("nan")} for i, r in enumerate(RISES)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run = read_run(tmp_path)
    points = {curve.raw: curve.step.size for curve in run.curves.values()}
    assert points == {"reward": 40, "kl": 40, "loss": 40}


@pytest.mark.parametrize("head", ["id,text,label", "text,label,score"])
def test_texts_with_labels_are_a_data_set_and_no_run(tmp_path: Path, head: str) -> None:
    """It is said what it was taken for; a few words that come again are names of runs, and a column of steps makes a log of both."""
    cells = {"id": "{i}", "text": "a long review of film number {i} that I liked", "label": "{l}", "score": "0.{i}"}
    line = ",".join(cells[name] for name in head.split(",")) + "\n"
    (tmp_path / "train.csv").write_text(head + "\n" + "".join(line.format(i=i, l=i * 7 % 3) for i in range(1, 90)))
    with pytest.raises(UnreadableRun, match="a data set"):
        read_run(tmp_path)
    (tmp_path / "train.csv").write_text(
        "step,text,reward\n" + "".join(f"{i},a long note on step {i} of the run,{i}.5\n" for i in range(1, 90))
    )
    assert read_run(tmp_path).curves["reward/mean"].step.size == 89


def started(lengths: list[int]) -> list[int]:
    return [i for length in lengths for i in range(1, length + 1)]


@pytest.mark.parametrize(("lengths", "others"), [([5] * 18 + [60, 4], 0), ([60, 5, 50, 6, 70], 2), ([40, 40], 1)])
@pytest.mark.parametrize("name", ["metrics.jsonl", "train.log"])
def test_starts_that_ended_early_are_no_runs(tmp_path: Path, name: str, lengths: list[int], others: int) -> None:
    """The newest long start is read, the other long ones are runs of their own, and how often it was started is said."""
    steps = started(lengths)
    line = '{{"step": {i}, "reward": {n}.5}}' if name.endswith("l") else "step {i}: reward {n}.5, loss 0.{n}"
    (tmp_path / name).write_text("\n".join(line.format(i=i, n=n) for n, i in enumerate(steps)) + "\n")
    run = read_run(tmp_path)
    newest = max(at for at, length in enumerate(lengths) if 5 * length >= max(lengths))
    assert (len(run.others), run.curves["reward/mean"].value[0]) == (others, sum(lengths[:newest]) + 0.5)
    assert any(f"started {len(lengths)} times" in gap.why for gap in run.gaps) is (min(lengths) * 5 < max(lengths))
