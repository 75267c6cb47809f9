"""The server against a bare one of the same SDK: time to the first list of tools, and a remembered call. Prints ratios."""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

RUNS = Path(__file__).parent.parent / "tests" / "data" / "doors"
BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")

@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}

server.run("stdio")
"""


async def timed(command: list[str], tool: str, question: dict[str, Any], calls: int = 200) -> tuple[float, float]:
    """Seconds to the first list of tools, and the median of later calls."""
    begin = time.perf_counter()
    async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
        await client.list_tools()
        first = time.perf_counter() - begin
        await client.call_tool(tool, question)
        spent = []
        for _ in range(calls):
            begin = time.perf_counter()
            await client.call_tool(tool, question)
            spent.append(time.perf_counter() - begin)
    return first, statistics.median(spent)


async def main(repeats: int = 5) -> None:
    """Time both servers in turn and print the ratios of the medians."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        ours = ["-m", "rl_advisor", "serve", "--root", str(RUNS)]
        plain, own = [], []
        for _ in range(repeats):
            plain.append(await timed([str(bare)], "add", {"a": 1, "b": 2}))
            own.append(await timed(ours, "assess_run", {"run": "run-01"}))
    for place, name in enumerate(("first tools/list", "remembered call")):
        theirs, mine = (statistics.median(t[place] for t in times) for times in (plain, own))
        print(f"{name}: {mine * 1000:.1f} ms, bare server {theirs * 1000:.1f} ms, ratio {mine / theirs:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
