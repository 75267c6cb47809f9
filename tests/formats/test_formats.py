"""Each format reads its own files as written, and no other's."""

import gzip
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rl_advisor.discovery import modules
from rl_advisor.reading import format_of, read_run

DATA = Path(__file__).parent.parent / "data" / "formats"
FORMATS = modules("rl_advisor.reading.formats", "FORMAT", "claims", "read")
FIXTURES = {
    "trainer_state.json": "columns", "train.log": "dict_console", "console.log": "block_console",
    "verl_metrics.jsonl": "metrics_jsonl", "metrics.jsonl": "metrics_jsonl", "steps.jsonl": "metrics_jsonl",
    "progress.json": "metrics_jsonl", "progress.csv": "metrics_csv",
    "0.monitor.csv": "metrics_csv", "evaluations.npz": "arrays", "training_args.json": "configuration", "config.yaml": "configuration",
    "args.yml": "configuration", "crash.log": "line_console",
}  # fmt: skip
TEXT = [name for name in FIXTURES if not name.endswith(".npz")]


def part(name):
    module = format_of(DATA / name)
    assert module is not None
    return module.read(DATA / name)


@pytest.mark.parametrize(("name", "expected"), FIXTURES.items())
def test_every_file_is_claimed_by_exactly_one_format(name, expected):
    """One special format claims it, or only the general one does."""
    claiming = [m for m in FORMATS if m.claims(DATA / name)]
    special = [m.FORMAT for m in claiming if not getattr(m, "GENERAL", False)]
    assert (special or [m.FORMAT for m in claiming]) == [expected]


@pytest.mark.parametrize("name", [*FIXTURES, "events.out.tfevents.1.host", "gpu.csv", "notes.md"])
def test_an_empty_file_is_no_run(name, tmp_path):
    """No format of text or tables claims an empty file, whatever its name."""
    (tmp_path / name).touch()
    assert [m.FORMAT for m in FORMATS if m.claims(tmp_path / name) and m.FORMAT != "tensorboard"] == []


@pytest.mark.parametrize(
    ("name", "metric", "step", "value"),
    [
        ("trainer_state.json", "reward", 1, 0.7245656251907349),
        ("trainer_state.json", "eval_accuracy", 20, 0.59375),
        ("console.log", "actor/pg_clipfrac", 1, 0.002367880311794579),
        ("console.log", "actor/entropy", 2, 1.0512844324111938),
        ("verl_metrics.jsonl", "critic/score/mean", 1, 0.125),
        ("metrics.jsonl", "env/all/reward/total", 0, 0.125),
        ("progress.csv", "train/entropy_loss", 2048, -0.021580922021275196),
        ("progress.json", "rollout/ep_rew_mean", 1024, 19.725490196078432),
        ("0.monitor.csv", "monitor/r", 18 + 17, 17.0),
        ("evaluations.npz", "evaluations/results", 6000, -1677.8491852),
    ],
)
def test_values_stand_at_their_steps(name, metric, step, value):
    """A value looked up by eye in the file comes out at its step, under the name that stands there."""
    curve = part(name).curves[metric]
    assert curve.raw == curve.name == metric
    assert curve.value[curve.step == step] == pytest.approx(value)


def test_dict_lines_count_training_rows():
    """Console dicts carry no step: rows are counted, an evaluation has the number of the training row before it."""
    run = part("train.log")
    assert run.axis == "row"
    assert run.curves["reward"].value[0] == 0.7246
    assert run.curves["loss"].step[-1] == 25
    assert list(run.curves["eval_reward"].step) == [20]
    assert [e.kind for e in run.events] == ["non_finite"]


def test_the_progress_bar_gives_the_steps_when_it_moves_evenly(tmp_path):
    """Standard output written in blocks of three rows behind a bar of 60 steps, a row every 10: rows get steps 10 to 60."""
    blocks = [f"{n}/60 [00:01<00:02]\n" for n in (30, 60)]
    rows = ["{'loss': 0.1, 'reward': 1.0, 'epoch': 0.1}\n"] * 3
    bars = [" 50%|## | " + b for b in blocks]
    (tmp_path / "train.log").write_text(" 1%|| 1/60 [\n" + bars[0] + "".join(rows) + bars[1] + "".join(rows) + "100%|###| 70/60 [\n")
    assert part_of(tmp_path / "train.log").axis == "row"
    (tmp_path / "train.log").write_text("".join(f"1%|| {n}/90 [\n" + rows[0] * 3 for n in (30, 60, 90)))
    run = part_of(tmp_path / "train.log")
    assert (run.axis, run.planned_steps) == ("step", 90)
    assert list(run.curves["loss"].step) == [10, 20, 30, 40, 50, 60, 70, 80, 90]


def test_an_evaluation_of_one_score_is_a_row(tmp_path):
    """A dict with one evaluation is read; one with a single name of training is no row of metrics."""
    (tmp_path / "train.log").write_text(
        "Global step 3: {'policy_loss': 0.5, 'reward': 1.0}\nglobal_step 3, eval_metrics: {'eval_math_pass1': 0.5}\n{'loss': 3}\n"
        "Global step 4: {'policy_loss': 0.5, 'reward': 1.0}\nglobal_step 4, eval_metrics: {'eval_math_pass1': 0.6}\n"
    )
    run = part_of(tmp_path / "train.log")
    assert list(run.curves["eval_math_pass1"].value) == [0.5, 0.6]
    assert "loss" not in run.curves


def test_a_step_before_the_dict_counts(tmp_path):
    """Text such as 'Global step 3:' before a dict names its step; numbers may stand bare, in numpy's or torch's wrapping."""
    (tmp_path / "train.log").write_text(
        "INFO Global step 3: {'policy_loss': np.float64(0.5), 'reward': 1.0}\n"
        "INFO Global step 4: {'policy_loss': nan, 'reward': tensor(2.)}\n"
    )
    run = part_of(tmp_path / "train.log")
    assert run.axis == "step"
    assert list(run.curves["reward"].step) == [3, 4]
    assert list(run.curves["reward"].value) == [1.0, 2.0]
    assert math.isnan(run.curves["policy_loss"].value[1])


def test_a_wrapped_dict_is_one_row(tmp_path):
    """A terminal that wraps a dict over lines changes nothing."""
    (tmp_path / "train.log").write_text("{'loss': 0.25, 'rew\nard': 1.5, 'epoch': \n0.1}\n{'loss': 0.5, 'reward': 2.5, 'epoch': 0.2}\n")
    assert list(part_of(tmp_path / "train.log").curves["reward"].value) == [1.5, 2.5]


def test_settings_printed_as_a_dict_are_no_metrics(tmp_path):
    """A dict of settings in a log makes no row."""
    (tmp_path / "train.log").write_text(
        "args {'kl_coef': 0.1, 'lr': 1e-6, 'epochs': 3}\nTraceback (most recent call last):\nValueError: x\n"
    )
    assert format_of(tmp_path / "train.log").FORMAT == "line_console"


def test_crashes_are_events():
    """The traceback comes whole, with the last step before it, and says when memory ran out."""
    (event,) = part("console.log").events
    assert (event.kind, event.step) == ("out_of_memory", 40.0)
    assert "CUDA out of memory" in event.text
    (crash,) = part("crash.log").events
    assert crash.kind == "error"
    assert crash.text.endswith("NotImplementedError")


def test_the_closing_summary_is_no_step(tmp_path):
    """The row with train_runtime repeats the last step and is left out."""
    (tmp_path / "trainer_state.json").write_text(
        '{"log_history": [{"step": 1, "loss": NaN}, {"step": 2, "loss": 3.0},'
        ' {"step": 2, "train_loss": 9.0, "train_runtime": 5.0}], "max_steps": -1}'
    )
    run = read_run(tmp_path / "trainer_state.json")
    assert "train_loss" not in run.curves
    assert list(run.curves["loss"].step) == [1, 2]
    assert run.curves["loss"].value[1] == 3.0
    assert run.planned_steps is None
    (tmp_path / "trainer_state.json").write_text('{"log_history": [{"step": 1, "x": 1}, {"step": 2, "x": 3.0}], "max_steps": 80}')
    assert read_run(tmp_path / "trainer_state.json").planned_steps == 80


def test_step_and_time_lines_give_the_clock():
    """Lines with only a step and a time become a curve with times."""
    curve = part("steps.jsonl").curves["time"]
    assert list(curve.time) == [1795219793.5 + 2.25 * i for i in range(1, 6)]


def test_python_tags_in_yaml_are_read_as_plain_data(tmp_path):
    """An OrderedDict's tag is looked through; a tag that would run code does nothing."""
    assert part("args.yml").config["n_timesteps"] == 40000
    (tmp_path / "config.yaml").write_text("a: !!python/object/apply:os.system ['touch pwned']\nb: 2\n")
    run = part_of(tmp_path / "config.yaml")
    assert run.config["b"] == 2
    assert not Path("pwned").exists()


def test_a_pickled_npz_is_not_loaded(tmp_path):
    """Object arrays would need unpickling: they become a gap."""
    np.savez(tmp_path / "evaluations.npz", timesteps=np.arange(3), results=np.array([{}, {}, {}], dtype=object))
    run = part_of(tmp_path / "evaluations.npz")
    assert not run.curves
    assert "no arrays of matching length" in run.gaps[0].why


@pytest.mark.parametrize(
    ("name", "text", "metric", "steps", "values"),
    [
        ("log.csv", "total timesteps,ep_rew_mean\n10,1.5\n20,2.5\n", "ep_rew_mean", [10, 20], [1.5, 2.5]),
        (
            "progress.csv",
            "training_iteration,episode_reward_mean,date\n1,nan,2020-01-01\n2,3.0,2020-01-01\n3,,2020-01-02\n4,inf,2020-01-02\n",
            "episode_reward_mean",
            [1, 2, 4],
            [math.nan, 3.0, math.inf],
        ),
        ("wandb.csv", '"Step","a - reward","a - reward__MIN","a - reward__MAX"\n1,0.5,0.1,0.9\n', "reward", [1], [0.5]),
        ("run_reward.csv", "Wall time,Step,Value\n1700000000.0,3,0.25\n", "run_reward", [3], [0.25]),
        ("run_return.csv", "Walltime,Step,Value\n1700000000.0,3,0.25\n", "run_return", [3], [0.25]),
        ("many.csv", "seed,step,reward\n0,1,0.1\n0,2,0.2\n0,3,0.3\n1,1,0.9\n1,2,0.8\n1,3,0.7\n", "reward", [1, 2, 3], [0.1, 0.2, 0.3]),
        ("log.tsv", "step\treward\n1\t0.5\n2\t0.75\n3\t0.\t", "reward", [1, 2], [0.5, 0.75]),
    ],
)
def test_tables_with_a_step_column(tmp_path, name, text, metric, steps, values):
    """Homemade tables, RLlib's, exports of W&B and TensorBoard: steps, no bounds, no mixed runs; NaN is a value, empty is none."""
    (tmp_path / name).write_text(text)
    module = format_of(tmp_path / name)
    assert module.FORMAT == "metrics_csv"
    run = module.read(tmp_path / name)
    assert list(run.curves[metric].step) == steps
    np.testing.assert_array_equal(run.curves[metric].value, values)
    assert not any(n.endswith(("__MIN", "__MAX")) for n in run.curves)
    assert bool(run.gaps) == (name in {"many.csv", "log.tsv"})


@pytest.mark.parametrize("text", ["name,score\na,1\nb,2\n", "step,prompt\n1,what is it\n", "", "step\n1\n"])
def test_tables_that_are_no_metrics(tmp_path, text):
    """Without a step column and two numbers a table is not ours."""
    (tmp_path / "table.csv").write_text(text)
    assert [m.FORMAT for m in FORMATS if m.FORMAT == "metrics_csv" and m.claims(tmp_path / "table.csv")] == []


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["train.log", "console.log", "metrics.jsonl", "progress.csv", "0.monitor.csv"])
def test_packed_text_reads_the_same(tmp_path, name, suffix):
    """Gzip and zstd are unpacked on the way in, and a packed file that ends too early gives what could be unpacked."""
    data = (DATA / name).read_bytes()
    packed = gzip.compress(data) if suffix == ".gz" else pa.compress(data, codec="zstd", asbytes=True)
    path = tmp_path / (name + suffix)
    path.write_bytes(packed)
    run = part_of(path)
    assert {n: c.value.size for n, c in run.curves.items()} == {n: c.value.size for n, c in part(name).curves.items()}


def part_of(path):
    module = format_of(path)
    assert module is not None
    return module.read(path)


WHOLE = {name: part(name) for name in TEXT}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(TEXT), share=st.floats(0, 1))
def test_a_cut_file_keeps_what_stands_before_the_cut(tmp_path, name, share):
    """Cut at any byte nothing raises, and all points but at most the last row are those of the whole file."""
    data = (DATA / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])
    module = format_of(path)
    if module is None or FIXTURES[name] != module.FORMAT:
        return
    run = module.read(path)
    for key, curve in run.curves.items():
        if key in WHOLE[name].curves:
            whole = WHOLE[name].curves[key]
            kept = max(curve.step.size - 1, 0)
            assert np.array_equal(curve.value[:kept], whole.value[:kept], equal_nan=True)
            assert curve.step.size <= whole.step.size
