"""What of an experiment is on record, and what is not: before, during and after training."""

import json
from pathlib import Path

import pytest
from rl_advisor.answers.brief import brief
from rl_advisor.answers.context import PARTS, context, unrecorded
from rl_advisor.cli import printing
from rl_advisor.reading import read_run
from rl_advisor.tools import assess_run, load_run

METADATA = {
    "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "remote": "https://me:secret@example.org/x.git"},
    "program": "/home/me/train.py",
    "host": "node-17",
    "python": "CPython 3.11.7",
    "args": ["--lr", "1"],
}
DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"


def _run(folder: Path, files: dict[str, str]) -> Path:
    """A short run with these files beside its metrics."""
    (folder / "metrics.jsonl").write_text("\n".join(json.dumps({"step": i, "reward": i / 30}) for i in range(30)))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "there", "missing"),
    [
        ({}, ["training log"], ["configuration", "seed", "code version", "data version", "evaluation command", "checkpoints"]),
        ({"config.yaml": "seed: 3\nlearning_rate: 0.1\n"}, ["configuration", "seed"], ["code version"]),
        ({"config.yaml": "seeds_of_doubt: 3\nreward_seeding: 1\n"}, ["configuration"], ["seed"]),
        ({"files/wandb-metadata.json": json.dumps(METADATA)}, ["code version"], ["configuration", "dependency versions"]),
        ({"code.diff": DIFF}, ["code version"], ["configuration"]),
        ({"git_commit.txt": "0123abc\n"}, ["code version"], []),
        ({"git_commit.txt": "no commit here, for sure\n"}, [], ["code version"]),
        ({"requirements.txt": "torch==2.9\n"}, ["dependency versions"], ["code version"]),
        ({"run_eval.sh": "python evaluate.py\n"}, ["evaluation command"], ["seed"]),
        ({"config.yaml": "dataset: gsm8k\nmax_steps: 30\n"}, ["data version", "stop rule"], ["evaluation command"]),
    ],
)
def test_what_is_on_record(tmp_path: Path, files: dict[str, str], there: list[str], missing: list[str]) -> None:
    found = context(read_run(_run(tmp_path, files)))
    assert set(there) <= {what for part in found.values() for what in part["there"]}
    assert set(missing) <= {what for part in found.values() for what in part["missing"]}
    assert {what for part in found.values() for what in (*part["there"], *part["missing"])} == {w for p in PARTS.values() for w in p}


def test_metadata_tells_the_commit_and_no_secret(tmp_path: Path) -> None:
    """Commit, program and Python become settings; the address with its key, the host and the folder do not."""
    told = json.dumps(load_run(_run(tmp_path, {"files/wandb-metadata.json": json.dumps(METADATA), "code.diff": DIFF})))
    assert '"code.commit":"0123456' in told.replace(" ", "")
    assert '"code.uncommitted_lines":2' in told.replace(" ", "")
    assert not [word for word in ("secret", "node-17", "/home/me") if word in told]


def test_every_door_says_it(tmp_path: Path) -> None:
    """`load` has it whole and in a line, the assessment whole, and the short answers name what confounds."""
    run = _run(tmp_path, {"config.yaml": "seed: 3\n"})
    loaded, judged = load_run(run), assess_run(run)
    assert loaded["context"] == judged["context"]
    assert "on record before: configuration, seed" in printing.text("load", loaded)
    assert unrecorded(loaded["context"]).startswith("code version")
    assert brief("assess", judged)["not_recorded"] == brief("load", loaded)["not_recorded"] == unrecorded(loaded["context"])
