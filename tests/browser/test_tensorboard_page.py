"""TensorBoard itself, in a real Chromium: the verdict stands in its text tab, the marks beside the curves."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rl_advisor.reading import read_run
from rl_advisor.tools.advisors.builtin import assess
from rl_advisor.tools.report_file import note_to

RUN = Path(__file__).parents[2] / "examples" / "grpo-run"


@pytest.fixture
def board(tmp_path: Path) -> Iterator[str]:
    """The address of a TensorBoard that shows a folder with nothing but our note."""
    run = read_run(RUN)
    note_to(f"tensorboard:{tmp_path}", run, assess(run), RUN)
    words = ["-m", "tensorboard.main", "--logdir", str(tmp_path), "--host", "127.0.0.1", "--port", "0", "--load_fast", "false"]
    server = subprocess.Popen([sys.executable, "-W", "ignore", *words], stderr=subprocess.PIPE, text=True)
    said = (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in server.stderr or ())
    yield next(address[0] for address in said if address)
    server.terminate()
    server.wait(timeout=300)
    if server.stderr:
        server.stderr.close()


def test_verdict_and_marks_are_seen(browser, board: str) -> None:
    """The text tab says the verdict and what to do; the chart of the score has a run for each mark, named with its step."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"{board}#text")
    page.get_by_text("grpo-run: collapsed").first.wait_for()
    assert page.get_by_text("learning rate").count()
    page.goto(f"{board}#timeseries")
    page.get_by_text("first break at step 152").first.wait_for()
    assert page.get_by_text("best checkpoint at step 120").count()
    assert page.get_by_text("eval_accuracy").count()
    page.close()
