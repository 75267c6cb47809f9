"""Watching a growing run: it speaks when the judgement changes, once, and a kill loses nothing."""

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import nullcontext
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rl_advisor.answers import run_folders
from rl_advisor.callbacks import Listener, Log, StopAdvised
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.tools import report_file, watching, webhook
from rl_advisor.tools.advisors import builtin

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
        ([(A, "high"), (B, "medium"), (B, "medium")], [A, B]),
        ([(A, "high"), (B, "low"), (C, "high"), (C, "high")], [A, C]),
        ([(A, "high"), *[(B, "low")] * 3], [A]),
        ([(A, "high"), *[(B, "low")] * 4], [A, B]),
        ([(A, "high"), *[(B, "low"), (A, "low")] * 9], [A]),
        ([(B, "high"), (C, "high")], [B]),
        ([(B, "high"), (C, "high"), (C, "high")], [B, C]),
    ],
)
def test_hysteresis(real, said, spoken) -> None:
    """Looks that agree in a row are told once they weigh enough together, a sure one at once; flicker and repetition are not."""
    state, heard = watching.State(), []
    for (verdict, call, link), confidence in said:
        p = {"low": 0.4, "medium": 0.6, "high": 0.9}[confidence]
        update = {"verdict": verdict, "call": call, "first_broken_link": link, "confidence": confidence}
        update["probabilities"] = {verdict: p, "improving" if verdict == "collapsed" else "collapsed": (1 - p) / 3}
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


def test_a_rule_of_ones_own_is_told_and_the_trackers_at_the_end(tmp_path, capsys) -> None:
    """A broken rule speaks once, ends the watch and its exit code advises to stop; a tracker shows the judgement; no rule, no tracker."""
    pytest.importorskip("tensorboard")
    run = cut_run(RUN, 60, tmp_path / "run")
    (tmp_path / "tb").mkdir()
    how = {"rules": ("reward > -1000", "no_such > 1"), "to": (f"tensorboard:{tmp_path / 'tb'}",), "until_stop": True}
    code, told = follow(run, Clock(), **how)
    assert code == watching.STOP
    broken = [c for c in told if "rule" in c]
    assert any("reward > -1000" in watching.line(c) for c in broken)
    assert len(broken) == 2  # the other cannot be asked, and that is said
    assert list((tmp_path / "tb").rglob("events.*")) and "run.rl-advisor" in capsys.readouterr().err
    for wrong in ({"rules": ("reward is large",)}, {"to": ("nowhere",)}):
        with pytest.raises(UsageError):
            follow(run, Clock(), **wrong)


def test_growing_run_to_its_end(tmp_path, hook) -> None:
    """A run that collapses is told in order, each change once, although the first post is refused; a second watch says nothing more."""
    url, taken = hook
    run = cut_run(RUN, 100, tmp_path / "run")
    clock = Clock([partial(grown, run, step) for step in (200, 300)])
    how = {"out": tmp_path / "r.md", "webhook": url, "state_file": tmp_path / "state.json"}
    code, told = follow(run, clock, **how)
    assert code == watching.STOP
    assert told[-1]["verdict"] == "collapsed"
    assert [change["number"] for change in taken] == list(range(1, len(told) + 1))
    assert len({change["id"] for change in taken}) == len(taken) and all(
        change["now"]["verdict"].replace("_", " ") in change["text"] for change in taken
    )
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
        with pytest.raises(UsageError):
            follow(RUN, Clock(), **wrong)


def test_kill_and_restart(tmp_path) -> None:
    """A watch killed after it spoke does not repeat itself; killed while it spoke, it says that once more."""
    run, state = cut_run(RUN, 250, tmp_path / "run"), tmp_path / "state.json"
    command = [sys.executable, "-m", "rl_advisor", "watch", run, "--every", "0.2", "--idle", "600", "--state", state, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        said = json.loads(killed.stdout.readline())
        deadline = time.monotonic() + 300
        while watching.load(state).due and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.kill()
    assert said["verdict"] == "collapsed"
    kept = watching.load(state)
    assert not kept.due
    grown(run, 300)
    assert follow(run, Clock(), state_file=state) == (watching.STOP, [])
    state.write_text(watching.load(state).but(due=True).model_dump_json())
    assert [told["number"] for told in follow(run, Clock(), state_file=state)[1]] == [said["number"]]


class Trap:
    """Kills its own process without notice when the given moment comes."""

    def __init__(self, at: int) -> None:
        """The number of the moment at which to die; moments are counted as they pass."""
        self.left = at

    def __call__(self, *_) -> None:
        """A moment passes."""
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, work):
        """The same work with a moment before it and one after it."""

        def trapped(*given, **named):
            self()
            result = work(*given, **named)
            self()
            return result

        return trapped


def in_a_process_that_dies(work, at: int) -> bool:
    """Run ``work`` in a copy of this process, with traps around all that watch does to the outer world; whether it was killed."""
    child = os.fork()
    if child == 0:
        trap = Trap(at)
        webhook.posted, os.fsync, Path.replace = map(trap.around, (webhook.posted, os.fsync, Path.replace))
        try:
            work(trap)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def grow_to(step: int, folder: Path) -> None:
    """The small run of ``folder`` with that many steps."""
    rows = [json.dumps({"step": i, "reward": i / 40}) for i in range(1, step + 1)]
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "run" / "metrics.jsonl").write_text("\n".join(rows) + "\n")


def watch_to_the_end(folder: Path, url: str, trap=lambda: None) -> None:
    """Watch the small run, which grows meanwhile; what is told goes to a file."""

    def tell(change) -> None:
        trap()
        with (folder / "told").open("a") as file:
            file.write(f"{change['number']}\n")
        trap()

    how = {"out": folder / "r.md", "webhook": url, "state_file": folder / "state.json", "every": 10.0, "idle": 100.0}
    clock = Clock([partial(grow_to, 40, folder)])
    watching.watch(folder / "run", **how, clock=lambda: clock.now, sleep=clock.sleep, tell=tell)


def test_killed_at_any_moment_nothing_is_lost(tmp_path, hook, real, monkeypatch) -> None:
    """Killed before or after each write and post in turn, then started again: every change is told, and posted once under one name."""
    url, taken = hook

    def judged(run):
        verdict, call, link = {20: A, 40: B}[int(run.last_step)]
        said = {"verdict": verdict, "call": call, "first_broken_link": link, "confidence": "high", "probabilities": {verdict: 0.9}}
        return real.model_copy(update={**said, "step": int(run.last_step), "planned_steps": None})

    monkeypatch.setattr(watching, "advisor_named", lambda _: SimpleNamespace(assess=judged))
    monkeypatch.setattr(
        report_file, "kind_of", lambda _: SimpleNamespace(render=lambda *_: "a page")
    )  # that it is written counts here, not what it says
    for at in itertools.count():
        taken.clear()
        folder = tmp_path / str(at)
        grow_to(20, folder)
        killed = in_a_process_that_dies(partial(watch_to_the_end, folder, url), at)
        watch_to_the_end(folder, url)
        once = list({change["id"]: change for change in reversed(taken)}.values())[::-1]
        # A watch that died before it remembered its first look may meet a run that has moved on: then there is one change to tell.
        assert [change["now"]["verdict"] for change in once] in (["improving", "collapsed"], ["collapsed"] if killed else [])
        assert [change["number"] for change in once] == list(range(1, len(once) + 1))
        assert set((folder / "told").read_text().split()) == {str(change["number"]) for change in once}
        assert (folder / "r.md").stat().st_size
        kept = watching.load(folder / "state.json")
        assert tuple(kept.told.values()) == B and not kept.due and not kept.unsent
        if not killed:
            break
    assert at > 20


def test_refusing_webhook_is_said_once_without_its_address(tmp_path, capsys) -> None:
    """A receiver that moved, refuses or is gone is named by what it answered; the address, which may be a secret, is not repeated."""

    class Moved(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(303)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Moved) as server:
        threading.Thread(target=partial(server.serve_forever, 0.01), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/secret"
        follow(cut_run(RUN, 300, tmp_path / "run"), Clock(), webhook=url, state_file=tmp_path / "state.json")
        server.shutdown()
    said = capsys.readouterr().err
    assert said.count("took no post (it answered 303)") == 1
    assert "changes not taken: 1; the next start posts them" in said
    assert "secret" not in said
    assert len(watching.load(tmp_path / "state.json").unsent) == 1


def test_step_of_the_manual_stops_a_training_that_broke(tmp_path) -> None:
    """The CI step, as it stands in the manual, ends the training and fails when the run collapses."""
    manual = (Path(__file__).parents[1] / "docs" / "watching.md").read_text()
    step = textwrap.dedent(re.search(r"- run: \|\n(.*?)```", manual, re.DOTALL)[1])
    cut_run(RUN, 300, tmp_path / "made")
    train = "import shutil, time; shutil.copytree('made', 'out', dirs_exist_ok=True); time.sleep(600)"
    (tmp_path / "train.py").write_text(train)
    here = (
        f'python() {{ exec {shlex.quote(sys.executable)} "$@"; }}; rl-advisor() {{ {shlex.quote(sys.executable)} -m rl_advisor "$@"; }}\n'
    )
    done = subprocess.run(["bash", "-e", "-c", here + step.replace("--every 60", "--every 0.3")], cwd=tmp_path, timeout=550, check=False)
    assert done.returncode == 1
    assert "Collapsed" in (tmp_path / "report.html").read_text()


def test_listener_of_the_callbacks(capsys) -> None:
    """It looks only every so many steps, and prints once."""
    listener = Listener(RUN, 50)
    assert [listener.stop_advised(step) for step in (0, 49, 100, 150)] == [False, False, True, True]
    assert capsys.readouterr().out.count("finished, collapsed") == 1


def test_listener_never_ends_a_training(tmp_path, capsys) -> None:
    """What cannot be judged, for whatever reason, is said once and is no advice; the next look tries again."""
    listener = Listener(tmp_path / "none", 10)
    assert [listener.stop_advised(step) for step in (10, 20)] == [False, False]
    assert capsys.readouterr().out.count("cannot judge yet") == 1
    shutil.copytree(RUN, tmp_path / "none")
    assert listener.stop_advised(30)
    assert "finished, collapsed" in capsys.readouterr().out


def test_listener_writes_a_report_at_the_end(tmp_path, capsys) -> None:
    """The page of the run as it ended, in its folder, and where it is in a line; without one nothing is written."""
    shutil.copytree(RUN, tmp_path / "run")
    Listener(tmp_path / "run", 50).finish()
    assert "report in" in capsys.readouterr().out
    assert "Collapsed" in (tmp_path / "run" / "rl-advisor-report.html").read_text()
    Listener(tmp_path / "run", 50, report=None).finish()
    assert not capsys.readouterr().out
    Listener(tmp_path / "run", 50, report=None, to=["tensorboard"]).finish()
    assert (tmp_path / "run.rl-advisor" / "judgement").is_dir()
    with pytest.raises(UsageError, match="--to takes"):
        Listener(tmp_path / "run", 50, to=["teletype"])


def test_grace_and_rules_of_a_listener(capsys) -> None:
    """It advises only after the grace; a rule of the user's advises by itself, is told once, and one that cannot be asked is told."""
    listener = Listener(RUN, 50, grace=100)
    assert [listener.stop_advised(step) for step in (100, 200)] == [False, True]
    healthy = Path(__file__).parent / "data" / "doors" / "run-01"
    listener = Listener(healthy, 10, rules=["reward > -1e9", "nothing_like_it > 1"])
    assert [listener.stop_advised(step) for step in (10, 20)] == [True, True]
    said = capsys.readouterr().out
    assert said.count("your rule 'reward > -1e9'") == 1
    assert said.count("no metric is called 'nothing_like_it'") == 1


def test_log_of_a_trainer_without_callbacks(tmp_path) -> None:
    """Rows are kept as numbers, judged, and end a training only where that was asked for."""
    for stop, ends in ((False, False), (True, True)):
        log = Log(tmp_path / str(stop), 10, stop=stop, rules=["reward is nan"], report="end.md")
        with pytest.raises(StopAdvised) if ends else nullcontext():
            for step in range(1, 31):
                log.log(data={"reward": np.float32(step / 30 if step < 25 else "nan"), "note": "text", "grad_norm": 1.0}, step=step)
            log.finish()
        rows = [json.loads(line) for line in (tmp_path / str(stop) / "rl-advisor-log.jsonl").read_text().splitlines()]
        assert set(rows[0]) == {"step", "reward", "grad_norm"}
        assert (tmp_path / str(stop) / "end.md").is_file()


def test_a_recording_beside_the_run_is_no_news(tmp_path) -> None:
    """What the recorder appends does not count as training going on; what the trainer appends does."""
    (tmp_path / "metrics.jsonl").write_text("{}")
    before = run_folders.digest(tmp_path, tmp_path / "gpu.csv")
    (tmp_path / "gpu.csv").write_text("time, gpu")
    assert run_folders.digest(tmp_path, tmp_path / "gpu.csv") == before
    assert run_folders.digest(tmp_path, None) != before
    (tmp_path / "gpus.csv").write_text("the trainer's own")
    assert run_folders.digest(tmp_path, tmp_path / "gpu.csv") != before


def _no_gpu() -> str:
    """Why nothing can be recorded here; empty where something can."""
    from rl_advisor.gpu import recorder

    try:
        recorder.look_for_gpus()
    except UsageError as missing:
        return str(missing)
    return ""


@pytest.mark.skipif(not _no_gpu(), reason="this machine has a GPU")
def test_watching_records_only_where_there_is_a_gpu(tmp_path) -> None:
    """Without one, or without access to it, that is said before the watching begins."""
    words = ["watch", str(RUN), "--record", str(tmp_path / "gpu.csv"), "--idle", "1"]
    done = subprocess.run([sys.executable, "-m", "rl_advisor", *words], capture_output=True, text=True, timeout=550, check=False)
    assert (done.returncode, _no_gpu()[:40] in done.stderr, list(tmp_path.iterdir())) == (2, True, [])
