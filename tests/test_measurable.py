"""Numbers beyond all measure: they cost a point or a setting, and no command."""

import pytest
from rl_advisor import api
from rl_advisor.answers.settings_check import check_of
from rl_advisor.output.layout import spark
from rl_advisor.reading import read_run

ROWS = "".join(f'{{"step": {i}, "reward": {i / 9}, "kl": 0.01}}\n' for i in range(1, 10))


@pytest.mark.parametrize(
    ("line", "points", "infinite"),
    [
        ('{"step": 10000000, "reward": 3}', 10, 0),
        ('{"step": 100000000000000, "reward": 3}', 9, 0),
        ('{"step": 10, "reward": 3e38}', 10, 0),
        ('{"step": Infinity, "reward": 3}', 9, 0),
        ('{"step": 1.7976931348623157e308, "reward": 3}', 9, 0),
        ('{"step": 10, "reward": -1e308}\n{"step": 11, "reward": 1e308}', 11, 2),
        ('{"step": 10, "reward": 1' + "0" * 400 + "}", 10, 1),
    ],
)
def test_a_point_beyond_all_measure_costs_itself(tmp_path, line, points, infinite):
    """The others are judged, and what was left out is said."""
    (tmp_path / "metrics.jsonl").write_text(f"{ROWS}{line}\n")
    run = read_run(tmp_path)
    value = run.curves["reward/mean"].value
    assert (value.size, int(abs(value).max() == float("inf")) and sum(abs(value) == float("inf"))) == (points, infinite)
    assert any("no step that can be counted" in gap.why for gap in run.gaps) == (points < 10)
    assert api.assess(run).verdict


def test_a_name_beyond_all_measure_costs_itself(tmp_path):
    """A name of a book's length is left out and said; one of a thousand characters stays."""
    (tmp_path / "metrics.jsonl").write_text(f'{ROWS}{{"step": 10, "{"a" * 1000}": 1, "{"b" * 1001}": 1}}\n')
    run = read_run(tmp_path)
    assert [name[0] for name in run.curves if len(name) > 99] == ["a"]
    assert any("1 metrics with names of more than 1,000" in gap.why for gap in run.gaps)


@pytest.mark.parametrize("value", ["1e308", "-1e308"])
def test_a_reward_beyond_all_measure_is_not_called_nan(tmp_path, value):
    """It is infinite: that no episode ended says nothing of it, and NaN does."""
    for name, reward in (("infinite", value), ("nothing", "NaN")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text("".join(f'{{"step": {i}, "reward": {reward}}}\n' for i in range(30)))
    infinite, nothing = (str(api.assess(read_run(tmp_path / name)).model_dump()) for name in ("infinite", "nothing"))
    assert ("nothing to average" in infinite, "nothing to average" in nothing) == (False, True)


def test_values_of_the_least_and_the_largest_size_are_drawn():
    """Seven over their range is infinite, or the range itself; the curve is drawn all the same."""
    assert spark([-1e308, 0.0, 1e308]) == "▁▅█"
    assert (spark([0.0, 5e-324, None, 0.0]), spark([0.5, 0.5]), spark([0.0, 1.0, 7.0])) == ("▁█ ▁", "▁▁", "▁▂█")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", '{"lr": 1' + "0" * 400 + ', "steps": NaN}'),
        ("config.json", '{"lr": 1' + "0" * 400 + ', "max_steps": 1' + "0" * 30 + "}"),
        ("config.yaml", "learning_rate: 1" + "0" * 400 + "\nmax_steps: 10\n"),
        ("config.yaml", "lr: 1" + ":1" * 200_000 + "\nsteps: 5\n"),
        ("config.yaml", "lr: 1" + ":1" * 2_000 + ".5\nsteps: 5\n"),
        ("config.yaml", "lr: 1e-4\nmax_time: 12:30:00\n"),
    ],
)
def test_a_setting_beyond_all_measure_costs_itself(tmp_path, name, text):
    """It is no number to any check; a time of day is what it says."""
    (tmp_path / "metrics.jsonl").write_text(ROWS)
    (tmp_path / name).write_text(text)
    run = read_run(tmp_path)
    assert check_of(tmp_path)["checks"]
    assert "max_time" not in run.config or run.config["max_time"] == "12:30:00"


@pytest.mark.parametrize(
    ("values", "points"),
    [
        ([0.3 + i / 100 if i % 10 == 9 else 0.0 for i in range(60)], 6),
        ([0.3 + i / 100 if i % 10 == 0 else -1.0 for i in range(60)], 6),
        ([0.3 if i % 10 == 9 else 0.0 for i in range(60)], 60),
        ([0.3 + i / 100 if i % 10 == 9 and i != 19 else 0.0 for i in range(60)], 60),
        ([0.3 + i / 100 if i in (3, 4, 17, 22, 41, 58) else 0.0 for i in range(60)], 60),
    ],
    ids=["every tenth", "from the first, -1 between", "a flag", "one missing", "here and there"],
)
def test_what_is_measured_every_so_many_rows_holds_nothing_between(tmp_path, values, points):
    """A score of 0 in nine rows of ten is no score where the tenth comes as regularly as an evaluation does."""
    rows = (f'{{"step": {i}, "reward": {0.1 + i / 90}, "val_mean_reward": {v}}}' for i, v in enumerate(values))
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows))
    run = read_run(tmp_path)
    assert next(c for c in run.curves.values() if c.raw == "val_mean_reward").value.size == points
    assert any("between" in gap.why for gap in run.gaps) == (points < 60)
