"""No regular expression of the package costs more than in proportion to its text, whoever writes the next one."""

import re
from pathlib import Path

import pytest
import rl_advisor

from worst_lines import DECADES, Used, growth, used_in

ROOT = Path(rl_advisor.__file__).parent
MET = list(used_in(ROOT, "rl_advisor"))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\d+\.?\d*\b", "match"),
        (r"(['\"])\w+\1: \d+\d*\b", "match"),
        (r"a.*b", "finditer"),
        (r"\| *(\S[^|]*?) *\|", "match"),
        (rb"\s+$", "finditer"),
    ],
)
def test_costly_patterns_are_found(monkeypatch, pattern, method):
    """The search is not blind: shapes that cost more than in proportion are seen, at the first look as at every one."""
    monkeypatch.setattr("worst_lines.LOOKS", 1)
    assert growth(Used("here", re.compile(pattern), method, DECADES[-1]))


@pytest.mark.parametrize("used", MET, ids=lambda u: f"{u.where.removeprefix('rl_advisor.')}.{u.method}")
def test_time_grows_with_the_line_and_no_faster(used):
    """On the worst lines of its own shape, over three decades."""
    assert not growth(used)


def test_all_patterns_were_met():
    """The walk sees what modules keep, in tables and inside functions."""
    names = {used.where for used in MET}
    assert {
        "rl_advisor.reading.formats.dict_console._PAIR",
        "rl_advisor.reading.parsing.log_lines._KINDS",
        "rl_advisor.features.text.secrets._SHAPES",
    } <= names
    assert len(MET) > 250
