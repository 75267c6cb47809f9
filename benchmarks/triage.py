"""What the triage costs: runs a second and core, memory of a worker, linearity, kills, a second look, and a lost worker of Ray.

python benchmarks/triage.py runs FOLDER COUNT            # made runs of the proving ground's sample, each again and again with other numbers
python benchmarks/triage.py local FOLDER 10 100 1000     # processes of this machine: runs a second and core, memory
python benchmarks/triage.py kills FOLDER 20              # killed at random moments; rows lost or doubled
python benchmarks/triage.py bucket FOLDER 100 --engine ray   # through a loopback object store
python benchmarks/triage.py lost FOLDER                  # Ray, one worker killed in the middle
python benchmarks/triage.py warm FOLDER                  # every run of a folder in one warm process: runs a processor second
python benchmarks/triage.py common FOLDER 50             # sweeps of known truth: is the setting found, and luck not (FOLDER is not read)
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[1] / "evals" / "proving_ground" / "sample.tar.gz"
_NUMBER = re.compile(rb"(?<![\w.])(-?\d+\.\d{3,})(?![\w.])")
_TEXT = (".csv", ".jsonl", ".json", ".log", ".txt", ".yaml", ".out")


def runs(folder: Path, count: int) -> None:
    """So many runs below a folder: the sample's, copied with every long decimal changed by about a thousandth."""
    with tempfile.TemporaryDirectory() as room:
        with tarfile.open(SAMPLE) as packed:
            packed.extractall(room, filter="data")
        sample = sorted((Path(room) / "runs").iterdir())
        for number in range(count):
            source, chance = sample[number % len(sample)], random.Random(number)  # noqa: S311
            target = folder / f"{source.name}-{number // len(sample):03}"
            if target.exists():
                continue
            for file in (f for f in source.rglob("*") if f.is_file()):
                place = target / file.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                content = file.read_bytes()
                if number >= len(sample) and file.suffix in _TEXT:
                    content = _NUMBER.sub(lambda m, c=chance: b"%.6g" % (float(m[1]) * c.gauss(1, 1e-3)), content)
                place.write_bytes(content)


def local(folder: Path, counts: list[int]) -> None:
    """Triage the first so many runs, each time from nothing; then a second look at the largest number."""
    for count in counts:
        with tempfile.TemporaryDirectory() as room:
            chosen = Path(room) / "runs"
            chosen.mkdir()
            for run in sorted(folder.iterdir())[:count]:
                os.link(run, chosen / run.name) if run.is_file() else _linked(run, chosen / run.name)
            store = str(Path(room) / "s.sqlite")
            first = _measured([str(chosen), "--store", store, "--jobs", "2"])
            print(json.dumps({"runs": count, **first, "runs_a_second_and_core": round(count / first["cpu_s"], 2)}), flush=True)
            print(json.dumps({"second look at": count, **_measured([str(chosen), "--store", store, "--jobs", "2"])}), flush=True)


def known(folder: Path, count: int) -> None:
    """A look at so many runs whose answers are kept already: each is given that of one judged run, so that looking alone is measured."""
    from rl_advisor.tools.triage import Place, Store, look
    from rl_advisor.tools.triage.work import How, work

    with tempfile.TemporaryDirectory() as room:
        chosen, store = Path(room) / "runs", Path(room) / "s.sqlite"
        sample = sorted(folder.iterdir())
        for number in range(count):
            _linked(sample[number % len(sample)], chosen / f"{number:06}")
        answer = work(Place("", str(sample[0]), "", 0.0), How())
        with Store(store) as kept:
            for place in look([str(chosen)]):
                kept.keep(place.key, answer)
        first = _measured([str(chosen), "--store", str(store)])
        page = _measured([str(chosen), "--store", str(store), "--page", f"{room}/page.html", "--parquet", f"{room}/rows.parquet"])
        print(json.dumps({"known": count, **first, "with page and parquet, wall_s": page["wall_s"]}), flush=True)


def _linked(source: Path, target: Path) -> None:
    for file in (f for f in source.rglob("*") if f.is_file()):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, place)


def _measured(arguments: list[str]) -> dict[str, float]:
    """Wall and processor seconds of a triage with all that it started, rows, and the largest resident size of any of its processes."""
    began, seen, largest = time.monotonic(), {}, 0
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen([sys.executable, "-m", "rl_advisor", "triage", *arguments, "--json"], stdout=out) as process,
    ):
        while process.poll() is None:
            for pid in (process.pid, *_descendants(process.pid)):
                with suppress(OSError, IndexError):
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    seen[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                    largest = max(largest, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") >> 20)
            time.sleep(0.05)
        out.seek(0)
        rows = [json.loads(line) for line in out]
    return {
        "rows": len(rows),
        "names": len({row["run"] for row in rows}),
        "errors": sum(row["error"] is not None for row in rows),
        "wall_s": round(time.monotonic() - began, 2),
        "cpu_s": round(sum(seen.values()), 2),
        "largest_mib": largest,
    }


def kills(folder: Path, times: int) -> None:
    """Kill a triage at random moments; what is there in the end."""
    with tempfile.TemporaryDirectory() as room:
        command = [sys.executable, "-m", "rl_advisor", "triage", str(folder), "--store", f"{room}/s.sqlite", "--jobs", "2", "--json"]
        chance = random.Random(7)  # noqa: S311
        for _ in range(times):
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(command, capture_output=True, timeout=chance.uniform(0.8, 4.0), check=False)
        end = _measured([str(folder), "--store", f"{room}/s.sqlite", "--jobs", "2"])
    print(json.dumps({"kills": times, "runs": len(list(folder.iterdir())), **end}))


def bucket(folder: Path, count: int, engine: str) -> None:
    """Triage so many runs of a bucket of a server on this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    import s3fs

    store = s3fs.S3FileSystem()
    store.mkdir("runs")
    for run in sorted(folder.iterdir())[:count]:
        store.put(f"{run}/", f"runs/{run.name}/", recursive=True)
    found = _measured(["s3://runs", "--no-store", "--jobs", "2", "--engine", engine])
    print(json.dumps({"bucket": count, "engine": engine, **found}), flush=True)
    server.stop()


def lost(folder: Path) -> None:
    """Kill one of Ray's workers in the middle: what it cost."""
    command = [sys.executable, "-m", "rl_advisor", "triage", str(folder), "--no-store", "--jobs", "2", "--engine", "ray", "--json"]
    for kill in (False, True):
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            while kill and process.poll() is None:
                mine = [pid for pid in _descendants(process.pid) if b"ray::work" in Path(f"/proc/{pid}/cmdline").read_bytes()]
                if mine and time.monotonic() - began > 12:
                    os.kill(mine[0], signal.SIGKILL)
                    break
                time.sleep(0.2)
            rows: list[dict[str, Any]] = [json.loads(line) for line in (process.communicate()[0] or b"").splitlines()]
        print(
            json.dumps(
                {
                    "killed": kill,
                    "rows": len(rows),
                    "errors": sum(r["error"] is not None for r in rows),
                    "s": round(time.monotonic() - began, 1),
                }
            )
        )


def warm(folder: Path) -> None:
    """Judge every run of a folder in this process, everything loaded: what a worker of the triage does, without the triage."""
    from rl_advisor.tools.triage.judging import read_and_judged
    from rl_advisor.tools.workers import isolated

    isolated.load()
    found = sorted(folder.iterdir())
    read_and_judged(str(found[0]))
    began = time.process_time()
    for run in found:
        read_and_judged(str(run))
    print(json.dumps({"warm": str(folder), "runs": len(found), "runs_a_second": round(len(found) / (time.process_time() - began), 2)}))


def common(sweeps: int) -> None:
    """Sweeps of 200 runs and six settings, of which one decides or none does: how often what is named is it, by seeds and without."""
    import numpy as np
    from rl_advisor.tools.triage.common import common as in_common

    chance = np.random.default_rng(20)
    for each, truth in ((1, "one of six"), (1, "none"), (5, "one of six"), (5, "none")):
        found = false = 0
        for _ in range(sweeps):
            values = chance.integers(0, 3, (200 // each, 6)).repeat(each, axis=0)
            risk = np.where(values[:, 0] == 2, 0.7, 0.2) if truth == "one of six" else np.full(200, 0.35)
            # Runs of one variant are more alike than their settings say.
            risk = np.clip(risk + chance.normal(0, 0.1, 200 // each).repeat(each), 0.02, 0.98)
            failed = chance.random(200) < risk
            rows = [
                {"run": str(i), "urgency": "dead" if bad else "sound", "cause": "policy_update", "outcome": None, "settings": settings}
                for i, (bad, v) in enumerate(zip(failed.tolist(), values.tolist(), strict=True))
                for settings in [{"seed": i, **{f"setting_{k}": x for k, x in enumerate(v)}}]
            ]
            named = {look["setting"] for look in in_common(rows)["settings"]}
            found += truth == "one of six" and "setting_0" in named
            false += bool(named - {"setting_0"} if truth == "one of six" else named)
        print(json.dumps({"sweeps": sweeps, "runs": 200, "seeds": each, "what matters": truth, "found": found, "false": false}), flush=True)


def _descendants(pid: int) -> list[int]:
    """Processes that this one started, and theirs."""
    found, queue = [], [pid]
    while queue:
        with suppress(OSError):
            for task in Path(f"/proc/{queue.pop()}/task").iterdir():
                inner = [int(p) for p in (task / "children").read_text().split()]
                found += inner
                queue += inner
    return found


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["runs", "local", "known", "kills", "bucket", "lost", "warm", "common"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("numbers", type=int, nargs="*")
    parser.add_argument("--engine", default="processes")
    a = parser.parse_args()
    work = {
        "runs": lambda: runs(a.folder, a.numbers[0]),
        "local": lambda: local(a.folder, a.numbers),
        "known": lambda: known(a.folder, a.numbers[0]),
        "kills": lambda: kills(a.folder, a.numbers[0]),
        "bucket": lambda: bucket(a.folder, a.numbers[0], a.engine),
        "lost": lambda: lost(a.folder),
        "warm": lambda: warm(a.folder),
        "common": lambda: common(a.numbers[0]),
    }
    work[a.what]()


if __name__ == "__main__":
    main()
