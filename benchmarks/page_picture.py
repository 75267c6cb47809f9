"""The first screen of the bundled run's page as a small WebP, for the README: ``python benchmarks/page_picture.py [OUT.webp]``.

Needs the dev group and a Chromium. What stands in the picture is what ``rl-advisor report`` writes today, so run it after the page changed.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image

REPOSITORY = Path(__file__).parent.parent
RUN, OUT = REPOSITORY / "examples" / "grpo-run", REPOSITORY / "docs" / "page.webp"
WIDE, HIGH, FINE = 1280, 640, 1.5
ARGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


def first_screen(page: Path) -> bytes:
    """The top of a page, as a lossless WebP."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=list(ARGS))
        view = chromium.new_page(viewport={"width": WIDE, "height": HIGH}, device_scale_factor=FINE, color_scheme="light")
        view.goto(page.as_uri())
        view.wait_for_selector(".uplot canvas")
        shot = view.screenshot()
        chromium.close()
    small = io.BytesIO()
    Image.open(io.BytesIO(shot)).convert("RGB").save(small, "WEBP", lossless=True, method=6)
    return small.getvalue()


def main() -> None:
    """Write the picture and print its size."""
    from rl_advisor import tools
    from rl_advisor.tools.advisors import builtin
    from rl_advisor.tools.report_file import kind_of

    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    run = tools.read(RUN)
    out.write_bytes(first_screen(kind_of("page.html").render(run, builtin.assess(run))))
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
