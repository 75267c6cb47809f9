"""Every row of the seeds stands on the page, with what holds it, and as it was measured."""

import pytest
from evals.seeds.expected import Expected
from evals.seeds.rows import PAGE, STATUSES, Row, held, page, rows


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


@pytest.mark.parametrize(
    ("trl", "verl", "others", "by_value", "status"),
    [
        (1.0, 0.9, 0.1, True, "works"),
        (1.0, 0.8, 0.1, True, "partly"),
        (1.0, 1.0, 0.6, True, "partly"),
        (1.0, 1.0, 0.1, False, "partly"),
        (1.0, None, 0.1, True, "once"),
    ],
)
def test_a_status_is_what_was_measured(trl: float, verl: float | None, others: float, by_value: bool, status: str) -> None:
    """Wrong in one framework, passed by any answer, asked by words alone, tried once: none of these works."""
    right = {"trl": trl} | ({"verl": verl} if verl is not None else {})
    measured = {"pg_negative": {"right": right, "others": others, "by_value": by_value}}
    assert Row("002", "sign", "", "s:pg_negative").stands(measured)[0] == status
    assert status in STATUSES


def test_naming_something_is_no_value() -> None:
    """An expectation of words alone holds no row."""
    assert not Expected(names=("clip",), never=("QUIET",)).by_value
    assert Expected(link=("policy_update",)).by_value
