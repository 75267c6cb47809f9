"""Work in a process of its own: what it gives, what the operating system takes from it, and whose turn it is when much is asked."""

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from rl_advisor.server.scheduler import Busy, Scheduler
from rl_advisor.tools import workers
from rl_advisor.tools.workers import POOL, Crowded, Limits, Stopped, in_worker

MIB = 1 << 20


def added(a, b):
    return a + b


def whole(size):
    return b"x" * size


def spin():
    while True:
        pass


def fill(step):
    held = []
    while True:
        held.append(bytearray(step))


def grow(step):
    """Slower than whoever looks at its size, on any machine."""
    held = []
    while True:
        held.append(bytearray(step))
        time.sleep(0.001)


def die():
    os._exit(3)


def refuse(text):
    raise LookupError(text)


def write(path):
    Path(path).write_text("x")


def connect():
    socket.create_connection(("127.0.0.1", 9))


def start():
    subprocess.run(["true"], check=False)


def who():
    return os.getpid()


def test_a_worker_gives_what_the_function_gives():
    """JSON and bytes come back as they are, and one worker serves many calls."""
    assert in_worker(added, 1, 2) == 3
    assert in_worker(added, {"a": [1]}["a"], [None]) == [1, None]
    assert in_worker(whole, 3 * MIB) == b"x" * (3 * MIB)
    assert in_worker(who) == in_worker(who) != os.getpid()


@pytest.mark.parametrize(
    ("function", "arguments", "limits", "said"),
    [
        (spin, (), Limits(cpu_s=0), "0 seconds of processor time"),
        (spin, (), Limits(wall_s=0.2), "more than 0.2 seconds"),
        (fill, (MIB,), Limits(memory=64 * MIB), "more memory"),
        (fill, (1 << 40,), Limits(memory=64 * MIB), "more memory"),
        (die, (), Limits(), "broke the process"),
        (whole, (2 * MIB,), Limits(output=MIB), "larger than an answer"),
        (refuse, ("x",), Limits(), r"broke the reader \(LookupError\)"),
        (write, ("/dev/null/x",), Limits(), "NotADirectoryError"),
        (connect, (), Limits(), "PermissionError"),
        (start, (), Limits(), "PermissionError"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_what_takes_too_much_is_stopped(function, arguments, limits, said):
    """Time, memory, output, other processes and connections are bounded whatever the work does; the next call is answered."""
    with pytest.raises(Stopped, match=said):
        in_worker(function, *arguments, limits=limits)
    assert in_worker(added, 1, 2) == 3
    assert not POOL._held


def test_a_worker_writes_nothing(tmp_path):
    """A file that work tries to write stays empty: the kernel refuses every byte."""
    with pytest.raises(Stopped, match="OSError"):
        in_worker(write, str(tmp_path / "x"))
    assert not (tmp_path / "x").stat().st_size


def test_expected_errors_keep_their_class_and_words():
    """An error that the caller expects arrives as itself, half characters replaced, and the worker lives on."""
    before = in_worker(who)
    with pytest.raises(LookupError, match="no such \\? thing"):
        in_worker(refuse, "no such \ud800 thing".encode("utf-8", "replace").decode(), raises=(LookupError,))
    assert in_worker(who) == before


def test_work_that_nobody_waits_for_is_ended():
    """What ``wanted`` raises ends the worker."""

    def unwanted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_worker(spin, wanted=unwanted)
    assert not POOL._held


def test_of_several_that_are_too_large_together_the_largest_ends(monkeypatch):
    """What the machine bears bounds all workers together, not each one."""
    in_worker(added, 1, 2)
    monkeypatch.setattr(POOL, "_together", 32 * MIB)
    with pytest.raises(Crowded):
        in_worker(grow, 64 * 1024, limits=Limits(memory=1 << 40))


def test_the_next_call_survives_the_loss_of_the_nursery():
    """When the process that makes workers is killed, a new one is started."""
    in_worker(added, 1, 2)
    os.kill(POOL._maker[0].pid, signal.SIGKILL)
    POOL._idle.clear()  # else who is idle would answer

    def answered():
        with contextlib.suppress(Stopped):
            return in_worker(added, 1, 2) == 3

    _until(answered)


def test_workers_end_with_their_caller():
    """A caller that is killed in the middle of work leaves no process behind."""
    code = "import test_workers as t; from rl_advisor.tools.workers import in_worker, POOL; print(in_worker(t.who), flush=True); "
    code += "print(POOL._maker[0].pid, flush=True); in_worker(t.spin)"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as caller:
        left = [int(caller.stdout.readline()) for _ in range(2)]
        caller.kill()
    _until(lambda: not any(_lives(p) for p in left))


def _lives(pid):
    """Whether there is such a process that has not ended."""
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except OSError:  # no /proc on this machine
        return True


def test_newest_and_shortest_go_first(monkeypatch):
    """A short call is answered while calls that never end hold every place and many more wait, however patient the scheduler is."""
    monkeypatch.setattr("rl_advisor.server.scheduler.PATIENCE_S", (math.inf,) * 3)

    async def talk():
        turns, answered = Scheduler(places=2), []
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(turns.taken, _until_over)
            for _ in range(3):
                await _hold(turns, working=2, waiting=4)
                answered.append(await turns.taken(_one))
            group.cancel_scope.cancel()
        return answered, turns

    answered, turns = anyio.run(talk)
    assert answered == [1, 1, 1]
    assert not turns._working and not turns._waiting


def test_a_call_that_took_its_time_thrice_gives_way():
    """Interrupted as often as it may be begun, it is told that the machine is busy."""

    async def talk():
        turns, refused = Scheduler(places=1), anyio.Event()

        async def long():
            with pytest.raises(Busy):
                await turns.taken(partial(_until_over, taken=100.0))
            refused.set()

        async with anyio.create_task_group() as group:
            group.start_soon(long)
            for _ in range(3):
                await _hold(turns, working=1, waiting=0)
                assert not refused.is_set()
                await turns.taken(_one)
            await refused.wait()
        return turns

    turns = anyio.run(talk)
    assert not turns._working and not turns._waiting


async def _one(_):
    return 1


async def _until_over(turn, taken=0.0):
    while True:
        turn.go_on(taken)
        await anyio.lowlevel.checkpoint()


async def _hold(turns, working, waiting):
    """Return once so many calls work and wait."""
    with anyio.fail_after(300):
        while (len(turns._working), len(turns._waiting)) != (working, waiting):
            await anyio.lowlevel.checkpoint()


def test_what_has_run_least_runs(monkeypatch):
    """Beside work that never ends a short piece is not slowed down: the long one stands still meanwhile, and goes on afterwards."""
    monkeypatch.setattr(workers.pool, "PROCESSORS", 1)
    monkeypatch.setattr(POOL, "_at_once", 0)  # a triage before this test may have widened it
    ended = []

    def long():
        with pytest.raises(KeyboardInterrupt):
            in_worker(spin, wanted=lambda _: _raised_when(ended))

    thread = threading.Thread(target=long)
    thread.start()
    _until(lambda: len(POOL._held) == 1 and POOL._held[0].ran > 0)
    held = POOL._held[0]
    with pytest.raises(KeyboardInterrupt):
        in_worker(spin, wanted=lambda _: _raised_when(held.still))
    _until(lambda: not held.still)
    ended.append(1)
    thread.join()
    assert not POOL._held


def _raised_when(ended):
    if ended:
        raise KeyboardInterrupt


def _until(true):
    """Wait for what comes at once on an idle machine and late on a busy one; only what never comes fails."""
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)
