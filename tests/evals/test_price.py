"""The benchmark of calls at every price: what each policy loses on a small corpus follows from what it says."""

import importlib.util
from itertools import pairwise
from pathlib import Path

from rl_advisor.evals.scoring import PRICES
from shared_corpus import CORPUS


def test_regrets_of_policies_follow_from_their_calls() -> None:
    """Going on always costs more as compute gets dearer, stopping always less; whoever is told the price is no worse than the worse one."""
    where = Path(__file__).parents[2] / "benchmarks" / "price.py"
    spec = importlib.util.spec_from_file_location("price", where)
    assert spec is not None
    assert spec.loader is not None
    price = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(price)
    found = price.regrets(CORPUS)
    assert set(found) == {price.TOLD, price.UNTOLD, *price.SIMPLE}
    assert all(a <= b + 1e-12 for a, b in pairwise(found["always_continue"]))
    assert all(a >= b - 1e-12 for a, b in pairwise(found["always_stop"]))
    assert len(found[price.TOLD]) == len(PRICES)
    for told, go, stop in zip(found[price.TOLD], found["always_continue"], found["always_stop"], strict=True):
        assert told <= go + stop + 1e-12
