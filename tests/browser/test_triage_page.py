"""The page of ten thousand runs in a real browser: it opens, sorts, filters and scrolls without a stall, and draws only what is seen."""

from pathlib import Path

import pytest
from rl_advisor.tools.triage.page import page

URGENCIES = ("dead", "gamed", "sound", "undecided")


def rows(count: int) -> list[dict]:
    """Runs that differ in all that is sorted by; one has a name that is markup."""
    curve = {"raw": "reward", "x": list(range(40)), "y": [(7 * i) % 11 / 10 for i in range(40)]}
    words = {"why": "entropy collapse from step 12: entropy went from 2.1 to 0.1", "do": "halve the learning rate", "error": None}
    judged = {"verdict": "collapsed", "p": 0.9, "call": "stop", "planned_steps": 1000, "broke_at": 12, "outcome": curve, **words}
    return [
        {
            "run": f"sweep/run-{i:05}" if i else "<b>bold</b>",
            "where": f"sweep/{i}",
            "urgency": URGENCIES[i % 4],
            "cause": "policy_update",
            "step": i * 37 % 1000,
            "age_s": i,
            "best_checkpoint": i % 7,
            **judged,
        }
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on disk."""
    file = tmp_path_factory.mktemp("triage") / "page.html"
    file.write_text(page(rows(10_000)), encoding="utf-8")
    return file


def test_ten_thousand_runs_open_sort_and_filter(browser, written: Path) -> None:
    """Below 10 MB, and few elements at any time, whatever is shown (which is what keeps it quick)."""
    assert written.stat().st_size < 10e6
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    opened.goto(written.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    assert "<b>bold</b>" in opened.inner_text(".row >> nth=0")
    opened.click('[data-by="step"] button')
    opened.click('[data-by="step"] button')
    assert "999 / 1000" in opened.inner_text(".row >> nth=0")
    opened.fill("#find", "run-0999")
    assert opened.inner_text(".shown") == "10 of 10000 runs"
    opened.fill("#find", "")
    opened.click('.counts button:has-text("gamed")')
    assert opened.inner_text(".shown") == "2500 of 10000 runs"
    opened.evaluate("document.querySelector('.rows').scrollTop = 50000")
    opened.select_option("#view", "tiles")
    opened.focus(".tile >> nth=3")
    opened.keyboard.press("Enter")
    assert "rl-advisor assess" in opened.inner_text(".detail")
    assert opened.evaluate("document.querySelectorAll('*').length") < 1500
    assert not faults
    opened.close()
