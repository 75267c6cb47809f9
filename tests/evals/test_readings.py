"""Blind readings kept as data: what the page says of them, and that no disagreement was passed over."""

import json
from pathlib import Path

import pytest
from evals.lab import readings
from shared_corpus import CORPUS, LABELS, truth

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    """Two made-up readers of the small corpus: one answers as the labels do, the other takes every run for improving."""
    right = [truth(label) for label in LABELS.values()]
    easy = [line | {"verdict": "improving", "first_broken_link": "none"} for line in right]
    for name, lines in (("easy", easy), ("right", right)):
        (tmp_path / f"{name}.corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "about.json").write_text(json.dumps({"easy": "sees no evil", "right": "knows"}))
    (tmp_path / "looked.json").write_text(json.dumps({"run-01": "the spike is in the log"}))
    return tmp_path


def test_readers_are_compared_with_each_other_and_with_the_labels(folder):
    """Every run on which they differ is listed with what the label admits; who knows the labels hits them all."""
    found = readings.compare(folder, CORPUS.parent)
    differing = [
        run for run, label in LABELS.items() if truth(label)["verdict"] != "improving" or truth(label)["first_broken_link"] != "none"
    ]
    assert [row["run"] for row in found["rows"]] == differing
    assert found["pairs"]["easy and right"]["kappa"]["call"] in (1, None)
    assert (
        found["scores"]["corpus"]["right"]["cuts"]["1"]["verdict_hit"] == 1 > found["scores"]["corpus"]["easy"]["cuts"]["1"]["verdict_hit"]
    )


def test_what_nobody_looked_at_is_said(folder):
    """The page carries the note on a run that was looked at, and owns up to the others."""
    text = readings.page(readings.compare(folder, CORPUS.parent))
    assert "the spike is in the log" in text
    assert "**not looked at**" in text
    assert "sees no evil" in text


def test_the_shipped_readings_are_whole():
    """At least thirty runs by two readers, each disagreement looked at, and the committed page is made of them."""
    found = readings.compare(ROOT / "evals" / "readings", ROOT / "evals" / "corpus")
    assert min(pair["n"] for pair in found["pairs"].values()) >= 30
    assert {row["run"] for row in found["rows"]} <= set(found["looked"])
    assert set(found["about"]) == set(readings.files(ROOT / "evals" / "readings"))
    assert (ROOT / "docs" / "dev" / "agreement.md").read_text(encoding="utf-8") == readings.page(found)
