"""Whether sound runs are answered while two hundred hostile ones are in work: the time of ``assess_run`` before and meanwhile, and memory.

Each hostile run is a small packed file that unpacks to sixty megabytes of rows. The exit code says whether the median kept within one and a
half times its usual time and memory below three gigabytes.
"""

import argparse
import asyncio
import contextlib
import gzip
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[1]
SOUND = ROOT / "tests" / "data" / "doors" / "run-01"
MOST_TIMES, MOST_MIB = 1.5, 3072


def made(folder: Path, hostile: int, sound: int) -> None:
    """Hostile and sound runs below the folder, each its own."""
    row = b'{"step": %d, "reward": 0.5, "loss": 0.25, "kl": 0.125, "entropy": 1.5}\n'
    packed = gzip.compress(b"".join(row % i for i in range(900_000)), 6)
    for number in range(hostile):
        run = folder / f"hostile-{number}"
        run.mkdir()
        (run / "metrics.jsonl.gz").write_bytes(packed)
    for number in range(sound):
        shutil.copytree(SOUND, folder / f"sound-{number}")


def memory_mib() -> float:
    """Unshared memory of all processes below this one, in MiB."""
    held = 0
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    ours = {p for p in parents if _is_below(p, parents)}
    for pid in ours:
        with contextlib.suppress(OSError):
            held += sum(
                int(line.split()[1]) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:")
            )
    return held / 1024


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    above = parents.get(pid, 0)
    while above and above != os.getpid():
        above = parents.get(above, 0)
    return bool(above)


async def asked(client: Any, runs: list[str]) -> list[float]:
    """Seconds that each took, one after the other."""
    took = []
    for run in runs:
        begun = time.monotonic()
        answer = await client.call_tool("assess_run", {"run": run})
        took.append(time.monotonic() - begun)
        if answer.is_error:
            sys.exit(f"{run}: {answer.content[0].text}")
    return took


async def measured(folder: Path, hostile: int, sound: int) -> bool:
    """Whether the server kept its time and memory; what was measured is printed."""
    start = StdioServerParameters(command=sys.executable, args=["-m", "rl_advisor", "serve", "--root", str(folder)], cwd=str(ROOT))
    async with Client(start) as client:
        await asked(client, ["sound-0"])
        before = await asked(client, [f"sound-{n}" for n in range(1, sound // 2)])
        async with anyio.create_task_group() as group:
            for number in range(hostile):
                group.start_soon(client.call_tool, "load_run", {"run": f"hostile-{number}"})
            await anyio.sleep(3)
            meanwhile, most, listing = [], 0.0, []
            for number in range(sound // 2, sound):
                meanwhile += await asked(client, [f"sound-{number}"])
                most = max(most, memory_mib())
                begun = time.monotonic()
                await client.list_tools()
                listing.append(time.monotonic() - begun)
            group.cancel_scope.cancel()
        await anyio.sleep(1)
        after = memory_mib()
    usual, now = statistics.median(before), statistics.median(meanwhile)
    print(f"assess_run alone {usual:.2f} s, beside {hostile} hostile calls {now:.2f} s ({now / usual:.2f} times)")
    print(f"tools/list meanwhile {statistics.median(listing):.3f} s")
    print(f"memory at most {most:,.0f} MiB, afterwards {after:,.0f} MiB")
    return now <= MOST_TIMES * usual and most < MOST_MIB


def main() -> int:
    """Run it; 0 when both bounds were kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hostile", type=int, default=200)
    options.add_argument("--sound", type=int, default=40)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder), chosen.hostile, chosen.sound)
        return 0 if asyncio.run(measured(Path(folder), chosen.hostile, chosen.sound)) else 1


if __name__ == "__main__":
    sys.exit(main())
