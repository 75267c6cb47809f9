"""What ``load`` says of a folder: what was taken from where, what was left alone and why, and what could not be read."""

import json
import re

from rl_advisor.answers.inventory import inventory
from rl_advisor.cli.printing import text
from rl_advisor.output.clean import clean
from rl_advisor.reading import read_run


def _folder(path):
    rows = [{"step": i, "critic/score/mean": 0.1 * i, "actor/ppo_kl": 0.01, "actor/pg_loss": 0.1} for i in range(1, 9)]
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (path / "dumps").mkdir()
    for step in range(1, 7):
        sample = {"input": "1 + 1 =", "output": f"it is {step}", "score": 1.0, "step": step}
        (path / "dumps" / f"{step}.jsonl").write_text(json.dumps(sample) + "\n")
    (path / "notes.md").write_text("nothing\n")
    (path / "old.jsonl").write_text("")
    (path / "install.log").write_text("collecting torch\nall is well\n")
    (path / "progress.csv").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n")
    return clean(inventory(read_run(path)))


def test_what_was_taken_and_what_was_not(tmp_path):
    """Each file stands in one of three lists: taken, with how much; left alone, with the reason; a gap."""
    said = _folder(tmp_path)
    assert said["taken"] == [
        {"from": "metrics.jsonl", "metrics": 3},
        *({"from": file, "samples": 1} for file in sorted(f for f in said["files"] if f.startswith("dumps/"))),
    ]
    left = {row["where"]: row["why"] for row in said["not_taken"]}
    assert left == {
        "notes.md": "no known log format (.md)",
        "old.jsonl": "empty",
        "install.log": "no known log format (.log)",
    }
    assert [gap["where"] for gap in said["gaps"]] == ["progress.csv"]


def test_it_is_said_in_plain_text(tmp_path):
    """The same for a terminal, in sentences."""
    answer = {"names_as_written": {}, **_folder(tmp_path)}
    page = " ".join(text("load", answer).split())
    assert re.search(r"read: metrics\.jsonl, 3 metrics read: dumps/\S+, \d+ samples? ", page)
    assert "old.jsonl (empty)" in page
    assert "progress.csv: could not be read: a git-lfs pointer" in page


def test_files_of_another_run_are_neither(tmp_path):
    """What lies in another run's folder is named as that run, not as left alone."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        rows = [{"step": i, "critic/score/mean": 0.1 * i + ord(name), "actor/ppo_kl": 0.01} for i in range(1, 9 + ord(name) % 2)]
        (tmp_path / name / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / name / "notes.md").write_text("nothing\n")
    said = clean(inventory(read_run(tmp_path)))
    assert [row["where"] for row in said["not_taken"]] == [f"{said['runs']['this']}/notes.md"]
