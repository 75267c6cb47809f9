"""Runs side by side: variants are told apart from seeds, few seeds are said to be few, and what changed is named only where it can be."""

import json
import re
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.answers.compare import compare, differing
from rl_advisor.answers.reports import html
from rl_advisor.cli.commands import main
from rl_advisor.cli.printing import text
from rl_advisor.features.aggregate import gap, improvement, interquartile_mean, least_p, level, rank_p
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run

from test_reports import HOSTILE, Parts


def seeds(folder: Path, name: str, count: int, top: float, **config) -> list[Path]:
    """Run folders of one variant, with noise of their own."""
    out = []
    for seed in range(count):
        chance = np.random.default_rng([seed, sum(map(ord, name))])
        run = folder / f"{name}-{seed}"
        run.mkdir(parents=True)
        height = top + chance.normal(0, 0.03)
        rows = [
            {"step": i, "reward": 0.2 + (height - 0.2) * (1 - np.exp(-i / 15)) + chance.normal(0, 0.02), "kl": i / 1000}
            for i in range(1, 61)
        ]
        (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (run / "config.json").write_text(json.dumps({"seed": seed, "max_steps": 60, "output_dir": f"out/{name}-{seed}", **config}))
        out.append(run)
    return out


def answer(paths: list[Path]) -> dict:
    """What is said of them."""
    return compare([read_run(path) for path in paths])


def test_seeds_are_one_variant_and_a_single_change_is_named(tmp_path) -> None:
    """Seed and folder make no variant; five seeds that all lie above five others are better, and the one setting that differs is named."""
    low = seeds(tmp_path, "low", 5, 0.5, learning_rate=1e-6)
    found = answer(low + seeds(tmp_path, "high", 5, 0.8, learning_rate=1e-5))
    assert [(v["variant"], len(v["runs"])) for v in found["variants"]] == [("A", 5), ("B", 5)]
    (pair,) = found["between"]
    assert pair["probability_of_improvement"]["value"] == 1.0
    assert pair["p"] == pytest.approx(2 / comb(10, 5))
    assert re.match(r"B ends 0\.\d+ above A \(0\.\d+ against 0\.\d+", pair["said"])
    assert "learning_rate 1e-6 → 1e-5" in pair["said"] and "the one setting that differs" in pair["said"]
    assert found["said"] == [pair["said"]]
    assert pair["b_minus_a"]["low"] > 0.2 and found["notes"] == ["The task is not logged; it is taken to be the same."]
    assert answer(low)["between"] == []


@pytest.mark.parametrize("count", [1, 2, 3])
def test_three_seeds_are_too_few_to_say(tmp_path, count) -> None:
    """However far apart three seeds and three seeds lie, it is not said that one variant is better."""
    found = answer(seeds(tmp_path, "low", count, 0.3, beta=0.1) + seeds(tmp_path, "high", count, 0.9, beta=0.2))
    assert "may be luck" in found["between"][0]["said"]
    assert any("too few" in note for note in found["notes"])


def test_several_changes_cannot_be_told_apart_and_equals_are_not_called_equal(tmp_path) -> None:
    """Two settings that changed together share the credit; variants that do not differ are not said to be the same."""
    low = seeds(tmp_path, "low", 4, 0.5, learning_rate=1e-6, beta=0.1)
    both = answer(low + seeds(tmp_path, "high", 4, 0.8, learning_rate=1e-5, beta=0.2))["between"][0]["said"]
    assert "2 settings did it cannot be told" in both
    same = answer(low + seeds(tmp_path, "other", 4, 0.5, learning_rate=1e-6, beta=0.2))["between"][0]["said"]
    assert "not to say that they are equal" in same


def test_a_setting_under_two_names_is_one_setting(tmp_path) -> None:
    """The framework's name for a setting of ours is not listed again."""
    runs = [read_run(p) for p in seeds(tmp_path, "a", 1, 0.5, learning_rate=1e-6) + seeds(tmp_path, "b", 1, 0.5, learning_rate=1e-5)]
    assert [key for key in differing(runs) if "rate" in key] == ["learning_rate"]


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ({"env_id": "CartPole-v1"}, {"env_id": "Pendulum-v1"}, "different tasks (environment CartPole-v1 and Pendulum-v1)"),
        ({"dataset_name": "gsm8k"}, {"dataset_name": "math"}, "different tasks (training data gsm8k and math)"),
        ({"eval_temperature": 0.0}, {"eval_temperature": 1.0}, "not evaluated alike"),
        ({"env_id": "CartPole-v1"}, {"env_id": "CartPole-v1"}, ""),
        ({"env_id": "CartPole-v1"}, {}, ""),
    ],
)
def test_unlike_things_are_refused_in_a_plain_sentence(tmp_path, a, b, wanted) -> None:
    """Other tasks and other evaluations are not ranked, drawn or pooled, and the first sentence says why; silence is no reason."""
    runs = [read_run(p) for p in seeds(tmp_path, "a", 1, 0.5, **a) + seeds(tmp_path, "b", 1, 0.8, **b)]
    found = compare(runs)
    assert wanted in found["said"][0] and bool(found["refused"]) == bool(wanted)
    assert bool(found["between"] or found["variants"]) != bool(wanted) and len(found["runs"]) == 2
    assert ("overlay" in html.compared(runs, found).partition("</style>")[2]) != bool(wanted)


def test_rewards_of_other_parts_are_refused() -> None:
    """A reward made of other components is another quantity, though it has the same name."""

    def made(part: str) -> Run:
        step = np.arange(40.0)
        names = ("reward/mean", f"reward/component/{part}")
        return Run(name=part, curves={n: Curve(n, n, "f", step, np.sin(step / 9), mapped=True) for n in names})

    assert "made of different parts (format against length)" in compare([made("format"), made("length")])["said"][0]
    assert not compare([made("format"), made("format")])["refused"]


def test_a_setting_that_only_some_log_makes_no_variant(tmp_path) -> None:
    """Two runs of which one logs a setting more are seeds of one variant; a logged learning rate tells variants apart."""
    more = seeds(tmp_path, "a", 1, 0.5) + seeds(tmp_path, "b", 1, 0.5, beta=0.1)
    assert len(answer(more)["variants"]) == 1
    for run, rate in zip(more, (1e-6, 1e-4), strict=True):
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        (run / "metrics.jsonl").write_text("".join(json.dumps(row | {"learning_rate": rate}) + "\n" for row in rows))
    assert [v["settings"] for v in answer(more)["variants"]] == [{"learning_rate": 1e-6}, {"learning_rate": 1e-4}]


def test_without_any_setting_nothing_is_pooled_and_names_tell_environments() -> None:
    """Runs that log no settings are not called seeds; an environment in a run's name is a task."""

    def made(name: str, top: float) -> Run:
        step = np.arange(40.0)
        return Run(name=name, curves={"reward/mean": Curve("reward/mean", "r", "f", step, top * step / 40, mapped=True)})

    found = compare([made("a", 1.0), made("b", 2.0)])
    assert len(found["variants"]) == 2 and any("No settings are logged" in note for note in found["notes"])
    assert "different tasks" in compare([made("TD3_Walker2d-v1_4.npy", 1.0), made("TD3_HalfCheetah-v1_1.npy", 2.0)])["said"][0]
    assert not compare([made("Tuned-v1", 1.0), made("Tuned-v2", 2.0)])["refused"]


def test_ends_at_other_steps_are_compared_where_all_were(tmp_path) -> None:
    """A run that went on longer is compared at the step that both reached, and that is said."""
    short, long = seeds(tmp_path, "a", 1, 0.5) + seeds(tmp_path, "b", 1, 0.5)
    rows = [json.loads(line) for line in (long / "metrics.jsonl").read_text().splitlines()]
    later = [{"step": i, "reward": 5.0, "kl": 1.0} for i in range(61, 91)]
    (long / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows + later))
    found = answer([short, long])
    assert found["runs"][1]["last"] < 0.6 and found["runs"][1]["final"] < 0.6
    assert "Compared at step 60, the last that all of them reached." in found["notes"]


def test_forty_runs_are_a_table(tmp_path) -> None:
    """Forty settings: one sentence, a ranked table at every door, no forty colours and no pairs."""
    runs = [p for i in range(40) for p in seeds(tmp_path, f"r{i}", 1, 0.3 + i / 80, learning_rate=1e-6 * (i + 1))]
    read = [read_run(p) for p in runs]
    found = compare(read)
    assert len(found["said"]) == 1 and not found["between"] and found["said"][0].startswith("40 runs of 40 variants: final level")
    shown = text("compare", found).splitlines()
    assert len(shown) < 50
    page = html.compared(read, found).partition("</style>")[2]
    assert page.count('class="grey"') == 32 and page.count("<tr>") >= 41
    finals = [row["final"] for row in found["runs"]]
    best = found["runs"][finals.index(max(finals))]["run"]
    assert page.index(f"</i>{best}</th>") == page.index("</i>r", page.index("<tbody>"))


def test_closed_forms() -> None:
    """The middle half of four; the exact p value by hand; ties count half; nothing is known below four against four."""
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.5, 4.0, 5.0, 6.0])
    assert interquartile_mean(np.array([[1.0, 2.0, 3.0, 100.0]]))[0] == 2.5
    assert improvement(a, b).value == pytest.approx(11 / 12)
    both = np.concatenate([a, b])
    deals = [both[list(chosen)] for chosen in combinations(range(7), 3)]
    rest = [np.setdiff1d(both, d) for d in deals]
    share = [float(np.mean(r[:, None] > d[None])) for d, r in zip(deals, rest, strict=True)]
    assert rank_p(a, b) == pytest.approx(np.mean([abs(s - 0.5) >= 11 / 12 - 0.5 - 1e-9 for s in share]))
    assert improvement(np.ones(3), np.ones(3)).value == 0.5 and rank_p(np.ones(3), np.ones(3)) == 1.0
    assert least_p(3, 3) == 0.1 and least_p(4, 4) < 0.05 and least_p(1, 9) == 0.2
    assert level(np.array([1.0, 1.0])).high == 1.0


def test_luck_is_rarely_called_a_difference() -> None:
    """Of 400 pairs of groups that do not differ at most one in twenty is called different; of groups far apart nearly all are."""
    chance = np.random.default_rng(3)
    alarms = [rank_p(*chance.normal(size=(2, 5))) <= 0.05 for _ in range(400)]
    seen = [rank_p(chance.normal(size=5), 3 + chance.normal(size=5)) <= 0.05 for _ in range(100)]
    assert np.mean(alarms) <= 0.06
    assert np.mean(seen) >= 0.9
    assert gap(np.zeros(5), np.ones(5)).value == 1.0


def test_page_is_locked_and_hostile_names_stay_words(tmp_path) -> None:
    """The page has no script, asks for nothing, and shows names and settings of a run as words; Markdown says the same."""
    runs = seeds(tmp_path, "low", 1, 0.5, learning_rate=1e-6, note_to=HOSTILE) + seeds(
        tmp_path, "high", 1, 0.8, learning_rate=1e-5, note_to="b"
    )
    for ending in ("html", "md"):
        done = CliRunner().invoke(main, ["compare", *map(str, runs), "--out", str(tmp_path / f"c.{ending}"), "--json"])
        assert done.exit_code == 0 and json.loads(done.stdout)["between"]
    page = (tmp_path / "c.html").read_text()
    parts = Parts(page)
    assert parts.open == [] and "script" not in {t for t, _ in parts.tags} and "img" not in {t for t, _ in parts.tags}
    assert "script-src 'none'" in page and not re.search(r"https?://", page)
    assert "may be luck" in page and "may be luck" in (tmp_path / "c.md").read_text()
    assert sum(t == "path" for t, _ in parts.tags) == 2
    assert sum(t == "i" and str(a["class"]).startswith("key c") for t, a in parts.tags) == 2  # the table of runs is the legend


def test_wrong_ending_is_the_callers_mistake(tmp_path) -> None:
    """A page is HTML or Markdown."""
    runs = seeds(tmp_path, "low", 2, 0.5)
    assert CliRunner().invoke(main, ["compare", *map(str, runs), "--out", str(tmp_path / "c.doc")]).exit_code == 2


def test_many_members_cost_little_and_say_the_same() -> None:
    """A group of 100,000 episodes is told as one of 60 drawn from the same two curves, within a bounded memory."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 1, 100_000), rng.normal(0.5, 1, 100_000)
    large = improvement(a, b)
    assert large.low < 0.638 < large.high  # normal shift of .5: P(b > a) = Phi(.5 / sqrt 2) = .638
    assert rank_p(a, b) < 1e-9
    assert rank_p(a[:60], a[60:120]) > 0.05
