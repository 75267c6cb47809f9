"""What runs have in common: a setting that makes them fail is named with its interval, luck is not, and what was never varied is said."""

import numpy as np
import pytest
from rl_advisor.answers.comparable import grouped
from rl_advisor.tools.triage.common import changed_together, common, design_effect, looks_at, notes, settings_of, surviving


def row(number, failed, **settings):
    outcome = {
        "name": "reward/mean",
        "raw": "reward",
        "last": 0.1 if failed else 0.8 + number / 1000,
        "x": [1, 2, 3],
        "y": [0.1, 0.2, 0.1 if failed else 0.8],
    }
    said = {
        "urgency": "dead" if failed else "sound",
        "cause": "policy_update" if failed else "none",
        "patterns": ["collapse"] if failed else [],
    }
    return {
        "run": f"r{number}",
        "outcome": outcome,
        "settings": {"seed": number, "name": f"run {number}", "gamma": 0.99, **settings},
        **said,
    }


def sweep(chance, fails):
    """Eight variants of eight seeds; ``fails(lr, clip)`` is how often one fails."""
    grid = [(lr, clip, warm) for lr in (1e-4, 1e-2) for clip in (0.1, 0.2) for warm in (0, 10)]
    cases = [(lr, clip, warm, seed) for lr, clip, warm in grid for seed in range(8)]
    return [
        row(i, chance.random() < fails(lr, clip), lr=lr, clip=clip, warmup=warm, warmup_ratio=warm / 100)
        for i, (lr, clip, warm, _) in enumerate(cases)
    ]


def test_the_setting_that_makes_runs_fail_is_named() -> None:
    """With a difference whose interval holds the truth; what changed with another setting is not told from it."""
    found = common(sweep(np.random.default_rng(3), lambda lr, _: 0.9 if lr > 1e-3 else 0.1))
    assert [s["setting"] for s in found["settings"]] == ["lr"]
    first = found["settings"][0]
    assert abs(first["failed"] - first["others"]) == pytest.approx(0.8, abs=0.2)
    assert min(abs(first["low"]), abs(first["high"])) < 0.8 < max(abs(first["low"]), abs(first["high"]))
    assert ["warmup", "warmup_ratio"] in found["cannot_be_told"]["changed_together"]
    assert found["cannot_be_told"]["never_varied"] == {"gamma": 0.99}
    assert found["number_of_variants"] == 8
    assert [("policy_update", found["failed"])] == found["failing"]["broke_first"]


def test_luck_is_not_named() -> None:
    """Sweeps in which nothing makes runs fail, at random or by variant: one in twenty may name something."""
    chance, named = np.random.default_rng(4), 0
    for _ in range(30):
        by_variant = {key: chance.random() for key in [(a, b) for a in (1e-4, 1e-2) for b in (0.1, 0.2)]}
        rows = sweep(chance, (lambda *_: 0.3) if chance.random() < 0.5 else (lambda lr, clip, w=by_variant: w[lr, clip] ** 2))
        found = common(rows)
        named += any(s["setting"] == "warmup" for s in found["settings"])
    assert named <= 3


def test_a_number_of_many_values_is_asked_whether_more_of_it_fails() -> None:
    """A rate drawn anew for every run."""
    chance = np.random.default_rng(5)
    rates = 10 ** chance.uniform(-5, -1, 80)
    rows = [row(i, chance.random() < (0.85 if r > 1e-3 else 0.1), lr=float(r), other=float(chance.random())) for i, r in enumerate(rates)]
    (look,) = common(rows)["settings"]
    assert look["setting"] == "lr" and look["above"] and look["value"] == pytest.approx(np.median(rates))
    assert 0.1 < look["low"] < look["failed"] - look["others"] < look["high"]
    assert any("several seeds" in note for note in common(rows)["notes"])


def test_seeds_are_no_independent_witnesses() -> None:
    """Runs of a variant that all do the same count as one."""
    groups = np.repeat(np.arange(10), 8)
    alike = np.repeat(np.arange(10) % 2, 8).astype(float)
    assert design_effect(alike, groups) == pytest.approx(8, rel=0.05)
    assert design_effect(np.random.default_rng(0).integers(0, 2, 80).astype(float), groups) < 2
    assert design_effect(alike, np.arange(80)) == 1.0


def test_two_values_are_one_look_and_nothing_is_looked_at_where_all_failed() -> None:
    """A look a question."""
    values = {"a": [1, 2] * 10, "b": ["x", "y", "z", "x", "y"] * 4}
    assert len(looks_at(values, np.arange(20) < 10, range(20))) == 4
    assert looks_at(values, np.ones(20, bool), range(20)) == []
    assert surviving([], 0.05) == []


def test_few_runs_and_none_that_differ_are_said() -> None:
    """No number is made up."""
    assert "too few" in common([row(i, False) for i in range(4)])["notes"][0]
    same = common([row(i, i % 2 == 0) for i in range(12)])
    assert "cannot be told from settings" in same["notes"][0]
    assert same["number_of_variants"] == 1


def test_closed_forms() -> None:
    """Variants and twins of a table that can be checked by hand."""
    rows = [row(i, False, a=i % 2) for i in range(4)]
    varied, same = settings_of(rows)
    assert set(varied) == {"seed", "name", "a"}
    assert same == {"gamma": 0.99}
    assert grouped({"a": varied["a"]}, 4) == [0, 1, 0, 1]
    assert changed_together({"a": [1, 2, 1], "b": ["x", "y", "x"], "c": [1, 1, 2]}) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("count", [2, 20])
def test_what_the_infrastructure_lost_is_counted_over_all_runs(count):
    """Runs that lost more than a twentieth of their episodes are counted, few runs and those that cannot be judged yet too."""
    rows = [row(i, False) | {"episodes_lost": (0.3, 0.01, None)[i % 3], "urgency": "undecided"} for i in range(count)]
    lost = sum(r["episodes_lost"] == 0.3 for r in rows)
    assert f"{lost} of the runs lost over 5 % of their episodes to errors or the infrastructure, at worst 30 %" in common(rows)["notes"]
    assert notes(rows[1:2]) == []
