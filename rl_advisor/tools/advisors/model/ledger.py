"""What a conversation with a model has cost, in tokens and in dollars, and whether another turn fits under the caps."""

import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rl_advisor.discovery import table
from rl_advisor.output.errors import UsageError
from rl_advisor.tools.advisors.model.turns import KINDS

PRICED_ON = "2026-11-05"
"""When the prices below were collected."""
PRICE_SOURCE = "release notes and third parties, not the provider's bill"
"""Where from. Prices change: they are estimates, and the variable overrides them."""
PRICE_VARIABLE = "RL_ADVISOR_PRICES"
MOST_WRITTEN, LEAST_WRITTEN = 8000, 1500
"""Tokens that a turn may write, and with fewer than which none is begun: an answer would be cut."""
Price = Mapping[str, float]
"""US dollars for a million tokens of each kind."""


def price_of(model: str) -> Price | None:
    """The price of a model: the one given as ``RL_ADVISOR_PRICES=INPUT,OUTPUT`` (dollars a million), else ours; None when unknown.

    Raises:
        NoSuchChoice: the variable holds something else.
    """
    given = os.environ.get(PRICE_VARIABLE)
    if given is None:
        return table(__file__, "prices.toml").get(re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", model))
    try:
        sent, written = (float(part) for part in given.split(","))
    except ValueError:
        sent = written = math.nan
    if not (0 <= sent < math.inf and 0 <= written < math.inf):
        raise UsageError(f"{PRICE_VARIABLE} holds two numbers, dollars for a million tokens in and out, as in 3,15; not {given[:40]!r}")
    # A discount for cached tokens is not known, so none is counted.
    return dict(zip(KINDS, (sent, sent, 1.25 * sent, written), strict=True))


@dataclass(frozen=True)
class Ledger:
    """What was spent and what may be."""

    price: Price | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    spent: Counter[str] = field(default_factory=Counter)

    def plus(self, usage: Counter[str]) -> "Ledger":
        """The ledger after another turn."""
        return replace(self, spent=self.spent + usage)

    @property
    def money(self) -> float | None:
        """Dollars spent; None when the price is not known."""
        return sum(count * self.price[kind] for kind, count in self.spent.items()) / 1e6 if self.price else None

    def room(self, sent: int) -> int:
        """Tokens that the next turn may write when its request has ``sent`` tokens at most; 0 when it does not fit under a cap."""
        left = float(MOST_WRITTEN)
        if self.max_tokens is not None:
            left = min(left, self.max_tokens - self.spent.total() - sent)
        if self.max_cost is not None and self.price and self.money is not None:
            # What was sent before is likely cached, but a cap must hold when it is not.
            rest = self.max_cost - self.money - sent * max(self.price["fresh"], self.price["stored"]) / 1e6
            written = self.price["written"]
            left = min(left, 1e6 * rest / written if written else math.inf if rest >= 0 else 0)
        return math.floor(left) if left >= LEAST_WRITTEN else 0

    def said(self) -> str:
        """One line of what was spent."""
        fresh, cached, stored, written = (self.spent[kind] for kind in KINDS)
        ours = f"by prices of {PRICED_ON} ({PRICE_SOURCE}; {PRICE_VARIABLE} sets yours)"
        by = "at the given prices" if os.environ.get(PRICE_VARIABLE) else ours
        cost = "at a price that is not known" if self.money is None else f"about ${self.money:.4f} {by}"
        return f"{self.spent.total()} tokens ({fresh} sent, {cached} from cache, {stored} to cache, {written} written), {cost}"
