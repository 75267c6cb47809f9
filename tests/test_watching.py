"""Watching a growing run: it speaks when the judgement changes, once, and a kill loses nothing."""

import dataclasses
import json
import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from rl_advisor import watching
from rl_advisor.advisors import builtin
from rl_advisor.callbacks import Listener
from rl_advisor.doors.mistakes import NoSuchChoice
from rl_advisor.reading import read_run

from cut_on_disk import cut_run

RUN = Path(__file__).parents[1] / "examples" / "grpo-run"
A, B, C = ("improving", "continue", "none"), ("collapsed", "stop", "policy_update"), ("collapsed", "stop", "reward_signal")


@pytest.fixture(scope="module")
def real():
    """A real assessment, to vary."""
    return builtin.assess(read_run(RUN))


@pytest.mark.parametrize(
    ("said", "spoken"),
    [
        ([(A, "low")], []),
        ([(A, "low"), (A, "low")], [A]),
        ([(A, "high")], [A]),
        ([(A, "medium"), (B, "medium"), (A, "medium"), (B, "medium")], []),
        ([(A, "high"), (B, "low"), (A, "low"), (B, "low")], [A]),
        ([(A, "high"), (B, "low"), (C, "low")], [A]),
        ([(A, "high"), (B, "low"), (B, "low")], [A, B]),
        ([(A, "high"), (B, "low"), (C, "high"), (C, "high")], [A, C]),
    ],
)
def test_hysteresis(real, said, spoken) -> None:
    """Two that agree in a row or one of high confidence are told; flicker and repetition are not."""
    state, heard = watching.State(), []
    for (verdict, call, link), confidence in said:
        update = {"verdict": verdict, "call": call, "first_broken_link": link, "confidence": confidence}
        state, change = watching.heard(state, real.model_copy(update=update))
        heard += [tuple(change["now"].values())] if change else []
    assert heard == spoken


def test_probability_is_no_change(real) -> None:
    """A probability that moves while the judgement stays is not told."""
    state, _ = watching.heard(watching.State(), real.model_copy(update={"confidence": "high"}))
    assert watching.heard(state, real.model_copy(update={"p_continue_pays": 0.9, "confidence": "high"}))[1] is None


class Clock:
    """Time that passes only when somebody sleeps; the folder grows meanwhile."""

    def __init__(self, growth=()) -> None:
        """What happens at each sleep, in order."""
        self.now, self.growth, self.slept = 0.0, list(growth), []

    def sleep(self, seconds: float) -> None:
        """Time passes and the next thing happens."""
        self.now += seconds
        self.slept.append(seconds)
        if self.growth:
            self.growth.pop(0)()


def follow(run: Path, clock: Clock, **how):
    """Exit code and what was told."""
    told: list[dict] = []
    how = {"every": 10.0, "idle": 100.0, "out": None, "webhook": None, "state_file": None} | how
    return watching.watch(run, **how, clock=lambda: clock.now, sleep=clock.sleep, tell=told.append), told


def grown(run: Path, step: int) -> None:
    """The run at ``step`` in place of what it held before."""
    fresh = cut_run(RUN, step, run.with_name(f"cut-{step}"))
    shutil.copytree(fresh, run, dirs_exist_ok=True)


@pytest.fixture
def hook():
    """A server on this machine that refuses the first post and takes the others."""
    taken: list[dict] = []
    answers = [503]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            code = answers.pop() if answers else 204
            if code == 204:
                taken.append(body)
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=partial(server.serve_forever, 0.01), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", taken
        server.shutdown()


def test_growing_run_to_its_end(tmp_path, hook) -> None:
    """A run that collapses is told in order, each change once, although the first post is refused; a second watch says nothing more."""
    url, taken = hook
    run = cut_run(RUN, 100, tmp_path / "run")
    clock = Clock([partial(grown, run, step) for step in (200, 250, 300)])
    how = {"out": tmp_path / "r.md", "webhook": url, "state_file": tmp_path / "state.json"}
    code, told = follow(run, clock, **how)
    assert code == watching.STOP
    assert told[-1]["verdict"] == "collapsed"
    assert [change["number"] for change in taken] == list(range(1, len(told) + 1))
    assert "collapsed" in (tmp_path / "r.md").read_text()
    assert follow(run, Clock(), **how) == (watching.STOP, [])
    assert len(taken) == len(told)


def test_idle_and_unreadable(tmp_path) -> None:
    """A folder in which nothing can be read is looked at ever more rarely and given up with its own code."""
    (tmp_path / "run").mkdir()
    clock = Clock()
    assert follow(tmp_path / "run", clock) == (watching.UNREADABLE, [])
    assert clock.slept[0] <= clock.slept[-1] <= 80


def test_callers_mistakes(tmp_path) -> None:
    """What is not there, an odd address and a foreign state file are the caller's mistakes."""
    foreign = tmp_path / "state.json"
    foreign.write_text('{"a": 1}')
    with pytest.raises(FileNotFoundError):
        follow(tmp_path / "none", Clock())
    for wrong in ({"webhook": "file:///etc/hosts"}, {"state_file": foreign}, {"out": tmp_path / "r.doc"}):
        with pytest.raises(NoSuchChoice):
            follow(RUN, Clock(), **wrong)


def test_kill_and_restart(tmp_path) -> None:
    """A watch killed after it spoke does not repeat itself; killed while it spoke, it says that once more."""
    run, state = cut_run(RUN, 250, tmp_path / "run"), tmp_path / "state.json"
    command = [sys.executable, "-m", "rl_advisor", "watch", run, "--every", "0.2", "--idle", "60", "--state", state, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        said = json.loads(killed.stdout.readline())
        deadline = time.monotonic() + 20
        while watching.load(state).due and time.monotonic() < deadline:
            pass
        killed.kill()
    assert said["verdict"] == "collapsed"
    kept = watching.load(state)
    assert not kept.due
    grown(run, 300)
    assert follow(run, Clock(), state_file=state) == (watching.STOP, [])
    watching.save(dataclasses.replace(watching.load(state), due=True), state)
    assert [told["number"] for told in follow(run, Clock(), state_file=state)[1]] == [said["number"]]


def test_listener_of_the_callbacks(capsys) -> None:
    """It looks only every so many steps, and prints once."""
    listener = Listener(RUN, 50)
    assert [listener.stop_advised(step) for step in (0, 49, 100, 150)] == [False, False, True, True]
    assert capsys.readouterr().out.count("collapsed, stop") == 1


def test_listener_never_ends_a_training(tmp_path, capsys) -> None:
    """What cannot be judged, for whatever reason, is said once and is no advice; the next look tries again."""
    listener = Listener(tmp_path / "none", 10)
    assert [listener.stop_advised(step) for step in (10, 20)] == [False, False]
    assert capsys.readouterr().out.count("cannot judge yet") == 1
    shutil.copytree(RUN, tmp_path / "none")
    assert listener.stop_advised(30)
    assert "collapsed, stop" in capsys.readouterr().out
