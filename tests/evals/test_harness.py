"""The bench as a whole: a perfect advisor scores perfectly, a changed label or metric shows, and nobody sees the future."""

import json
from dataclasses import replace

import pytest
from evals.lab.accuracy import confusion
from rl_advisor.evals import harness
from rl_advisor.evals.answers import read_answer, read_answers
from rl_advisor.evals.corpus import Corpus, Label
from rl_advisor.reading import read_run
from shared_corpus import CORPUS, LABELS, plain, truth

CUTS = (0.25, 0.5, 0.75)


def answers(tmp_path, lines):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def perfect_lines():
    return [truth(label, cut) for label in LABELS.values() for cut in (*CUTS, 1.0)]


def test_the_truth_scores_perfectly(tmp_path):
    """Answers taken from the labels hit everything, at full length and at the cuts, and no false alarm is counted."""
    result = harness.score_answers(CORPUS, answers(tmp_path, perfect_lines()), resamples=20)
    whole, pooled = result["cuts"]["1"], result["pooled"]
    assert [whole[m] for m in ("verdict_hit", "macro_f1", "link_hit", "onset_hit")] == [1, 1, 1, 1]
    assert [whole[m] for m in ("healthy_called_broken", "checkpoint_regret", "onset_distance")] == [0, 0, 0]
    assert [pooled[m] for m in ("balanced_accuracy", "auroc", "verdict_hit")] == [1, 1, 1]
    assert pooled["brier"] == pytest.approx(0.01)
    assert result["missing"] == []
    assert whole["n"] == 4
    assert whole["counts"]["link_hit"] == 2
    assert whole["auroc"] is None


def test_prefixes_are_judged_only_once_the_fault_is_there(tmp_path):
    """The spike at 150 of 300 is judged at 75 percent and not at 50; the hacking that starts at step 20 at every cut."""
    result = harness.score_answers(CORPUS, answers(tmp_path, perfect_lines()), resamples=5)
    assert [result["cuts"][c]["counts"]["verdict_hit"] for c in ("0.25", "0.5", "0.75", "1")] == [1, 1, 2, 4]
    assert [result["cuts"][c]["counts"]["healthy_called_broken"] for c in ("0.25", "1")] == [2, 2]


MUTANTS = {
    "verdict": lambda label: replace(label, verdicts=frozenset({"unstable"})),
    "verdict joins a set": lambda label: replace(label, verdicts=label.verdicts ^ {"undecidable", min(label.verdicts)}),
    "link": lambda label: replace(label, links=frozenset({"systems"})),
    "onset": lambda label: replace(label, onset=(250.0, 260.0)),
    "best checkpoint": lambda label: replace(label, truth=label.truth[::-1]),
    "continue pays": lambda label: replace(
        label, prefixes={c: replace(p, continue_pays=not p.continue_pays) for c, p in label.prefixes.items()}
    ),
    "gain": lambda label: replace(label, prefixes={c: replace(p, gain_after=p.gain_after + 0.5) for c, p in label.prefixes.items()}),
    "healthy": lambda label: replace(label, links=frozenset()),
}


def scored(labels: dict[str, Label]):
    """The result for the answers of the unchanged labels."""
    found = [harness.score_row(label, cut, read_answer(truth(LABELS[run], cut))) for run, label in labels.items() for cut in (*CUTS, 1.0)]
    return harness.summarize(Corpus(CORPUS, labels), found, rows=False, resamples=3)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_changed_label_changes_the_score(mutant):
    """Each part of the label of the spike run, changed alone, moves a metric."""
    changed = dict(LABELS) | {"run-01": MUTANTS[mutant](LABELS["run-01"])}
    before, after = scored(dict(LABELS)), scored(changed)
    assert [before["cuts"], before["pooled"]] != [after["cuts"], after["pooled"]]


def test_no_two_metrics_are_the_same():
    """For an advisor that is wrong in its own way everywhere, swapping any two metrics would show."""
    found = [harness.score_row(label, cut, read_answer(odd(i, cut))) for i, label in enumerate(LABELS.values()) for cut in CUTS]
    block = harness.block(found, resamples=3)
    values = {m: block[m] for m in harness.MEASURES if m in block} | {f"regret {p}": v for p, v in block["regret_by_price"].items()}
    defined = {m: round(v, 6) for m, v in values.items() if v == v}  # noqa: PLR0124 - NaN is not itself
    assert len(defined) >= 15
    assert len(set(defined.values())) == len(defined), defined


def odd(i: int, cut: float):
    """Answers of no meaning, each metric's own way wrong."""
    late = cut > 0.5
    return {
        "verdict": ("collapsed", "improving", "unstable" if late else "reward_hacking", "degrading")[i],
        "first_broken_link": ("numerics", "none", "reward_signal" if late else "numerics", "none")[i],
        "p_continue_pays": (0.1, 0.65, 0.35, 0.52)[i] * (1.2 - cut),
        "call": "continue" if i < 2 or (i == 3 and cut != 0.5) else "stop",
        "best_step": 40 * i,
        "onset_step": (197.0, None, 9.0 + 100 * cut, None)[i],
    }


def test_an_advisor_never_sees_past_the_cut():
    """What each view holds ends at its cut, under a name that says nothing; the plan stays known."""
    seen = []

    def advise(run):
        seen.append((run.name, run.last_step, run.planned_steps, max((c.step for c in run.checkpoints), default=0)))
        return plain(run)

    harness.evaluate(CORPUS, advise, (0.5,), resamples=3)
    assert seen[:2] == [("run", 150, 300, 150), ("run", 300, 300, 300)]
    assert {name for name, *_ in seen} == {"run"}
    assert all(checkpoint <= last for _, last, _, checkpoint in seen)


def test_the_same_input_gives_the_same_output():
    """All but the seconds, intervals included; and each run is read once."""
    reads = []

    def read(path):
        reads.append(path.name)
        return read_run(path)

    first, second = (harness.evaluate(CORPUS, plain, rows=True, resamples=20, read=read) for _ in range(2))
    for result in (first, second):
        for row in result["rows"]:
            row.pop("seconds")
    assert first == second
    assert reads == 2 * list(LABELS)
    assert json.loads(json.dumps(first)) == first


def test_a_run_without_an_answer_counts_as_wrong(tmp_path):
    """Leaving out the hard runs buys nothing, and the result names them."""
    result = harness.score_answers(CORPUS, answers(tmp_path, [truth(LABELS["run-02"])]), resamples=5)
    assert result["cuts"]["1"]["verdict_hit"] == 0.25
    assert result["missing"] == ["run-01 at 1", "run-03 at 1", "run-04 at 1"]


def test_rows_and_confusion_show_single_runs(tmp_path):
    """One row a run and cut on demand; a miss stands under the admitted set."""
    lines = [truth(label) | {"verdict": "collapsed"} for label in LABELS.values()]
    result = harness.score_answers(CORPUS, answers(tmp_path, lines), rows=True, resamples=5)
    assert [row["verdict_hit"] for row in result["rows"]] == [1, 0, 0, 0]
    found = [harness.score_row(label, 1.0, read_answer({"verdict": "collapsed"})) for label in LABELS.values()]
    assert confusion(found, "verdict")["collapsed"] == confusion(found, "verdict")["reward_hacking"] == {"collapsed": 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"run": "run-77", "verdict": "improving"}, "run-77"),
        ({"run": "run-01", "call": "wait"}, "call: Input should be .*'continue', 'stop' or 'undecided'"),
        ({"run": "run-01", "p_continue_pays": 1.5}, "less than or equal to 1"),
        ({"verdict": "improving"}, "line 1"),
        (["run-01"], "line 1"),
        ({"run": "run-01", "cut": 0.4}, "0.25, 0.5, 0.75"),
    ],
)
def test_a_bad_answer_is_named(tmp_path, line, words):
    """The message says which line or run, and what would be right."""
    with pytest.raises(ValueError, match=words):
        harness.score_answers(CORPUS, answers(tmp_path, [line]), resamples=3)


def test_an_answer_twice_is_refused(tmp_path):
    """Two answers to one run and cut cannot both count."""
    with pytest.raises(ValueError, match="twice"):
        read_answers(answers(tmp_path, [truth(LABELS["run-01"]), truth(LABELS["run-01"])]))


def test_a_cut_without_labels_is_refused():
    """The message names the cuts that the labels speak about."""
    with pytest.raises(ValueError, match=r"0\.25, 0\.5, 0\.75"):
        harness.evaluate(CORPUS, plain, (0.4,))


def test_an_assessment_and_a_flat_line_say_the_same():
    """The nested form of the contract and the line of an answers file."""
    nested = {
        "verdict": "collapsed",
        "call": "stop",
        "best_checkpoint": {"step": 150, "path": None},
        "onset": {"step": 181, "low": 1, "high": 2},
    }
    flat = {"verdict": "collapsed", "call": "stop", "best_step": 150, "onset_step": 181}
    assert read_answer(nested) == read_answer(flat)
    assert read_answer({"best_checkpoint": None, "onset": None}).best_step is None


def test_regret_of_going_on_and_stopping_add_up():
    """At any price the one's regret or the other's is zero, run by run."""
    for label, cut in [(label, cut) for label in LABELS.values() for cut in CUTS]:
        lost = [harness.score_row(label, cut, read_answer({"call": call})).values["regret at 0.1"] for call in ("stop", "continue")]
        assert min(lost) == 0 <= max(lost)
