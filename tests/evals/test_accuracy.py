"""Result files and the pages made of them: deterministic, nothing typed by hand, and the README is as the results have it."""

import json
from pathlib import Path

import pytest
from evals.lab import accuracy, pages
from evals.lab.arms import ARMS
from rl_advisor.evals.answers import read_answer
from rl_advisor.evals.harness import score_row
from shared_corpus import CORPUS, LABELS, plain

ROOT = Path(__file__).parents[2]
CHOSEN = {accuracy.REFERENCE: plain, accuracy.BLIND: plain, "patience_20": ARMS["patience_20"]}


def test_measuring_twice_gives_the_same_bytes(tmp_path):
    """No clock and no chance is in a result file."""
    files = [accuracy.write_results(accuracy.measure(CORPUS, CHOSEN, resamples=5, flips=False), tmp_path / str(k)) for k in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_splits_add_up_and_arms_are_compared_with_the_reference():
    """Every run is in one split, and each other arm carries its paired difference."""
    result = accuracy.measure(CORPUS, CHOSEN, resamples=5, flips=False)
    assert sum(part["runs"] for part in result["splits"].values()) == result["all"]["runs"] == 4
    assert "against_builtin" not in result["all"]["arms"][accuracy.REFERENCE]
    assert result["all"]["arms"][accuracy.BLIND]["against_builtin"]["verdict_hit"] == [0, 0, 0]


def test_committed_pages_are_made_of_the_committed_results():
    """docs/dev/accuracy.md and the README's block say what evals/results says, and limits come before figures."""
    results = accuracy.read_results(ROOT / "evals" / "results")
    first = accuracy.read_first(ROOT / "evals" / "results" / "first")
    text = (ROOT / "docs" / "dev" / "accuracy.md").read_text(encoding="utf-8")
    assert text == pages.page(results, first)
    assert text.index("do not show") < text.index("verdict_hit")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == pages.fill(readme, pages.readme_block())


def test_committed_results_are_of_the_committed_corpora():
    """Each corpus has its results, with as many runs, no leak, and development told apart; four runs in ten are sound."""
    results = {r["corpus"]: r for r in accuracy.read_results(ROOT / "evals" / "results")}
    corpora = {name: accuracy.read_corpus(ROOT / "evals" / "corpus" / name).labels for name in ("grpo", "classic", "unseen", "second")}
    assert {name: r["all"]["runs"] for name, r in results.items()} == {name: len(labels) for name, labels in corpora.items()}
    assert all(r["leaks"] == [] and r["warning"] for r in results.values())
    for name, result in results.items():
        about = json.loads((ROOT / "evals" / "corpus" / name / "about.json").read_text(encoding="utf-8"))
        assert {key: result[key] for key in about} == about
    assert results["grpo"]["role"] == "development"
    assert set(results["unseen"]["splits"]) == set(results["second"]["splits"]) == {"test"}
    assert not any("test" in results[name]["splits"] for name in ("grpo", "classic"))
    every = [label for labels in corpora.values() for label in labels.values()]
    assert sum(label.healthy for label in every) >= 0.4 * len(every)


def test_a_first_look_is_taken_once(tmp_path):
    """It says which code was scored, stands on the page apart from today's scores, and is never replaced."""
    path = accuracy.first_look(CORPUS, CHOSEN, tmp_path)
    found = accuracy.read_first(tmp_path)["corpus"]
    assert found["code"] == accuracy.code_digest()
    assert found["all"] == accuracy.measure(CORPUS, CHOSEN, flips=False)["all"]
    written = path.read_bytes()
    with pytest.raises(FileExistsError, match="no second"):
        accuracy.first_look(CORPUS, CHOSEN, tmp_path)
    assert path.read_bytes() == written
    text = pages.page([accuracy.measure(CORPUS, CHOSEN, resamples=5, flips=False)], {"corpus": found})
    assert text.index("The first look") < text.index("The same runs by the code of today")


def test_filling_keeps_the_rest_of_the_text():
    """Only what stands between the markers is replaced, and a text without markers is refused."""
    text = f"before\n{pages.BEGIN}\nold\n{pages.END}\nafter"
    assert pages.fill(text, "new") == f"before\n{pages.BEGIN}\nnew\n{pages.END}\nafter"
    assert pages.fill(pages.fill(text, "new"), "new") == pages.fill(text, "new")
    with pytest.raises(ValueError, match="lacks"):
        pages.fill("no markers", "new")


def test_costs_are_shown_where_answers_carry_them():
    """Tokens and money of answers become means; an arm without them has none."""
    priced = [score_row(label, 1.0, read_answer({"tokens": 100 * k, "money": 0.5})) for k, label in enumerate(LABELS.values())]
    assert accuracy.cost(priced) == {"tokens": 150, "money": 0.5}
    assert accuracy.cost([score_row(label, 1.0, read_answer({"verdict": "improving"})) for label in LABELS.values()]) == {}
