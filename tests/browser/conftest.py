"""The page is driven in a real Chromium where there is one; a machine with nothing but Python does not collect these tests."""

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
collect_ignore: list[str] = []
_MISSING = [what for what, there in (("a Chromium", CHROMIUM), ("playwright", importlib.util.find_spec("playwright"))) if not there]
if _MISSING:
    collect_ignore += ["test_picture.py", "test_report_page.py", "test_tensorboard_page.py", "test_triage_page.py"]
    sys.stderr.write(f"tests/browser is left out: {' and '.join(_MISSING)} not found\n")

ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGS += ["--disable-component-update", "--disable-sync"]


class _Patient:
    """A browser whose pages wait for as long as a busy machine may need."""

    def __init__(self, browser: Any) -> None:
        """Of that browser."""
        self._browser = browser

    def new_context(self, **options: Any) -> Any:
        """A context of the browser."""
        context = self._browser.new_context(**options)
        context.set_default_timeout(300_000)
        return context

    def new_page(self, **options: Any) -> Any:
        """A page in a context of its own."""
        page = self._browser.new_page(**options)
        page.set_default_timeout(300_000)
        return page


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """One headless Chromium for this module; its event loop must be gone before other tests start theirs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield _Patient(chromium)
        chromium.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the bundled run."""
    from rl_advisor.answers.reports import html
    from rl_advisor.reading import read_run
    from rl_advisor.tools.advisors.builtin import assess

    run = read_run(Path(__file__).parents[2] / "examples" / "grpo-run")
    target = tmp_path_factory.mktemp("page") / "report.html"
    target.write_text(html.render(run, assess(run)), encoding="utf-8")
    return target
