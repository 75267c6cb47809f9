"""A thousand mixed calls at once over HTTP from this process to a server in another; then a kill in mid-call. Stops by itself.

Every answer is held against the one given before the load; memory of the server is read before, after warming up, and after each round.
"""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "tests" / "data" / "doors"
CALLS, CLIENTS, LONGEST = 1000, 10, 240
"""A client of the SDK opens at most 100 connections, so ten of them hold a thousand calls open."""
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("list_runs", {}),
    ("load_run", {"run": "run-01"}),
    ("assess_run", {"run": "run-01"}),
    ("assess_run", {"run": "run-01", "until": 150}),
    ("summarize_curves", {"run": "run-01", "metrics": ["kl/ref"]}),
    ("spot_check_samples", {"run": "run-01"}),
    ("plot_curves", {"run": "run-01", "metrics": ["reward/mean"]}),
    ("compare_runs", {"runs": ["run-01", "run-01"]}),
    ("assess_run", {"run": "../../etc"}),
    ("summarize_curves", {"run": "run-01", "metrics": ["none"]}),
]


@contextlib.contextmanager
def server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The server's address and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rl_advisor", "serve", "--root", str(RUNS), "--http", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp", process
        finally:
            process.kill()


def memory(process: subprocess.Popen[bytes]) -> float:
    """Resident memory of a process in MiB; needs /proc."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def told(answer: Any) -> str:
    """All that an answer says."""
    return f"{answer.is_error} {[c.model_dump() for c in answer.content]} {answer.structured_content}"


async def storm(clients: list[Client], right: list[str]) -> tuple[int, list[float]]:
    """Wrong answers among a thousand calls, and the seconds that each took."""
    spent: list[float] = []

    async def one(i: int) -> bool:
        begin = time.perf_counter()
        answer = await clients[i // len(QUESTIONS) % CLIENTS].call_tool(*QUESTIONS[i % len(QUESTIONS)])
        spent.append(time.perf_counter() - begin)
        return told(answer) != right[i % len(QUESTIONS)]

    return sum(await asyncio.gather(*(one(i) for i in range(CALLS)))), spent


async def load(url: str, process: subprocess.Popen[bytes]) -> int:
    """Three rounds of calls; wrong answers in all."""
    wrong = 0
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for _ in range(CLIENTS)]
        start = memory(process)
        right = [told(await clients[0].call_tool(*q)) for q in QUESTIONS]
        print(f"memory: {start:.0f} MiB at the start, {memory(process):.0f} MiB after one call of each kind")
        for n in (1, 2, 3):
            begin = time.perf_counter()
            bad, spent = await storm(clients, right)
            total, spent = time.perf_counter() - begin, sorted(spent)
            wrong += bad
            print(
                f"round {n}: {CALLS} calls in {total:.1f} s, {bad} wrong, median {spent[CALLS // 2]:.2f} s, longest {spent[-1]:.2f} s, "
                f"memory {memory(process):.0f} MiB"
            )
    return wrong


async def killed(url: str, process: subprocess.Popen[bytes]) -> None:
    """Kill the server while it answers; the client must be told so and not wait."""

    async def call() -> None:
        async with Client(url) as client:
            await asyncio.gather(*(client.call_tool("assess_run", {"run": "run-01", "until": i}) for i in range(200, 300)))

    task = asyncio.create_task(call())
    await asyncio.sleep(1.0)
    busy = not task.done()
    process.send_signal(signal.SIGKILL)
    begin = time.perf_counter()
    try:
        await asyncio.wait_for(task, 30)
        print("kill -9: the calls had all been answered")
    except Exception as error:  # noqa: BLE001 - which exception tells the client is the transport's affair
        print(f"kill -9 while busy ({busy}): the client was told after {time.perf_counter() - begin:.2f} s ({type(error).__name__})")


async def main() -> int:
    """Everything, within a bound."""
    before = {p: p.stat().st_mtime_ns for p in RUNS.rglob("*")}
    async with asyncio.timeout(LONGEST):
        with server() as (url, process):
            wrong = await load(url, process)
        with server() as (url, process):
            await killed(url, process)
        with server() as (url, _):
            async with Client(url) as client:
                again = await client.call_tool("assess_run", {"run": "run-01"})
                print(f"a new server answers: {not again.is_error}")
    print(f"files of the runs unchanged: {before == {p: p.stat().st_mtime_ns for p in RUNS.rglob('*')}}")
    return int(wrong > 0 or bool(again.is_error))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
