"""How fast event files are read, against tensorboard's EventAccumulator in the same run; run with ``--large`` for the big file."""

import argparse
import compileall
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rl_advisor.reading.parsing import event_files
from rl_advisor.reading.parsing.event_files.crc32c import checksum, linear_rows, masked

OURS = """
import json, resource, sys, time
import numpy
from pathlib import Path
from rl_advisor.reading.parsing.event_files.reader import read_events
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
scalars = read_events(Path(sys.argv[1])).scalars()
seconds = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base
print(json.dumps({"s": seconds, "mib": peak / 1024, "points": sum(len(p[0]) for p in scalars.values()),
                  "sum": sum(float(p[1].sum()) for p in scalars.values()), "whole": time.process_time()}))
"""
THEIRS = """
import json, logging, resource, sys, time
logging.disable(50)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
reader = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
seconds = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base
scalars = [reader.Scalars(tag) for tag in reader.Tags()["scalars"]]
print(json.dumps({"s": seconds, "mib": peak / 1024, "points": sum(map(len, scalars)),
                  "sum": sum(p.value for points in scalars for p in points), "whole": time.process_time()}))
"""
BARE = "import json, time, numpy; print(json.dumps({'whole': time.process_time()}))"
WIDTH = {127: 1, 16_383: 2, 2_097_151: 3}


def _record(tag: str, width: int) -> tuple[bytes, int, int, int]:
    """Return a record with zeros for all that varies, and where its step, its value and its checksum stand."""
    name = tag.encode()
    inner = b"\x0a" + bytes([len(name)]) + name + b"\x15" + bytes(4)
    summary = b"\x2a" + bytes([len(inner) + 2]) + b"\x0a" + bytes([len(inner)]) + inner
    data = b"\x09" + bytes(8) + b"\x10" + bytes(width) + summary
    head = len(data).to_bytes(8, "little")
    crc = masked(checksum(head))
    return head + crc.to_bytes(4, "little") + data + bytes(4), 12 + 10, 12 + len(data) - 4, 12 + len(data)


def _block(tags: list[str], steps: np.ndarray, width: int, rng: np.random.Generator) -> bytes:
    columns = []
    for k, tag in enumerate(tags):
        record, step_at, value_at, crc_at = _record(tag, width)
        rows = np.tile(np.frombuffer(record, np.uint8), (steps.size, 1))
        rows[:, 13:21] = (1.7e9 + steps * 3.0 + k * 1e-4)[:, None].view(np.uint8)
        for b in range(width):
            rows[:, step_at + b] = (steps >> 7 * b & 0x7F) | (0x80 if b < width - 1 else 0)
        rows[:, value_at : value_at + 4] = rng.normal(size=(steps.size, 1)).astype("<f4").view(np.uint8)
        crc = (linear_rows(rows[:, 12:crc_at]) ^ np.uint32(checksum(bytes(crc_at - 12)))).astype(np.uint64)
        stored = ((crc >> np.uint64(15) | crc << np.uint64(17)) + np.uint64(0xA282EAD8)).astype("<u4")
        rows[:, crc_at:] = stored[:, None].view(np.uint8)
        columns.append(rows)
    return np.hstack(columns).tobytes()


def write(path: Path, tags: int, steps: int) -> None:
    """Write an event file of that many tags and steps, byte for byte as tensorboard's own writer would."""
    names = [f"train/metric_{k}" + "_long" * (k % 5) for k in range(tags)]
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        first = 1
        for last, width in WIDTH.items():
            for begin in range(first, min(last, steps) + 1, 1_000):
                file.write(_block(names, np.arange(begin, min(begin + 1_000, last + 1, steps + 1)), width, rng))
            first = last + 1


def measure(code: str, *arguments: str) -> dict[str, float]:
    """Run ``code`` in a process of its own and return what it prints."""
    return json.loads(subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print points, CPU seconds, memory and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="300 tags x 50,000 steps (0.9 GB; EventAccumulator takes minutes)")
    parser.add_argument("--alone", action="store_true", help="do not run EventAccumulator")
    options = parser.parse_args()
    tags, steps = (300, 50_000) if options.large else (60, 5_000)
    compileall.compile_dir(Path(event_files.__file__).parents[2], quiet=2)  # as installers do; else each process compiles anew
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.out.tfevents.1700000000.host.1.0"
        write(path, tags, steps)
        print(f"{tags} tags x {steps:,} steps, {path.stat().st_size / 1e6:.1f} MB")
        rounds = 1 if options.large else 9
        least: dict[str, dict[str, float]] = {}
        for _ in range(max(3, rounds)):  # in turn, since the machine's speed drifts
            for how, code in (("ours", OURS), ("bare", BARE)):
                got = measure(code, str(path), how)
                least[how] = {key: min(value, least.get(how, got)[key]) for key, value in got.items()}
        bare = least.pop("bare")["whole"]
        theirs = None if options.alone else measure(THEIRS, str(path))
    for how, got in least.items():
        whole = got["whole"] / bare
        print(f"{how}: {got['s']:.3f} CPU s, {got['mib']:.0f} MiB, {got['points']:,.0f} points, whole process / numpy {whole:.2f}")
        if theirs:
            assert (got["points"], round(got["sum"], 3)) == (theirs["points"], round(theirs["sum"], 3)), "the readers disagree"
            print(f"  EventAccumulator / ours: {theirs['s'] / got['s']:.0f}x")
    if theirs:
        print(f"EventAccumulator: {theirs['s']:.2f} CPU s, {theirs['mib']:.0f} MiB")


if __name__ == "__main__":
    main()
