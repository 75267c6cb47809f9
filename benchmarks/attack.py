"""Races, kills and silent connections at length: how many reads left the root, how many files were lost, whether the server came back.

``python benchmarks/attack.py [--races 5000] [--kills 200] [--connections 5000]``; the suite does a few of each (``tests/test_beneath.py``,
``tests/test_network.py``). The exit code says whether all held.
"""

import argparse
import contextlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

import httpx2  # noqa: E402
from rl_advisor.reading import UnreadableRun  # noqa: E402

from test_beneath import INSIDE, OUTSIDE, _read, exchange  # noqa: E402
from test_server import http_server  # noqa: E402


def races(folder: Path, wanted: int) -> tuple[int, int, int]:
    """Reads tried, answered, and those that saw the other side; half while a file is exchanged, half while its folder is."""
    tried = answered = left = 0
    for name, text in (("open", INSIDE), ("shut", OUTSIDE)):
        (folder / name / "run").mkdir(parents=True)
        (folder / name / "run" / "metrics.jsonl").write_text(text)
    run, other = folder / "open" / "run", folder / "shut" / "run"
    for swap in ((run / "metrics.jsonl", other / "metrics.jsonl"), (run, other)):
        stop, until = threading.Event(), tried + wanted // 2

        def exchanged(swap: tuple[Path, Path] = swap, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                exchange(*swap)

        thread = threading.Thread(target=exchanged)
        thread.start()
        try:
            while tried < until:
                tried += 1
                with contextlib.suppress(UnreadableRun, OSError):
                    names = {c.raw for c in _read(folder / "open", run).curves.values()}
                    answered += 1
                    left += "outside" in names
            if not thread.is_alive():
                sys.exit("nobody exchanged anything")
        finally:
            stop.set()
            thread.join()
    return tried, answered, left


def kills(folder: Path, wanted: int) -> tuple[int, int]:
    """Writers killed, each at another moment of its writing, and files that were neither the old nor the new one."""
    place, size, lost = folder / "report.md", 1 << 20, 0
    place.write_text("o" * size)
    put = f"safe_write.put({str(place)!r}, letter * {size})"
    code = f"from rl_advisor.output import safe_write\nprint(flush=True)\nwhile True:\n for letter in 'no': {put}"
    for number in range(wanted):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep((number % 40) / 4000)
            writer.kill()
        text = place.read_text()
        lost += len(text) != size or set(text) not in ({"o"}, {"n"})
    return wanted, lost


def connections(folder: Path, wanted: int) -> tuple[int, int, float]:
    """Connections that say half a request or nothing, honest requests answered beside and after them, and the slowest of those."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    idle: list[socket.socket] = []
    answered, slowest = 0, 0.0
    with http_server(folder) as url:
        port = int(url.split(":")[2].split("/")[0])
        for number in range(wanted):
            with contextlib.suppress(OSError):
                idle.append(socket.create_connection(("127.0.0.1", port), timeout=5))
                if number % 2:
                    idle[-1].sendall(b"POST /mcp HTTP/1.1\r\nHost: 127")
        for closing in (False, True):
            for one in idle if closing else ():
                one.close()
            for _ in range(5):
                begun = time.monotonic()
                with contextlib.suppress(httpx2.HTTPError):
                    answered += httpx2.get(url.rsplit("/", 1)[0] + "/", timeout=20).status_code < 500
                slowest = max(slowest, time.monotonic() - begun)
    return len(idle), answered, slowest


def main() -> int:
    """Do all three and print what was counted."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, number in (("races", 5000), ("kills", 200), ("connections", 5000)):
        options.add_argument(f"--{name}", type=int, default=number)
    asked = options.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tried, answered, left = races(place, asked.races) if asked.races else (0, 0, 0)
        print(f"{tried:,} racing reads, {answered:,} answered, {left} left the root", flush=True)
        killed, lost = kills(place, asked.kills) if asked.kills else (0, 0)
        print(f"{killed} writers killed, {lost} files lost", flush=True)
        opened, honest, slowest = connections(place, asked.connections) if asked.connections else (0, 10, 0.0)
        print(f"{opened:,} silent connections, {honest} of 10 honest requests answered, the slowest in {slowest:.1f} s", flush=True)
    return int(bool(left or lost or honest < 10))


if __name__ == "__main__":
    sys.exit(main())
