"""Every row of the seeds stands on the page, with what holds it, and that is there."""

import pytest
from evals.seeds.rows import PAGE, held, page, rows


def test_the_page_is_todays() -> None:
    """Written by ``python -m evals.seeds.rows``."""
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("kind", ["s", "t", "a", "k", "d"])
def test_what_holds_a_row_is_there(kind: str) -> None:
    """No row names a situation, test, case, phrase or file that is gone."""
    assert [row for row in rows() if row.holder.startswith(kind) and not held(row)] == []


def test_every_row_is_there_once_and_stands_somehow() -> None:
    """281 rows, none missing; what is only advised is held by the skill."""
    told = rows()
    assert len(told) == 281
    assert {r.status for r in told} == {"works", "partly", "advice"}
    assert all(r.holder[0] in "ak" for r in told if r.status == "advice")
