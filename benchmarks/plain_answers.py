"""How long it takes to be told plainly what is no run: processes from their start, on what practitioners point at by mistake.

Run: python benchmarks/plain_answers.py [FILES], where FILES is how many files the largest folder holds (a million).
"""

import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import rl_advisor

MOST = 2.0
"""Seconds."""
ROUNDS = 3
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 123456789\n"
SFT = "".join(f"{{'loss': {2 - i / 1000:.4f}, 'grad_norm': 1.0, 'learning_rate': 2e-05, 'epoch': {i / 100}}}\n" for i in range(1_000))
CRASH = (
    "INFO starting\n" * 1_000
    + "Traceback (most recent call last):\n"
    + '  File "train.py", line 3, in <module>\n    step()\n' * 20
    + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


def filled(path: Path, data: bytes) -> Path:
    """The path, once the data stand in it."""
    path.write_bytes(data)
    return path


def crowded(folder: Path, count: int, name: str) -> Path:
    """The folder, once it holds that many small files."""
    folder.mkdir()
    for i in range(count):
        with (folder / f"{name.format(i)}").open("wb") as file:
            file.write(b"x")
    return folder


def told(path: Path) -> tuple[float, float, int, str]:
    """Wall and processor seconds of the least of some rounds, the exit code, and the first line of what was said."""
    least = (float("inf"), float("inf"))
    for _ in range(ROUNDS):
        before, begin = os.times(), time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "rl_advisor", "assess", str(path)], capture_output=True, text=True, check=False)
        wall, after = time.perf_counter() - begin, os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        least = min(least[0], wall), min(least[1], cpu)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return *least, done.returncode, lines[0].replace(str(path.parent), "")[:110] if lines else "nothing"


def main() -> int:
    """Print each case; the number of those that took too long."""
    count = int(sys.argv[1]) if sys.argv[1:] else 1_000_000
    compileall.compile_dir(Path(rl_advisor.__file__).parent, quiet=2)
    slow = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases: dict[str, Callable[[], Path]] = {
            "an empty file": lambda: filled(folder / "empty.jsonl", b""),
            "an outside file, 64 MB": lambda: filled(folder / "weights.bin", os.urandom(64 << 20)),
            "an outside text": lambda: filled(folder / "notes.txt", b"Buy milk.\n" * 100_000),
            "one line of 64 MB": lambda: filled(folder / "one.json", b"[" + b"1," * (32 << 20) + b"1]"),
            "a git-lfs pointer": lambda: filled(folder / "metrics.jsonl", POINTER.encode()),
            "a crash log": lambda: filled(folder / "job.log", CRASH.encode()),
            "an SFT log": lambda: filled(folder / "train.log", SFT.encode()),
            f"{count:,} files of nobody": lambda: crowded(folder / "crowd", count, "part-{}"),
            f"{count // 10:,} JSON lines files of one letter": lambda: crowded(folder / "lines", count // 10, "part-{}.jsonl"),
        }
        for case, make in cases.items():
            wall, cpu, code, said = told(make())
            slow += cpu > MOST
            print(f"{case:40} wall {wall:5.2f} s  CPU {cpu:5.2f} s  exit {code}  {said}", flush=True)
    return slow


if __name__ == "__main__":
    sys.exit(main())
