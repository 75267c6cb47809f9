"""What sound runs showed: ranges by method and framework, silence where nobody ran, and what is said of a value."""

from dataclasses import replace

import numpy as np
import pytest
from evals.world import bank as building
from evals.world import sound
from rl_advisor.answers.curves import summaries
from rl_advisor.answers.document.curves import drawn, payload
from rl_advisor.run import Curve, Run
from rl_advisor.settings.priors import Circumstances, bank, prior
from rl_advisor.tools.advisors.builtin import assess


@pytest.mark.parametrize(
    ("metric", "value", "known", "side"),
    [
        ("policy/grad_norm", 0.5, {"method": "grpo"}, "usual"),
        ("policy/grad_norm", 300, {"method": "grpo"}, "above"),
        ("kl/ref", 0.04, {"method": "grpo", "framework": "trl"}, "usual"),
        ("entropy/mean", 1e-6, {"method": "grpo"}, "far_below"),
        ("response/length", 150, {"method": "grpo"}, "usual"),
    ],
)
def test_a_value_lies_where_sound_runs_lie(metric, value, known, side) -> None:
    row = prior(metric, Circumstances(**known))
    assert row is not None
    assert row.seen is not None
    assert row.side(value) == side


@pytest.mark.parametrize(
    ("metric", "known"),
    [
        ("entropy/mean", {}),
        ("entropy/mean", {"method": "a2c"}),
        ("policy/learning_rate", {"method": "grpo"}),
        ("kl/ref", {"method": "dqn"}),
        ("response/truncated", {"method": "grpo"}),
        ("reward/flat_groups", {"method": "grpo"}),
    ],
)
def test_where_nobody_of_the_kind_was_measured_nothing_is_said(metric, known) -> None:
    assert bank.usual(metric, Circumstances(**known)) is None


def test_what_is_said_names_the_runs_and_the_range() -> None:
    usual = bank.Usual(41, 20, "grpo/trl", "late", 0.05, 0.6, 0.01, 2.0)
    assert usual.says(0.004) == "0.004 is below nearly all of 41 sound GRPO runs of trl after their first tenth (nine of ten: 0.05 to 0.6)."
    assert "among the lowest" in usual.says(0.03)
    assert "within nine of ten" in usual.says(0.3)


def test_a_repository_is_one_vote_and_a_thin_group_leans_on_the_wider() -> None:
    """Ninety runs of one owner weigh as one run of another; four owners of a framework are pulled towards the method."""

    def of(owner: str, value: float, framework: str) -> sound.Told:
        return sound.Told("kl/ref", "", owner, (f"grpo/{framework}", "grpo"), np.full(25, value))

    many = [of("a/a", 9.0, "x")] * 90 + [of(f"b/{i}", 1.0, "x") for i in range(9)]
    assert sound.measured(many)["kl/ref"]["grpo"][3][0.5] == 1.0
    thin = sound.measured([of(f"c/{i}", 5.0, "y") for i in range(4)] + [of(f"d/{i}", 1.0, "x") for i in range(40)])["kl/ref"]
    assert thin["grpo/y"][3][0.5] == 1.0


def test_a_band_is_as_narrow_as_it_was_fitted_and_open_where_the_table_has_no_words() -> None:
    """A wider band reaches farther on both sides; a clip fraction is never too small; a metric without a band is not told."""
    rows = [sound.Told("ratio/clip_fraction", "", f"a/{i}", ("ppo",), np.linspace(0.01, 0.3, 25) * (1 + i / 9)) for i in range(9)]
    kind, found = rows[0].kind, sound.measured(rows)
    made = [building.bank(found, {kind: band}, {})["ratio/clip_fraction"]["ppo"] for band in building.BANDS if band[0] == band[1]]
    assert [row[:2] for row in made] == [[9, 9]] * len(made)
    assert [row[2] for row in made] == [0.0] * len(made)
    assert sorted(row[6] for row in made) == [row[6] for row in made]
    assert made[0][6] < made[-1][6]
    assert building.bank(found, {}, {}) == {}


@pytest.mark.parametrize(
    ("metric", "cell", "band", "ends"),
    [
        ("ratio/clip_fraction", "ppo", (0.05, 0.001, 0.0), (0.0, 0.5)),  # no word for too small; above 0.5 nineteen of twenty count
        ("ratio/clip_fraction", "ppo", (0.02, 0.001, 0.0), (0.0, 0.6)),
        ("ratio/clip_fraction", "ppo", (0.05, 0.05, 0.0), (0.0, 0.5)),
        ("entropy/mean", "grpo", (0.05, 0.001, 0.0), (0.003, 0.9)),  # far below a twentieth of sound runs, and below the table's own
        ("pairs/margin", "preference", (0.05, 0.02, 0.0), (0.0, 0.6)),  # nothing is as usual as little where the table allows it
        ("pairs/margin", "ppo", (0.05, 0.02, 0.0), (0.004, 0.6)),  # the table has no row: the bank alone
    ],
)
def test_bank_and_table_bound_together(metric, cell, band, ends) -> None:
    q = {0.001: 0.002, 0.02: 0.004, 0.05: 0.01, 0.5: 0.2, 0.95: 0.5, 0.98: 0.6, 0.999: 0.9}
    assert building.bounds(metric, cell, q, band) == ends


def test_the_band_that_sees_most_is_chosen_among_those_that_call_few_sound_values_unusual() -> None:
    row = sound.Told("kl/old", "", "a/a", ("ppo", "control"), np.zeros(25))
    flat = np.full(len(building.BANDS), 0.2)
    outside, far = flat.copy(), flat.copy()
    outside[[3, 7]], far[[1, 3, 7]] = 0.04, (0.9, 0.5, 0.7)
    seen = building.Found(row, 0, outside, far, np.zeros((len(flat), 0)))
    assert building.chosen([seen]) == 7
    assert building.chosen([replace(seen, outside=flat)]) is None
    assert building.chosen([]) is None


def test_a_framework_that_the_bank_does_not_know_is_told_wider_bounds() -> None:
    rows = [
        sound.Told("response/length", "", f"a/{i}", ("grpo/trl", "grpo", "language"), np.linspace(10, 100, 25) * (1 + i)) for i in range(9)
    ]
    made = building.bank(sound.measured(rows), {rows[0].kind: (0.05, 0.05, 0.0)}, {rows[0].kind: (0.05, 0.001, 1.0)})
    own, unknown, strange = (
        bank.usual_of(made, "response/length", among, "") for among in (("grpo/trl", "grpo"), ("grpo",), ("grpo/x", "grpo"))
    )
    assert own.most == unknown.most < strange.most
    assert own.least == unknown.least > strange.least
    assert strange.low == unknown.low


def test_what_readers_named_is_of_metrics_that_are_asked() -> None:
    """A value of a metric that nobody asks for would never count."""
    asked = {metric for metric, kind in building.broken()}
    assert asked <= set(bank._bank())


def test_a_run_that_the_table_calls_broken_says_nothing_of_what_is_usual() -> None:
    def of(value: float) -> list[sound.Told]:
        curve = Curve("entropy/mean", "entropy", "f", np.arange(20.0), np.full(20, value), mapped=True)
        return list(sound.told("a/b", Run(curves={"entropy/mean": curve}), Circumstances(method="grpo")))

    assert {row.phase for row in of(0.2)} == {"early", "late", ""}
    assert of(0.0) == []


@pytest.mark.parametrize(
    ("name", "last", "planned", "says"),
    [
        ("policy/grad_norm", 500.0, None, "above nearly all"),
        ("policy/grad_norm", 0.5, None, "within nine of ten"),
        ("policy/grad_norm", 0.5, 1000, "in their first tenth"),
        ("value/loss", 0.5, None, ""),
    ],
)
def test_a_curve_says_where_its_last_value_lies_among_others(name: str, last: float, planned: int | None, says: str) -> None:
    curve = Curve(name, name, "f", np.arange(20.0), np.full(20, last), mapped=True)
    run = Run(curves={name: curve}, frameworks=("trl",), planned_steps=planned)
    (told,) = summaries(run)["metrics"]
    assert says in told.get("usual", "")
    assert bool(says) == ("usual" in told)


@pytest.mark.parametrize(("last", "says"), [(0.5, ""), (500.0, "above nearly all")])
def test_a_curve_of_the_page_stands_inside_the_band_of_others(last: float, says: str) -> None:
    """The band is handed to the page; a word is said where the curve ends outside of it. Where nobody was measured there is none."""
    values = {"policy/grad_norm": np.geomspace(0.4, last, 20), "reward/mean": np.linspace(0.1, last, 20)}
    run = Run(curves={n: Curve(n, n, "f", np.arange(20.0), v, mapped=True) for n, v in values.items()}, frameworks=("trl",))
    judged = assess(run)
    shown = {d.curve.name: d for d in drawn(run, judged)}
    told = {c["name"]: c["usual"] for c in payload(run, judged, list(shown.values()))["curves"]}
    assert told["policy/grad_norm"][0] < 0.5 < told["policy/grad_norm"][1] < 500
    assert told["reward/mean"] is None
    assert says in shown["policy/grad_norm"].among
    assert bool(says) == bool(shown["policy/grad_norm"].among)
