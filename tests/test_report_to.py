"""The judgement in trackers, each through its own client: what it says there, and that nothing else is touched."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.answers import run_folders
from rl_advisor.api import assess
from rl_advisor.cli.commands import main
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.run import Curve
from rl_advisor.tools import report_file
from rl_advisor.tools.trackers import bare, note, thinned

RUN = Path(__file__).parents[1] / "examples" / "grpo-run"


@pytest.fixture(scope="module")
def judged():
    """The bundled run and its assessment: collapsed at step 152, best before."""
    run = read_run(RUN)
    return run, assess(run)


def test_note_says_the_verdict_by_the_runs_own_names(judged) -> None:
    """The first words are the verdict; metrics go by the names of the charts; marks stand at onset and checkpoint."""
    found = note(*judged)
    assert found.text.startswith("# grpo-run: collapsed, stop\n")
    assert "eval/score" not in found.text
    assert found.tags["verdict"] == "collapsed"
    assert list(found.marks) == ["rl-advisor/first_break", "rl-advisor/best_checkpoint"]
    assert "eval_accuracy" in [c.raw for c in found.curves]
    assert dict.fromkeys(found.marks, 1.0).items() <= {k: v for _, row in found.rows() for k, v in row.items()}.items()


@pytest.mark.parametrize(
    ("name", "kept"), [("run-07", "run-07"), ("../../etc/passwd", "etc-passwd"), ("a b/c\u202e", "a-b-c"), ("...", ""), ("x" * 400, None)]
)
def test_names_are_safe(name: str, kept: str | None) -> None:
    assert bare(name) == kept if kept is not None else len(bare(name)) < 130
    assert not {"/", "\\", "\0"} & set(bare(name))


def test_long_curves_are_thinned() -> None:
    """A million points are two thousand, the ends among them; what is not finite is left out."""
    value = np.r_[np.nan, np.arange(1e6)]
    found = thinned(Curve("a", "a", "f", np.arange(value.size, dtype=float), value))
    assert (found.step.size, found.value[0], found.value[-1]) == (2000, 0, 1e6 - 1)


def test_a_hostile_run_says_nothing_but_text(tmp_path: Path) -> None:
    """Names with escapes, links and keys reach a tracker without them."""
    bad = "reward\u202e\x1b[31m"
    rows = [{"step": i, bad: i / 40, "![x](http://evil.example/a)": 40 - i} for i in range(40)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = read_run(tmp_path)
    found = note(run, assess(run))
    names = [c.raw for c in found.curves]
    assert names
    assert not [word for word in (found.text, *names) if "\u202e" in word or "\x1b" in word]
    assert "![x](" not in found.text


def _events(folder: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    found.Reload()
    return found


def test_tensorboard_shows_text_curves_and_marks(tmp_path: Path, judged) -> None:
    """TensorBoard's own reader finds the verdict as text, the run's tag, and a point of it at each mark."""
    where = Path(report_file.note_to(f"tensorboard:{tmp_path}", *judged, RUN))
    said = _events(where / "judgement")
    assert b"grpo-run: collapsed" in said.Tensors("rl-advisor/judgement")[0].tensor_proto.string_val[0]
    assert len(said.Tensors("eval_accuracy")) > 20
    marks = {folder.name: [p.step for p in _events(folder).Tensors("eval_accuracy")] for folder in where.iterdir() if "step" in folder.name}
    onset, best = judged[1].onset.step, judged[1].best_checkpoint.step
    assert marks == {f"first break at step {onset:.0f}": [onset], f"best checkpoint at step {best}": [best]}


def test_tensorboard_is_written_anew_and_is_no_run(tmp_path: Path, judged) -> None:
    """The second judgement replaces the first; reading the folder around it finds nothing of ours."""
    report_file.note_to(f"tensorboard:{tmp_path}", *judged, RUN)
    first = {p.name for p in tmp_path.rglob("events*")}
    report_file.note_to(f"tensorboard:{tmp_path}", *judged, RUN)
    assert len({p.parent for p in tmp_path.rglob("events*")}) == 3 == len(list(tmp_path.rglob("events*"))), first
    assert run_folders.runs_below(tmp_path) == []
    assert [p.name for p in tmp_path.iterdir()] == ["grpo-run.rl-advisor"]
    (tmp_path / "metrics.jsonl").write_text("\n".join(json.dumps({"step": i, "reward": i / 9}) for i in range(9)))
    assert read_run(tmp_path).files == ("metrics.jsonl",)


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_what_is_not_ours_is_left_alone(tmp_path: Path, judged, there: str) -> None:
    """A file, a folder with something else, or a link where our folder goes: refused, and as it was."""
    target, elsewhere = tmp_path / "grpo-run.rl-advisor", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if there == "file":
        target.write_text("mine")
    elif there == "folder":
        (target / "judgement").mkdir(parents=True)
        (target / "judgement" / "thesis.md").write_text("mine")
    else:
        target.symlink_to(elsewhere)
    with pytest.raises(UsageError, match="holds something else"):
        report_file.note_to(f"tensorboard:{tmp_path}", *judged, RUN)
    assert not list(elsewhere.iterdir())
    assert {p.name for p in tmp_path.iterdir()} == {target.name, "elsewhere"}


def test_beside_the_run_and_nothing_in_it(tmp_path: Path) -> None:
    """Without a folder the events stand beside the run, whose own files stay as they are."""
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    (run / "metrics.jsonl").write_text("\n".join(json.dumps({"step": i, "reward": i / 30}) for i in range(40)))
    before = run_folders.fingerprint(run)
    told = CliRunner().invoke(main, ["report", str(run), "--to", "tensorboard", "--json"])
    assert json.loads(told.stdout) == {"told": [str(run.parent / "mine.rl-advisor")]}
    assert run_folders.fingerprint(run) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--to", "comet"], "--to takes"),
        (["--to", "tensorboard:nowhere/at/all"], "no folder"),
        (["--to", "wandb:a/b/c/d"], "all three"),
        ([], "--out FILE or --to TRACKER"),
    ],
)
def test_mistakes_name_the_choices(words: list[str], says: str) -> None:
    told = CliRunner().invoke(main, ["report", str(RUN), *words])
    assert told.exit_code == 2
    assert says in told.stderr


def test_mlflow_gets_tags_marks_and_a_page(tmp_path: Path, judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new run and the same run again, in MLflow's store of files through MLflow's own client."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path}")
    run = report_file.note_to("mlflow", *judged, RUN).rpartition(" ")[2]
    tracking = mlflow.MlflowClient()
    tracking.set_tag(run, "mlflow.note.content", "my own words")
    report_file.note_to(f"mlflow:/{run}", *judged, RUN)
    held = tracking.get_run(run).data
    assert (held.tags["rl-advisor.verdict"], held.tags["mlflow.note.content"]) == ("collapsed", "my own words")
    assert {m.step for m in tracking.get_metric_history(run, "rl-advisor/first_break")} == {152}
    assert len(tracking.get_metric_history(run, "eval_accuracy")) > 20
    page = next((tmp_path / "1").glob("*/artifacts/rl-advisor.md"), None) or next(tmp_path.rglob("rl-advisor.md"))
    assert "grpo-run: collapsed" in page.read_text()
    with pytest.raises(UsageError):
        report_file.note_to(f"mlflow:/{'0' * 32}", *judged, RUN)


def test_wandb_without_a_key_keeps_a_run_here(tmp_path: Path, judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """What W&B's own client wrote holds the marks at their steps, and our reader of its files finds them."""
    wandb = pytest.importorskip("wandb")
    wandb.teardown()  # what an earlier test told its one service of the process
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    where = report_file.note_to("wandb:demo", *judged, RUN)
    wandb.teardown()
    assert "offline-run" in where
    held = read_run(Path(where.partition(": ")[2]))
    raw = {c.raw: c for c in held.curves.values()}
    assert raw["rl-advisor/first_break"].value.size == 1
    assert raw["eval_accuracy"].value.size > 20


def test_trackio_gets_an_alert_and_marks(tmp_path: Path, judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Trackio's own store: an alert of a broken run, marks at their steps."""
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    pytest.importorskip("trackio")
    import sqlite3

    report_file.note_to("trackio:demo", *judged, RUN)
    with sqlite3.connect(next(tmp_path.glob("demo*.db"))) as base:
        ((title, level, step),) = base.execute("SELECT title, level, step FROM alerts").fetchall()
        assert ("collapsed" in title, level, step) == (True, "error", 300)
        ((mark,),) = base.execute("SELECT step FROM metrics WHERE CAST(metrics AS TEXT) LIKE '%first_break%'").fetchall()
    assert mark == 152
