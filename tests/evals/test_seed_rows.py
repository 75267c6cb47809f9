"""Every row of the seeds stands on the page, with what holds it, and as it was measured."""

import json
from types import SimpleNamespace
from typing import cast

import pytest
from evals.seeds.__main__ import EVERY
from evals.seeds.expected import Expected, Score, contrary
from evals.seeds.rows import PAGE, SHARES, STATUSES, Row, held, page, rows, same_statement
from rl_advisor.finding import Assessment


def test_the_page_is_todays() -> None:
    """Written by ``python -m evals.seeds.rows`` from the shares that were measured."""
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("kind", ["s", "t", "a", "k", "d"])
def test_what_holds_a_row_is_there(kind: str) -> None:
    """No row names a situation, test, case, phrase or file that is gone."""
    assert [row for row in rows() if row.holder.startswith(kind) and not held(row)] == []


def test_every_row_is_there() -> None:
    """281 rows, none missing."""
    assert len(rows()) == 281


def measured(
    *, sibling: float = 1.0, opposite: float = 0.0, others: float = 0.1, by_value: bool = True, forms: int = 2
) -> dict[str, Score]:
    """Everything right, but for one situation of the row of peaks: ``cart_peaks`` stands for the same statement as ``peak_decline``."""
    every = {name: Score(dict.fromkeys(EVERY[name].frameworks[:forms], 1.0), 0.1, by_value=True) for name in EVERY}
    return every | {"cart_peaks": Score({"sb3": 1.0, "rllib": sibling}, others, by_value, opposite)}


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (measured(), "works"),
        (measured(sibling=0.9, opposite=0.1, others=0.5), "works"),
        (measured(sibling=0.8), "partly"),
        (measured(others=0.6), "partly"),
        (measured(by_value=False), "partly"),
        (measured(sibling=0.0), "missing"),
        (measured(sibling=0.8, opposite=0.2), "opposite"),
    ],
)
def test_a_status_is_what_was_measured(seen: dict[str, Score], status: str) -> None:
    """One situation that fails takes the row with it, though the one that holds it and its other siblings are right."""
    row = Row("004", "traj", "peak and decline", "s:peak_decline")
    assert "cart_peaks" in same_statement("peak_decline")
    assert row.stands(seen)[0] == status
    assert status in STATUSES
    if status != "works":
        assert row.stands(seen)[2] == "cart_peaks"


def test_one_framework_alone_is_once() -> None:
    """A statement that one situation shows in one framework's words is not held by two."""
    name = next(name for name in EVERY if same_statement(name) == [name])
    assert Row("", "", "", f"s:{name}").stands(measured(forms=1))[0] == "once"


def test_every_situation_was_measured_in_every_framework() -> None:
    """A situation that is new, gone or in other words than when the shares were taken makes them stale."""
    shares = json.loads(SHARES.read_text(encoding="utf-8"))["situations"]
    assert {name: set(score["right"]) for name, score in shares.items()} == {name: set(s.frameworks) for name, s in EVERY.items()}


def answer(verdict: str, call: str, *present: str) -> Assessment:
    """An answer with this verdict and call, in which these patterns are present."""
    found = [SimpleNamespace(pattern=pattern, outcome="present") for pattern in present]
    return cast("Assessment", SimpleNamespace(verdict=verdict, call=call, findings=found))


@pytest.mark.parametrize(
    ("given", "expected", "reverse"),
    [
        (answer("improving", "stop"), Expected(verdict=("reward_hacking", "plateaued")), True),
        (answer("degrading", "stop"), Expected(verdict=("reward_hacking", "plateaued")), False),
        (answer("degrading", "continue"), Expected(verdict=("degrading",), call=("stop",)), True),
        (answer("degrading", "undecided"), Expected(verdict=("degrading",), call=("stop",)), False),
        (answer("collapsed", "stop"), Expected(verdict=("improving", "plateaued")), True),
        (answer("undecidable", "undecided"), Expected(verdict=("improving",)), False),
        (answer("plateaued", "stop", "drift_without_gain"), Expected(not_present=("drift_without_gain",)), True),
        (answer("plateaued", "stop"), Expected(present=("drift_without_gain",)), False),
    ],
)
def test_the_reverse_is_told_from_what_is_only_not_said(given: Assessment, expected: Expected, reverse: bool) -> None:
    """On for stop, better for broken, and a pattern that must not be there are the reverse; another fault or none named is not."""
    assert contrary(given, expected) is reverse


def test_naming_something_is_no_value() -> None:
    """An expectation of words alone holds no row."""
    assert not Expected(names=("clip",), never=("QUIET",)).by_value
    assert Expected(link=("policy_update",)).by_value
