"""Damages good files and makes senseless questions for as long as told; prints how many, from which seeds, and what broke.

``--part formats`` gives damaged files to the format that claims them, every eighth to ``read_run``; ``--part arguments`` asks every
tool of the server in this process. In both hypothesis throws the dice, ``BATCH`` inputs a seed. ``fuzz_atheris.py`` beside this looks
for bytes that reach new branches. Broken means an exception that is no answer, more than ``SLOW`` seconds of processor time or
``MOST_BYTES``, a value of a curve that does not stand in the file, a file opened for writing, a child process, a socket, unpickling.
"""

import argparse
import atexit
import contextlib
import io
import json
import logging
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "formats"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import pandas as pd
import test_consoles
import test_telemetry
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from rl_advisor import tools
from rl_advisor.discovery import modules
from rl_advisor.output.budget import tokens
from rl_advisor.reading import READER_FAILED, UnreadableRun, format_of, read_run
from rl_advisor.reading.parsing.bytes_in import PACK_ERRORS
from rl_advisor.run import Run

from inventing import unheard
from mutating import MADE, damaged, databases, fixtures, questions, shortened

ROOT = Path(__file__).parents[1]
SLOW, BATCH, EACH, WHOLE_EVERY = 10, 500, 3, 8
MOST_BYTES = 1 << 30
"""Beyond what the process has before it reads anything."""
PACKED = {"arrays", "metrics_parquet"}
"""Formats whose values stand in the file in no form that a search would find, or are means of those that do."""
FORBIDDEN = ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class")
escapes: list[str] = []
Seed = tuple[str, bytes]
Told = tuple[int, int, Counter[str], dict[str, str]]


class Most(NamedTuple):
    """How much is tried."""

    seconds: float
    inputs: float


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Note what reading must never do; what is open already, as a pipe to a worker, is no file."""
    if not escapes_watched:
        return
    if event in FORBIDDEN or (event == "open" and not isinstance(args[0], int) and isinstance(args[1], str) and set(args[1]) & set("wax+")):
        escapes.append(f"{event} {str(args)[:200]}")


escapes_watched: list[bool] = []


class TooSlow(BaseException):
    """Raised by the clock; no reader catches it."""


class Broke(Exception):  # noqa: N818 - it says what is wrong
    """An answer that is wrong in itself."""


def _ring(*_: Any) -> None:
    raise TooSlow


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within it the clock runs and escapes are noted."""
    escapes_watched.append(True)
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        escapes_watched.clear()


def recorded(*, metrics: bool = False) -> bytes:
    """GPU telemetry in our names, or a table of metrics."""
    file = io.BytesIO()
    gpu = {"time": [1.8e9 + i for i in range(20)], "gpu": ["0", "1"] * 10, "power_w": [80.0, 300.0] * 10, "utilization": 0.5}
    run = {"step": range(20), "reward": [i / 8 for i in range(20)], "loss": 0.5, "note": ["a", "b"] * 10}
    pd.DataFrame(run if metrics else gpu).to_parquet(file)
    return file.getvalue()


def vector() -> bytes:
    """A returns array as a script saves it."""
    file = io.BytesIO()
    np.save(file, np.arange(40) / 8)
    return file.getvalue()


def seeds() -> list[Seed]:
    """Small real files, the telemetry tools' outputs of the tests, a console and two databases: for every format its smallest few."""
    found = [(f"{p.parent.name}/{p.name}", shortened(p)) for p in fixtures()]
    found += [(name, text.encode()) for _, name, text, _, _ in test_telemetry.TOOLS]
    found.append(("rsl.log", test_consoles.RSL_RL.encode()))
    with tempfile.TemporaryDirectory() as folder:
        for name, script in databases():
            with contextlib.closing(sqlite3.connect(Path(folder) / name)) as made:
                made.executescript(script)
            found.append((name, (Path(folder) / name).read_bytes()))
    found += [*MADE, ("gpu.parquet", recorded()), ("history.parquet", recorded(metrics=True)), ("rewards.npy", vector())]
    kept: dict[str, list[Seed]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        place = run_place(Path(folder))
        for name, data in sorted(found, key=lambda f: len(f[1])):
            kind = read_one(place, name, data)
            (place / name).unlink()
            if kind != "unclaimed" and len(kept[kind]) < EACH:
                kept[kind].append((name, data))
    if unseen := {m.__name__.rpartition(".")[2] for m in modules("rl_advisor.reading.formats", "FORMAT")} - set(kept):
        print(f"  no file to begin with: {', '.join(sorted(unseen))}", file=sys.stderr)
    return [one for kind in sorted(kept) for one in kept[kind]]


def read_one(folder: Path, name: str, data: bytes, *, whole: bool = True) -> str:
    """The format that read the bytes under that name, alone or in the ``whole`` of a reading.

    Raises:
        Broke: a reader failed, or a value does not stand in the file.
    """
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with watched():
        module = format_of(path)
        kind = module.__name__.rpartition(".")[2] if module else "unclaimed"
        if whole:
            _read_whole(path)
        elif module is not None:
            with contextlib.suppress(*PACK_ERRORS, OverflowError):
                held_to(module.read(path), kind, data)
    return kind


def held_to(run: Run, kind: str, data: bytes) -> None:
    """Hold what a format read to the bytes; who reads says which format it was, and so it is said here.

    Raises:
        Broke: a value does not stand in the file.
    """
    if kind not in PACKED and (made_up := next(unheard(data, replace(run, formats=(kind,))), "")):
        raise Broke(f"{kind}: {made_up} does not stand in the file")


def _read_whole(path: Path) -> None:
    """Read it as a run."""
    try:
        gaps = read_run(path).gaps
    except UnreadableRun as refused:
        if READER_FAILED in str(refused):
            raise Broke(str(refused)) from None
        return
    for gap in gaps:
        if READER_FAILED in gap.why:
            raise Broke(gap.why)


def thrown(inputs: st.SearchStrategy[Any], try_one: Callable[[Any], None], most: Most, first: int) -> tuple[int, int]:
    """How many inputs were tried within the bounds, and the last seed; a seed makes at most ``BATCH`` of them."""
    end, tried, number = time.monotonic() + most.seconds, 0, first - 1

    def goes_on() -> bool:
        return time.monotonic() < end and tried < most.inputs

    while goes_on():
        number += 1

        @seed(number)
        @settings(
            max_examples=int(min(BATCH, most.inputs)),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(inputs)
        def batch(one: Any) -> None:
            nonlocal tried
            if goes_on():
                tried += 1
                try_one(one)

        batch()
    return tried, number


def fuzz_formats(most: Most, first: int) -> Told:
    """Inputs tried, the last seed, how many each format claimed, and what broke with the first input that did it."""
    broken: dict[str, str] = {}
    claimed = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        place = run_place(Path(folder))

        def one(made: Seed) -> None:
            claimed[tried_file(place, *made, broken)] += 1

        tried, last = thrown(damaged(seeds()), one, most, first)
    return tried, last, claimed, broken


def run_place(folder: Path) -> Path:
    """The folder, with what a file of an MLflow store needs beside it to be known as one."""
    (folder / "mlruns/0/abc").mkdir(parents=True)
    (folder / "mlruns/0/abc/meta.yaml").write_text("run_id: abc\n")
    return folder


def tried_file(place: Path, name: str, data: bytes, broken: dict[str, str]) -> str:
    """Which format took the bytes, or ``broken``; what broke is noted."""
    kind = "broken"
    try:
        kind = read_one(place, name, data, whole=zlib.crc32(data) % WHOLE_EVERY == 0)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - finding any is the purpose
        note(broken, error, name, data)
    if escapes:
        note(broken, RuntimeError(escapes.pop()), name, data)
        escapes.clear()
    (place / name).unlink(missing_ok=True)
    return kind


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


def fuzz_arguments(most: Most, first: int) -> Told:
    """Calls made, the last seed, how many each tool answered or refused, and what broke."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client
    from rl_advisor.server import build

    broken: dict[str, str] = {}
    told = Counter[str]()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(build([short_run()]))) as client:
        schemas = {t.name: t.input_schema for t in portal.call(client.list_tools).tools}

        def one(question: tuple[str, dict[str, Any]]) -> None:
            tool, asked = question
            escapes_watched.append(True)
            try:
                wrong, kind = judged(portal.call(client.call_tool, tool, asked))
            except Exception as error:  # noqa: BLE001 - finding any is the purpose
                wrong, kind = f"{type(error).__name__}: {error}"[:200], "raised"
            escapes_watched.clear()
            told[f"{tool} {kind}"] += 1
            wrong = wrong or " ".join(escapes)
            escapes.clear()
            if wrong and f"{tool}: {wrong}" not in broken:
                broken[f"{tool}: {wrong}"] = json.dumps(asked)[:600]
                print(f"  broke: {tool}: {wrong}: {json.dumps(asked)[:600]}", file=sys.stderr, flush=True)

        tried, last = thrown(questions(schemas), one, most, first)
    return tried, last, told, broken


def short_run() -> Path:
    """A folder with the first steps of a real run: senseless arguments need no long one, and each new one is worked out anew."""
    from doors import plain_run

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    run = plain_run(folder)
    state = json.loads((run / "trainer_state.json").read_text())
    (run / "trainer_state.json").write_text(json.dumps(state | {"log_history": [r for r in state["log_history"] if r["step"] <= 40]}))
    for rollouts in sorted(run.glob("completions/*"))[1:]:
        rollouts.unlink()
    return folder


def judged(answer: Any) -> tuple[str, str]:
    """What is wrong with an answer, or nothing; and whether it is one or a refusal."""
    text = answer.content[0].text if answer.content and answer.content[0].type == "text" else ""
    if answer.is_error:
        if "seconds of processor time" in text:
            return "a question that its worker could not bear", "refused"
        masked = text.startswith("Error executing tool") and ":" not in text
        leaks = [bad for bad in ("Traceback", "site-packages", str(ROOT), "root:x", 'File "') if bad in text]
        return ("an exception behind a mask" if masked else f"leaks {leaks}" if leaks and "input_value" not in text else ""), "refused"
    if not text:
        return "", "picture"
    if tokens(text) > 4000:
        return "too long", "answered"
    return ("" if json.loads(text) == answer.structured_content else "halves differ"), "answered"


def prepare() -> None:
    """Quiet warnings, set the clock, load what is loaded lazily, and begin to watch."""
    warnings.simplefilter("ignore")
    logging.disable()
    signal.signal(signal.SIGPROF, _ring)
    tools.load_run(ROOT / "tests" / "data" / "doors" / "run-01")
    from rl_advisor.tools.workers import in_worker, isolated

    in_worker(isolated.runs, [], False)  # the workers' own process is started before it counts as an escape
    sys.addaudithook(watch)
    bound_memory()


def bound_memory() -> None:
    """Refuse this process more than a worker of that size would get."""
    import resource

    with contextlib.suppress(OSError):
        held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (int(held.split()[1]) * 1024 + MOST_BYTES, resource.RLIM_INFINITY))


def main() -> int:
    """Run what was asked for; the exit code says whether anything broke."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--inputs", type=float, default=float("inf"), help="of each part, at most")
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--part", choices=("formats", "arguments", "both"), default="both")
    asked = options.parse_args()
    first = int.from_bytes(os.urandom(3)) if asked.seed is None else asked.seed
    prepare()
    parts = {"formats": fuzz_formats, "arguments": fuzz_arguments}
    chosen = list(parts) if asked.part == "both" else [asked.part]
    failures = 0
    for part in chosen:
        tried, last, counts, broken = parts[part](Most(asked.seconds / len(chosen), asked.inputs), first)
        print(f"{part}: {tried:,} inputs, seeds {first} to {last}, {len(broken)} kinds of failure; {dict(counts.most_common())}")
        failures += len(broken)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
