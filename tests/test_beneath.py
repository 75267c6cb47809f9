"""Nothing outside a folder is read, also while somebody exchanges files and folders for links; and what is written follows no link."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rl_advisor import workroom
from rl_advisor.intake import beneath
from rl_advisor.reading import UnreadableRun, read_run

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
    with beneath.fenced(house / "open"):
        for path in (
            run / "link",
            house / "open" / "way" / "metrics.jsonl",
            run / "pipe",
            run,
            run / ".." / ".." / "shut" / "run" / "nothing",
        ):
            with pytest.raises(OSError, match=r".*"):
                beneath.opened(path)
        with beneath.opened(run / "metrics.jsonl") as file, beneath.named(run / "metrics.jsonl") as name:
            assert file.read() == Path(name).read_bytes() == INSIDE.encode()


def exchanged(place, other, stop):
    """Put a link to ``other`` in the place of what is there, and back, again and again."""
    aside = place.with_name(place.name + ".aside")
    while not stop.is_set():
        place.rename(aside)
        place.symlink_to(other)
        place.unlink()
        aside.rename(place)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_no_race_leads_outside(house, what):
    """Of many reads while a link comes and goes in the place of a file, or of the run's folder, none sees the other side."""
    run = house / "open" / "run"
    swap = (run / "metrics.jsonl", house / "shut" / "run" / "metrics.jsonl") if what == "file" else (run, house / "shut" / "run")
    stop, read, seen = threading.Event(), 0, set()
    thread = threading.Thread(target=exchanged, args=(*swap, stop))
    thread.start()
    until = time.monotonic() + 1.5
    try:
        while time.monotonic() < until:
            try:
                seen |= {c.raw for c in _read(house / "open", run).curves.values()}
                read += 1
            except (UnreadableRun, OSError):
                continue
    finally:
        stop.set()
        thread.join()
    assert read
    assert seen == {"inside", "reward"}


def _read(root, run):
    with beneath.fenced(root):
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
    with pytest.raises(workroom.Refused):
        workroom.fenced([str(house / "open")], "rl_advisor.workroom:answer", "load_run", [str(run)], [])


def rl_advisor(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "rl_advisor", *arguments], capture_output=True, text=True, check=False, **options)
