"""The skill's eval cases of advice: what somebody asks, the page that must hold the answer, and the facts that it must say there."""

import json
import re

import pytest
from rl_advisor.output import shipped

FOLDER = shipped.folder("skills") / shipped.SKILL
CASES = json.loads((FOLDER / "evals" / "advice.json").read_text(encoding="utf-8"))["cases"]
PAGES = {name: FOLDER / name for name in {case["page"] for case in CASES}}


def said(page: str) -> str:
    """A page's text with its line breaks as blanks."""
    return re.sub(r"\s+", " ", PAGES[page].read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["seed"])
def test_the_page_says_it(case: dict) -> None:
    """Every fact stands on the page to which the question leads."""
    text = said(case["page"])
    assert [fact for fact in case["facts"] if not re.search(fact, text)] == []


def test_cases_are_many_apart_and_lead_somewhere() -> None:
    """Each row of a seed once, no question twice, every page named on the first, and no fact so broad that all pages say it."""
    assert len({case["seed"] for case in CASES}) == len({case["question"] for case in CASES}) == len(CASES) >= 45
    first = (FOLDER / "SKILL.md").read_text(encoding="utf-8")
    assert all(page in first for page in PAGES if page != "SKILL.md")
    for case in CASES:
        elsewhere = [page for page in PAGES if page != case["page"] and all(re.search(fact, said(page)) for fact in case["facts"])]
        assert elsewhere == [], (case["seed"], elsewhere)


def test_scripts_are_whole_and_small() -> None:
    """The scripts compile, say how to run them, and stay short enough to be read before they are run."""
    for script in (FOLDER / "scripts").glob("*.py"):
        text = script.read_text(encoding="utf-8")
        compile(text, script.name, "exec")
        assert f"python {script.name}" in text
        assert text.count("\n") <= 60
