"""Caps hold whatever the turns cost, and prices are known or said to be unknown."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rl_advisor.output.errors import UsageError
from rl_advisor.tools.advisors.model.ledger import LEAST_WRITTEN, MOST_WRITTEN, PRICE_SOURCE, PRICED_ON, Ledger, price_of
from rl_advisor.tools.advisors.model.turns import KINDS, usage

PRICES = st.tuples(*(st.floats(0, 100) for _ in KINDS)).map(lambda price: dict(zip(KINDS, price, strict=True)))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault of the ledger
@given(PRICES, st.floats(0, 2), st.integers(0, 300_000), st.lists(st.tuples(st.integers(0, 60_000), st.floats(0, 1)), max_size=12))
def test_caps_hold(price, max_cost, max_tokens, turns):
    """However requests and answers fall out, a session that keeps to its room stays below both caps."""
    ledger = Ledger(price | {"cached": min(price["cached"], price["fresh"])}, max_cost, max_tokens)
    for sent, share in turns:
        room = ledger.room(sent)
        assert room == 0 or LEAST_WRITTEN <= room <= MOST_WRITTEN
        if room:
            cached = int(share * sent)
            ledger = ledger.plus(usage(sent - cached, cached, 0, int(share * room)))
    assert ledger.spent.total() <= max_tokens
    assert ledger.money <= max_cost + 1e-9


def test_money_adds_up():
    """Each kind of token has its own price."""
    price = dict(zip(KINDS, (4, 0.2, 5, 20), strict=True))
    assert math.isclose(Ledger(price).plus(usage(1_000_000, 2_000_000, 400_000, 100_000)).money, 4 + 0.4 + 2 + 2)


@pytest.mark.parametrize(
    ("model", "known"),
    [("claude-opus-5-5", True), ("claude-opus-5-5-20260922", True), ("gpt-6-sol-2026-09-22", True), ("my-model", False), ("gpt-6", False)],
)
def test_unknown_price_is_none(model, known, monkeypatch):
    """Dated names are the model's; a model that is not in the table has no price."""
    monkeypatch.delenv("RL_ADVISOR_PRICES", raising=False)
    price = price_of(model)
    assert (price is not None) == known
    assert known or "not known" in Ledger(price).said()
    assert not known or all(part in Ledger(price).said() for part in (PRICED_ON, PRICE_SOURCE, "RL_ADVISOR_PRICES"))


@pytest.mark.parametrize("given_price", ["", "3", "a,b", "3,15,2", "-1,2", "nan,1", "inf,1"])
def test_senseless_prices_are_refused(given_price, monkeypatch):
    """The variable holds two numbers or is refused."""
    monkeypatch.setenv("RL_ADVISOR_PRICES", given_price)
    with pytest.raises(UsageError, match="RL_ADVISOR_PRICES"):
        price_of("my-model")


def test_a_provider_gives_no_tokens_back():
    """Negative counts would switch a cap off, endless ones end a transcript; sound ones stand."""
    assert usage(-(10**9), 10**400, 3, 4) == usage(0, 10**12, 3, 4)
    assert (usage(1, 2, 3, 4) + usage(-9, 0, 0, 0)).total() == 10
