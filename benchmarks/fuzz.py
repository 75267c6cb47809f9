"""Damages good files and makes senseless questions for as long as told; prints how many, from which seed, and what broke.

``--part formats`` reads damaged files through ``read_run``; ``--part arguments`` asks every tool of the server in this process.
``--atheris`` lets that library look for inputs which reach new branches; it must be installed.
Broken means an exception that is no answer, more than ``SLOW`` seconds, a file opened for writing, a child process, a socket, unpickling.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "formats"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import test_consoles
import test_telemetry
from rl_advisor import tools
from rl_advisor.doors.budget import tokens
from rl_advisor.reading import UnreadableRun, format_of, read_run

from mutating import arguments, databases, fixtures, mutated, shortened

ROOT = Path(__file__).parents[1]
SLOW = 10
FORBIDDEN = ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class")
escapes: list[str] = []
Seed = tuple[str, bytes]


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Note what reading must never do."""
    if not escapes_watched:
        return
    if event in FORBIDDEN or (event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")):
        escapes.append(f"{event} {str(args)[:200]}")


escapes_watched: list[bool] = []


class TooSlow(Exception):  # noqa: N818 - it says what is wrong
    """Raised by the clock."""


def _ring(*_: Any) -> None:
    raise TooSlow


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within it the clock runs and escapes are noted."""
    escapes_watched.append(True)
    signal.setitimer(signal.ITIMER_REAL, SLOW)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        escapes_watched.clear()


def seeds() -> list[Seed]:
    """Every small real file, the telemetry tools' outputs of the tests, a console and two databases: name and bytes."""
    found = [(f"{p.parent.name}/{p.name}", shortened(p)) for p in fixtures()]
    found += [(name, text.encode()) for _, name, text, _, _ in test_telemetry.TOOLS]
    found.append(("rsl.log", test_consoles.RSL_RL.encode()))
    with tempfile.TemporaryDirectory() as folder:
        for name, script in databases():
            with contextlib.closing(sqlite3.connect(Path(folder) / name)) as made:
                made.executescript(script)
            found.append((name, (Path(folder) / name).read_bytes()))
    found += [("mlruns/0/abc/metrics/loss", b"1700000000000 0.5 1\n1700000001000 0.25 2\n")]
    return found


def read_one(folder: Path, name: str, data: bytes) -> str:
    """The format that read the bytes under that name, after every question about them was answered."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with watched():
        try:
            read_run(path)
            module = format_of(path)
        except UnreadableRun:
            module = format_of(path)
    return module.__name__.rpartition(".")[2] if module else "unclaimed"


def fuzz_formats(seconds: float, seed: int) -> tuple[int, Counter[str], dict[str, str]]:
    """Inputs tried, how many each format claimed, and what broke with the first input that did it."""
    dice, corpus, broken, claimed, tried = random.Random(seed), seeds(), {}, Counter[str](), 0  # noqa: S311 - damage is no secret
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "mlruns/0/abc").mkdir(parents=True)
        (place / "mlruns/0/abc/meta.yaml").write_text("run_id: abc\n")
        while time.monotonic() < end:
            name, data = dice.choice(corpus)
            damaged = mutated(data, dice)
            try:
                claimed[read_one(place, name, damaged)] += 1
            except Exception as error:  # noqa: BLE001 - finding any is the purpose
                note(broken, error, name, damaged)
            if escapes:
                note(broken, RuntimeError(escapes.pop()), name, damaged)
                escapes.clear()
            (place / name).unlink(missing_ok=True)
            tried += 1
    return tried, claimed, broken


def note(broken: dict[str, str], error: BaseException, name: str, data: bytes) -> None:
    """Keep the first input of each kind of failure, in a file when KEEP names a folder."""
    last = traceback.extract_tb(error.__traceback__)[-1:] or [None]
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "rl_advisor" in f.filename]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else str(last[0])
    key = f"{type(error).__name__} at {where}"
    if key not in broken:
        broken[key] = f"{name}: {str(error)[:160]}"
        if keep := os.environ.get("KEEP"):
            (Path(keep) / f"{len(broken)}-{os.getpid()}-{Path(name).name}").write_bytes(data)
        print(f"  broke: {key}: {broken[key]}", file=sys.stderr, flush=True)


async def fuzz_arguments(seconds: float, seed: int) -> tuple[int, Counter[str], dict[str, str]]:
    """Calls made, how many each tool answered or refused, and what broke."""
    from mcp import Client
    from rl_advisor.server import build

    from doors import DATA

    dice, broken, told, tried = random.Random(seed), {}, Counter[str](), 0  # noqa: S311 - as above
    end = time.monotonic() + seconds
    async with Client(build([DATA])) as client:
        schemas = {t.name: t.input_schema for t in (await client.list_tools()).tools}
        while time.monotonic() < end:
            tool = dice.choice(list(schemas))
            asked = arguments(schemas[tool], dice)
            begin = time.monotonic()
            escapes_watched.append(True)
            try:
                wrong, kind = judged(await client.call_tool(tool, asked))
            except Exception as error:  # noqa: BLE001 - finding any is the purpose
                wrong, kind = f"{type(error).__name__}: {error}"[:200], "raised"
            escapes_watched.clear()
            told[f"{tool} {kind}"] += 1
            tried += 1
            wrong = wrong or (f"{time.monotonic() - begin:.0f} s" if time.monotonic() - begin > SLOW else "") or " ".join(escapes)
            escapes.clear()
            if wrong and f"{tool}: {wrong}" not in broken:
                broken[f"{tool}: {wrong}"] = json.dumps(asked)[:600]
                print(f"  broke: {tool}: {wrong}: {json.dumps(asked)[:600]}", file=sys.stderr, flush=True)
    return tried, told, broken


def judged(answer: Any) -> tuple[str, str]:
    """What is wrong with an answer, or nothing; and whether it is one or a refusal."""
    text = answer.content[0].text if answer.content and answer.content[0].type == "text" else ""
    if answer.is_error:
        masked = text.startswith("Error executing tool") and ":" not in text
        leaks = [bad for bad in ("Traceback", "site-packages", str(ROOT), "root:x", 'File "') if bad in text]
        return ("an exception behind a mask" if masked else f"leaks {leaks}" if leaks and "input_value" not in text else ""), "refused"
    if not text:
        return "", "picture"
    if tokens(text) > 4000:
        return "too long", "answered"
    return ("" if json.loads(text) == answer.structured_content else "halves differ"), "answered"


def with_atheris(seconds: int) -> None:
    """Let atheris choose the bytes; the first byte chooses the name under which they are read."""
    import atheris

    corpus = seeds()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        start = place / "corpus"
        start.mkdir()
        for i, (_, data) in enumerate(corpus):
            (start / str(i)).write_bytes(bytes([i % 256]) + data)

        def one(data: bytes) -> None:
            name = corpus[data[0] % len(corpus)][0] if data else "empty.log"
            read_one(place, name, data[1:])
            (place / name).unlink(missing_ok=True)

        atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", f"-timeout={SLOW}", "-max_len=40000", str(start)], one)
        atheris.Fuzz()


def main() -> int:
    """Run what was asked for; the exit code says whether anything broke."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--part", choices=("formats", "arguments", "both"), default="both")
    options.add_argument("--atheris", action="store_true")
    asked = options.parse_args()
    seed = int.from_bytes(os.urandom(4)) if asked.seed is None else asked.seed
    warnings.simplefilter("ignore")
    logging.disable()
    signal.signal(signal.SIGALRM, _ring)
    tools.load_run(ROOT / "tests" / "data" / "doors" / "run-01")
    sys.addaudithook(watch)
    if asked.atheris:
        with_atheris(int(asked.seconds))
        return 0
    share = asked.seconds / (2 if asked.part == "both" else 1)
    parts = {"formats": lambda: fuzz_formats(share, seed), "arguments": lambda: asyncio.run(fuzz_arguments(share, seed))}
    failures = 0
    for part in parts if asked.part == "both" else (asked.part,):
        tried, counts, broken = parts[part]()
        print(f"{part}: {tried:,} inputs, seed {seed}, {len(broken)} kinds of failure; {dict(counts.most_common())}")
        failures += len(broken)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
