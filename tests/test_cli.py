"""The terminal door: exit codes, pure JSON, plain text, and quiet behaviour in pipes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main

RUN = Path(__file__).parent / "data" / "doors" / "run-01"
ASSESSMENT = {
    *("schema", "run", "step", "planned_steps", "verdict", "call", "p_continue_pays", "confidence", "best_checkpoint", "first_broken_link"),
    *("onset", "findings", "ruled_out", "could_not_see", "next_experiment", "summary"),
}
KEYS = {
    "load": {"frameworks", "formats", "files", "steps", "metrics", "unmapped", "rollouts", "telemetry", "checkpoints", "config", "gaps"},
    "samples": {"step", "highest", "lowest", "random", "statistics", "reward", "gaps"},
    "gpu": {"gpus", "hours", "step_period_s", "phases", "idle", "interference", "headroom_gib", "cannot_tell", "gaps"},
    "assess": ASSESSMENT,
}

EMPTY = {"gpu": 3}
"""Exit codes of commands that find nothing of theirs in the run of these tests."""


def ask(*words):
    """The command in this process."""
    return CliRunner().invoke(main, [str(w) for w in words])


def answer(*words):
    """The JSON answer of a command, of which nothing else may stand on standard output."""
    result = ask(*words, "--json")
    assert result.exit_code == EMPTY.get(words[0], 0), result.output
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", sorted(KEYS))
def test_json_has_the_promised_keys(command):
    """Programs find every key that the contract names."""
    assert KEYS[command] <= answer(command, RUN).keys()


def test_load_counts_what_is_there():
    """The inventory of a run agrees with its files."""
    found = answer("load", RUN)
    assert found["frameworks"] == ["trl"]
    assert found["steps"] == {"first": 0, "last": 300, "count": 301, "planned": 300, "unit": "updates"}
    assert [c["step"] for c in found["checkpoints"]] == [100, 150, 300]
    assert {k: found["rollouts"][k] for k in ("count", "steps")} == {"count": 384, "steps": [8, 169, 300]}
    assert found["telemetry"] == {"gpus": 0, "samples": 0, "hours": 0}
    reward = next(m for m in found["metrics"] if m["name"] == "reward/mean")
    assert reward == {"name": "reward/mean", "raw": "reward", "source": "trainer_state.json", "points": 271, "link": "reward_signal"}


def test_curves_give_shape_onset_and_sketch():
    """A curve's answer holds its directions with intervals, its onset, and at most 40 points."""
    found = answer("curves", RUN, "--metric", "reward/mean")["metrics"]
    assert [m["name"] for m in found] == ["reward/mean"]
    assert found[0]["overall"].keys() >= {"direction", "change", "interval"}
    low, high = found[0]["onset"]["interval"]
    assert low <= 166 <= high
    assert 20 < len(found[0]["sketch"]) <= 40


def test_until_hides_what_came_later():
    """At step 100 of a run that fell at step 166 nothing is known of the fall."""
    early = answer("curves", RUN, "--metric", "reward/mean", "--until", 100)["metrics"][0]
    assert early["steps"][1] <= 100
    assert early["last"] > 0.8
    assert [c["step"] for c in answer("load", RUN)["checkpoints"] if c["step"] <= 100] == [100]
    judged = answer("assess", RUN, "--until", 100)
    assert judged["step"] == 100
    assert judged["best_checkpoint"]["path"] in {"checkpoint-100", None}


def test_samples_stand_in_envelopes():
    """What the model wrote is marked, with file and row; the random samples are of the latest step."""
    found = answer("samples", RUN, "--count", 2)
    assert [len(found[kind]) for kind in ("highest", "lowest", "random")] == [2, 2, 2]
    assert {300} == {s["step"] for s in found["random"]}
    for sample in (s for kind in ("highest", "lowest", "random") for s in found[kind]):
        assert {"untrusted", "from"} == sample["response"].keys()
        assert sample["response"]["from"].startswith("completions/completions_")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["load", "no/such/run"], 2, "does not exist"),
        (["load", RUN.parent / "run-1"], 2, "run-01"),
        (["curves", RUN, "--metric", "rewrad"], 2, "reward/mean"),
        (["assess", RUN, "--advisor", "oracle"], 2, "builtin"),
        (["load", RUN, "--map", "reward"], 2, "ROLE=NAME"),
        (["load", RUN, "--map", "reward/mean=nothing_like_it"], 2, "nothing_like_it"),
        (["report", RUN, "--out", "x.docx"], 2, ".md"),
        (["report", RUN, "--out", "no/such/folder/x.md"], 2, "no/such/folder"),
        (["compare", RUN], 2, "two"),
        (["compare", RUN, RUN, "--usual"], 2, "one RUN"),
        (["serve", "--http", "0.0.0.0:80"], 2, "127.0.0.1"),
        (["serve", "--http", "8000"], 2, "HOST:PORT"),
        (["serve", "--root", "no/such/folder"], 2, "no/such/folder"),
        *(
            ([*command.split()], 2, "Missing argument")
            for command in ("eval", "load", "assess", "memory", "critic", "case note x", "triage")
        ),
        (["record"], 2, "Missing option '--out'"),
        (["eval", RUN], 2, "labels.json"),
        (["sing"], 2, "No such command"),
    ],
)
def test_mistakes_exit_with_2_and_name_the_choices(words, code, said):
    """A mistake of the caller prints nothing on standard output and says what would have been right."""
    result = ask(*words)
    assert code == result.exit_code, result.output
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_an_empty_folder_exits_with_3_and_says_what_was_looked_for(tmp_path):
    """Nothing readable is not the caller's mistake: the message says what was found and what would have been read."""
    (tmp_path / "notes.txt").write_text("hello")
    result = ask("assess", tmp_path, "--json")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "trainer_state.json" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["load", "curves", "samples", "gpu", "assess"])
def test_plain_text_is_readable(command):
    """Without --json a person reads text: no JSON, no envelopes, no escapes."""
    result = ask(command, RUN)
    assert result.exit_code == EMPTY.get(command, 0)
    assert len(result.stdout) > 40
    assert not any(mark in result.stdout for mark in ("{", "untrusted", "\x1b", "None"))


def test_help_is_fast_and_needs_nothing_heavy():
    """Help answers without importing numpy or pandas."""
    code = "import sys; from rl_advisor.cli import main; main(['assess', '--help'], standalone_mode=False); print(sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Judge RUN" in modules
    assert not any(f"'{heavy}'" in modules for heavy in ("numpy", "pandas", "mcp", "pydantic", "scipy"))


def command(*words, **more):
    """The command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "rl_advisor", *map(str, words)], capture_output=True, text=True, check=False, **more)


def test_the_process_keeps_json_apart_from_everything_else(tmp_path):
    """In a real process JSON is the only output, also when the run has damaged parts."""
    copy = tmp_path / "run"
    copy.mkdir()
    state = (RUN / "trainer_state.json").read_text()
    (copy / "trainer_state.json").write_text(state[: len(state) // 2])
    done = command("load", copy, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [g["where"] for g in found["gaps"]] == ["trainer_state.json"]
    assert command("load", tmp_path / "nothing").returncode == 2


def test_a_closed_pipe_is_quiet():
    """`rl-advisor curves RUN | head -1` does not complain."""
    line = f"{sys.executable} -m rl_advisor curves {RUN} | head -1"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_an_advisor_without_its_client_falls_back_and_says_so(monkeypatch):
    """Without the extra the built-in advisor answers, and standard error says how to install the other."""
    monkeypatch.setitem(sys.modules, "anthropic", None)
    result = ask("assess", RUN, "--advisor", "anthropic", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdict"] == "plateaued"
    assert '".[anthropic]"' in result.stderr


def test_a_store_cannot_be_watched():
    """An address is answered with what to do instead, not with a missing file."""
    told = ask("watch", "s3://bucket/run")
    assert told.exit_code == 2
    assert "watch follows files on this machine" in told.output


def test_a_run_without_tables_is_judged_without_pandas_scipy_or_pyarrow(tmp_path):
    """What a run does not need is not loaded: it would take longer than the judgement."""
    rows = ({"step": i, "reward/mean": i / 60, "kl": 0.01} for i in range(60))
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code = (
        "import sys; from rl_advisor import tools; tools.assess_run(sys.argv[1]); print({'pandas', 'scipy', 'pyarrow'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"


def test_a_run_is_compared_with_what_is_usual(tmp_path):
    """One run alone: each curve and where it stands among sound runs of others, and a page with their bands."""
    assert answer("compare", RUN, "--usual", "--until", 100) == answer("curves", RUN, "--until", 100)
    assert "sound GRPO runs" in ask("compare", RUN, "--usual").stdout
    page = tmp_path / "page.html"
    assert ask("compare", RUN, "--usual", "--out", page).exit_code == 0
    assert re.search(r'"usual": ?\[[\d.]+', page.read_text(encoding="utf-8"))


def test_assess_writes_the_page_of_the_same_judgement(tmp_path):
    """One judgement, printed and written; a wrong ending is refused before anything is read."""
    page = tmp_path / "page.md"
    plain = CliRunner().invoke(main, ["assess", str(RUN), "--json"])
    both = CliRunner().invoke(main, ["assess", str(RUN), "--json", "--out", str(page)])
    assert both.exit_code == 0
    assert json.loads(both.stdout) == json.loads(plain.stdout)
    assert json.loads(plain.stdout)["verdict"].replace("_", " ") in page.read_text().lower()
    assert CliRunner().invoke(main, ["assess", str(RUN), "--out", str(tmp_path / "page.doc")]).exit_code == 2


def test_help_names_only_bounds_that_there_are() -> None:
    """A number without bounds says none; one with bounds says them."""
    said = CliRunner().invoke(main, ["triage", "--help"]).output
    assert "None" not in said
    assert "0<=x<=1" in said
