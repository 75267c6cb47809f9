"""Corpora on disk: labels, splits, and what is wrong with a bad one."""

import json

import pytest
from evals.lab import splits
from rl_advisor.evals import corpus
from shared_corpus import CORPUS, LABELS


def test_labels_are_read_as_written():
    """The learning-rate spike at 150 and the run that only rises, as labels.json has them."""
    spike, rising = LABELS["run-01"], LABELS["run-02"]
    assert (spike.family, spike.verdicts, spike.links) == ("lr-spike", {"collapsed"}, {"policy_update"})
    assert (spike.injected_at, spike.drop_at, spike.onset) == (150, 150, (140, 160))
    assert (spike.prefixes[0.5].step, spike.prefixes[0.5].continue_pays) == (150, False)
    assert rising.healthy
    assert rising.onset is None
    assert rising.truth_steps[-1] == rising.steps == 260


def test_a_fault_is_visible_only_after_it_was_put_in():
    """At step 150 the spike has not acted yet; at 225 it has; at its end every run can be judged."""
    assert [LABELS["run-01"].visible_at(s) for s in (75, 150, 225, 300)] == [False, False, True, True]
    assert [LABELS["run-02"].visible_at(s) for s in (195, 260)] == [False, True]


def test_splits_keep_families_together():
    """Every label is in one of the three splits, all runs of a family in the same one."""
    parts = {name: splits.of_split(LABELS.values(), name) for name in splits.SPLITS}
    assert sum(map(len, parts.values())) == len(LABELS)
    families = [{label.family for label in part} for part in parts.values()]
    assert not families[0] & families[1] | families[1] & families[2] | families[0] & families[2]


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (None, FileNotFoundError, "labels.json"),
        ({"run-09": json.loads((CORPUS / "labels.json").read_text())["run-01"]}, FileNotFoundError, "run-09"),
        ({"run-01": {"scenario": "x", "verdicts": []}}, ValueError, "truth"),
    ],
)
def test_a_bad_corpus_says_what_is_wrong(tmp_path, labels, error, words):
    """The message names the file, the run or the field."""
    (tmp_path / "runs" / "run-01").mkdir(parents=True)
    if labels is not None:
        (tmp_path / "labels.json").write_text(json.dumps(labels))
    with pytest.raises(error, match=words):
        corpus.read_corpus(tmp_path)


def test_an_unknown_split_names_the_choices():
    """Smoke, dev and test."""
    with pytest.raises(ValueError, match="smoke, dev, test"):
        splits.of_split(LABELS.values(), "train")
