"""When the picture inside an assistant is first painted, of a run of a million points.

python benchmarks/first_paint.py: a real server answers a real client, and a real host page in headless Chromium (tests/browser) shows the
document in its frame. Milliseconds since that frame was opened, three browsers started anew and three pages in each. Needs a Chromium.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp.client import Client
from playwright.sync_api import sync_playwright
from rl_advisor.server.build import build
from rl_advisor.server.picture import ADDRESS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))
import test_picture

import conftest

POINTS = 1_000_000
PAINTED = "e => Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)"


def served(folder: Path) -> dict[str, Any]:
    """What a client is given of a made run of so many points."""
    (folder / "run").mkdir()
    generator = np.random.default_rng(1)
    value = np.cumsum(generator.normal(0, 0.01, POINTS)) + generator.normal(0, 1, POINTS)
    rows = np.column_stack([np.arange(POINTS), value])
    np.savetxt(folder / "run" / "metrics.csv", rows, delimiter=",", header="step,reward", comments="", fmt="%.6g")

    async def asked() -> dict[str, Any]:
        async with Client(build([folder])) as client:
            told = (await client.call_tool("assess_run", {"run": "run"})).model_dump(by_alias=True, mode="json")
            uri = "run://run/page.html"
            pages = {uri: (await client.read_resource(uri)).contents[0].text}
            return {"app": (await client.read_resource(ADDRESS)).contents[0].text, "pages": pages, "tools": {"assess_run": told}}

    return anyio.run(asked)


def main() -> None:
    """Prints a line a browser: the first page, then the others."""
    with tempfile.TemporaryDirectory() as folder:
        given = served(Path(folder))  # its event loop must be gone before the browser's starts
    with sync_playwright() as player:
        for _ in range(3):
            browser = player.chromium.launch(executable_path=conftest.CHROMIUM, args=conftest.ARGS)
            times = []
            for _ in range(3):
                page = test_picture.shown(browser, given, input={"run": "run"}, result=given["tools"]["assess_run"])
                frame = page.frame_locator("#app")
                frame.locator(".plot canvas").first.wait_for()
                times.append(frame.locator("html").evaluate(PAINTED))
                page.close()
            browser.close()
            print(f"first paint {times[0]} ms in a browser that just started, then {times[1]} and {times[2]} ms")


if __name__ == "__main__":
    main()
