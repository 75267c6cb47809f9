"""Nothing outside a folder is read, also while somebody exchanges files and folders for links; and what is written follows no link."""

import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.output import safe_write
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.parsing import confined_files
from rl_advisor.tools.workers import isolated

OUTSIDE = "\n".join(f'{{"step": {i}, "outside": {i}, "reward": {i}}}' for i in range(9))
INSIDE = OUTSIDE.replace("outside", "inside")


@pytest.fixture
def house(tmp_path):
    """A folder that may be read and a secret beside it, both with a run."""
    for name, text in (("open", INSIDE), ("shut", OUTSIDE)):
        (tmp_path / name / "run").mkdir(parents=True)
        (tmp_path / name / "run" / "metrics.jsonl").write_text(text)
    return tmp_path


def test_links_and_what_is_no_file_are_not_opened(house):
    """Links to files, links on the way, pipes and folders are refused; the file itself is not."""
    run = house / "open" / "run"
    (run / "link").symlink_to(house / "shut" / "run" / "metrics.jsonl")
    (house / "open" / "way").symlink_to(house / "shut" / "run")
    os.mkfifo(run / "pipe")
    with confined_files.fenced(house / "open"):
        for path in (
            run / "link",
            house / "open" / "way" / "metrics.jsonl",
            run / "pipe",
            run,
            run / ".." / ".." / "shut" / "run" / "nothing",
        ):
            with pytest.raises(OSError, match=r".*"):
                confined_files.opened(path)
        with confined_files.opened(run / "metrics.jsonl") as file, confined_files.named(run / "metrics.jsonl") as name:
            assert file.read() == Path(name).read_bytes() == INSIDE.encode()


def exchange(place, other):
    """Put a link to ``other`` in the place of what is there, and back."""
    aside = place.with_name(place.name + ".aside")
    place.rename(aside)
    place.symlink_to(other)
    place.unlink()
    aside.rename(place)


def exchanged(place, other, rounds):
    """Exchange them as many times as each message asks; None ends it."""
    while (times := rounds.get()) is not None:
        for _ in range(times):
            exchange(place, other)
        rounds.task_done()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_no_race_leads_outside(house, what):
    """Of many reads while a link comes and goes in the place of a file, or of the run's folder, none sees the other side."""
    run = house / "open" / "run"
    swap = (run / "metrics.jsonl", house / "shut" / "run" / "metrics.jsonl") if what == "file" else (run, house / "shut" / "run")
    rounds, calm, seen = queue.Queue(), 0, set()
    thread = threading.Thread(target=exchanged, args=(*swap, rounds), daemon=True)
    thread.start()
    for times in [*range(0, 60, 3), *range(20)] * 5:
        if not times:
            rounds.join()
        rounds.put(times)
        try:
            seen |= {c.raw for c in _read(house / "open", run).curves.values()}
            calm += not times
        except (UnreadableRun, OSError):
            assert times, "a read that nobody disturbs succeeds"
    rounds.put(None)
    thread.join()
    assert calm == 10
    assert seen == {"inside", "reward"}


def _read(root, run):
    with confined_files.fenced(root):
        return read_run(run)


def test_a_link_that_the_caller_names_is_read(house):
    """A person may name a link on the command line; what it is called decides how it is read."""
    (house / "mine.jsonl").symlink_to(house / "open" / "run" / "metrics.jsonl")
    (house / "mine").symlink_to(house / "open" / "run")
    for name in ("mine.jsonl", "mine"):
        assert "inside" in {c.raw for c in read_run(house / name).curves.values()}


def test_the_server_s_work_is_fenced(house):
    """A run whose folder became a link after it was allowed is refused."""
    run = house / "open" / "run"
    run.rename(house / "open" / "aside")
    run.symlink_to(house / "shut" / "run")
    with pytest.raises(isolated.Refused):
        isolated.fenced([str(house / "open")], "rl_advisor.tools.workers.isolated:answer", {"verb": "load_run", "run": str(run)})


EXAMPLE = Path(__file__).parent / "data" / "doors" / "run-01"


@pytest.mark.parametrize("planted", ["report.html", ".report.html.new"])
def test_a_planted_link_is_not_written_through(tmp_path, planted):
    """A link beside a report, or in its place, does not lead the report into another file."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / planted).symlink_to(victim)
    safe_write.put(tmp_path / "report.html", "<html>")
    assert victim.read_text() == "precious"
    assert (tmp_path / "report.html").read_text() == "<html>"
    assert not (tmp_path / "report.html").is_symlink()


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A disk that is full in the middle of writing costs nothing but the new text."""
    (tmp_path / "report.md").write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        safe_write.put(tmp_path / "report.md", "new")
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]
    assert (tmp_path / "report.md").read_text() == "old"


def test_what_cannot_be_written_is_a_message(tmp_path, monkeypatch):
    """A folder in which nothing may be written gives one line and an exit code, no traceback."""

    def refused(**_):
        raise PermissionError(13, "Permission denied", "report.md")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    done = CliRunner().invoke(main, ["report", str(EXAMPLE), "--out", str(tmp_path / "report.md")])
    assert done.exit_code == 2
    assert done.stderr.strip() == "rl-advisor: report.md: Permission denied"


@pytest.mark.parametrize("step", ["nan", "-5", "inf", "1e400"])
def test_a_step_that_is_none_is_refused(step):
    """``--until nan`` once gave an answer about step 0."""
    done = CliRunner().invoke(main, ["assess", str(EXAMPLE), "--until", step])
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_a_kill_leaves_the_old_or_the_new_file(tmp_path):
    """Killed at any moment while it writes, a whole file stands there: the old one or the new one."""
    place, size = tmp_path / "report.md", 4 << 20
    place.write_text("o" * size)
    put = f"safe_write.put({str(place)!r}, letter * {size})"
    code = f"from rl_advisor.output import safe_write\nprint(flush=True)\nwhile True:\n for letter in 'no': {put}"
    for after in range(8):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(after / 400)
            writer.kill()
        text = place.read_text()
        assert len(text) == size
        assert set(text) in ({"o"}, {"n"})
