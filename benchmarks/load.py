"""A thousand mixed calls at once over HTTP from this process to a server in another; then a kill in mid-call. Stops by itself.

Every answer is held against the one given before the load; memory of the server is read before, after warming up, and after each
round. The exit code says whether an answer was wrong or memory grew.
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
AT_ONCE, CLIENTS, LONGEST = 1000, 10, 560
"""A client of the SDK opens at most 100 connections, so ten of them hold a thousand calls open."""
ROUNDS, NEW, MOST_GROWTH = (1000, 1000, 2000, 5000), 200, 5
"""Calls in each round; how many questions that no memory can know; MiB by which a server may differ for no reason."""
Question = tuple[str, dict[str, Any]]
QUESTIONS: list[Question] = [
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


async def storm(clients: list[Client], asked: list[Question], right: list[str] | None = None) -> tuple[int, list[float]]:
    """Wrong answers among the calls, a thousand at once, and the seconds that each took."""
    spent: list[float] = []

    async def one(i: int) -> bool:
        begin = time.perf_counter()
        answer = await clients[i // len(QUESTIONS) % CLIENTS].call_tool(*asked[i])
        spent.append(time.perf_counter() - begin)
        return bool(answer.is_error) if right is None else told(answer) != right[i % len(QUESTIONS)]

    wrong = 0
    for begin in range(0, len(asked), AT_ONCE):
        wrong += sum(await asyncio.gather(*(one(i) for i in range(begin, min(begin + AT_ONCE, len(asked))))))
    return wrong, spent


async def load(url: str, process: subprocess.Popen[bytes]) -> int:
    """Rounds of calls, the last of them questions never asked before; the number of complaints."""
    complaints = 0
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for _ in range(CLIENTS)]
        start = memory(process)
        right = [told(await clients[0].call_tool(*q)) for q in QUESTIONS]
        print(f"memory: {start:.0f} MiB at the start, {memory(process):.0f} MiB after one call of each kind")
        after = []
        for calls in ROUNDS:
            begin = time.perf_counter()
            wrong, spent = await storm(clients, [QUESTIONS[i % len(QUESTIONS)] for i in range(calls)], right)
            after.append(memory(process))
            total, spent = time.perf_counter() - begin, sorted(spent)
            complaints += wrong
            print(
                f"{calls} mixed calls, {AT_ONCE} at once: {total:.1f} s, {wrong} wrong, median {spent[calls // 2]:.2f} s, "
                f"longest {spent[-1]:.2f} s, memory {after[-1]:.0f} MiB"
            )
        print(f"growth from the second round to the last: {after[-1] - after[1]:.1f} MiB")
        complaints += after[-1] - after[1] > MOST_GROWTH
        new: list[float] = []
        for first in range(0, 4 * NEW, NEW):
            asked: list[Question] = [("summarize_curves", {"run": "run-01", "until": 20 + (first + i) / 5}) for i in range(NEW)]
            complaints += (await storm(clients, asked))[0]
            new.append(memory(process))
        print(f"memory after {NEW}, {2 * NEW}, ... questions never asked before: {', '.join(f'{m:.0f}' for m in new)} MiB")
        complaints += new[-1] - new[1] > MOST_GROWTH
    return complaints


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
            complaints = await load(url, process)
        with server() as (url, process):
            await killed(url, process)
        with server() as (url, _):
            async with Client(url) as client:
                again = await client.call_tool("assess_run", {"run": "run-01"})
                print(f"a new server answers: {not again.is_error}")
    print(f"files of the runs unchanged: {before == {p: p.stat().st_mtime_ns for p in RUNS.rglob('*')}}")
    return int(complaints > 0 or bool(again.is_error))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
