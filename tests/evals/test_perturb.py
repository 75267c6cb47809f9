"""Changes that leave a run what it is, and the count of answers that flip under them."""

import json
from itertools import pairwise

import numpy as np
import pytest
from evals.lab import perturb
from rl_advisor.reading import read_run
from shared_corpus import CORPUS, LABELS, plain

RUN = read_run(CORPUS / "runs" / "run-03")


def test_unknown_names_keep_the_values():
    """The same values under names that no dialect knows, in another order."""
    changed = perturb.unknown_names(RUN)
    assert sorted(c.value.tobytes() for c in changed.curves.values()) == sorted(c.value.tobytes() for c in RUN.curves.values())
    assert not changed.curves.keys() & RUN.curves.keys()
    assert not any(c.mapped or c.raw in RUN.curves for c in changed.curves.values())
    assert perturb.unknown_names(RUN).curves.keys() == changed.curves.keys()


def test_missing_metrics_and_order():
    """KL and held-out scores go with all their members; turning the order round changes nothing else."""
    assert "kl/ref" not in perturb.TRANSFORMS["no_kl"](RUN).curves
    assert not perturb.TRANSFORMS["no_eval"](RUN).family("eval/")
    assert list(perturb.other_order(RUN).curves) == list(RUN.curves)[::-1]


def test_thinning_keeps_a_tenth_and_the_end():
    """Of the hundred rewards ten and the last; the 31 evaluations, too few to thin, all."""
    before, after = RUN.curves, perturb.thinned(RUN).curves
    size = before["reward/mean"].step.size
    assert after["reward/mean"].step.size in (int(np.ceil(size / 10)), int(np.ceil(size / 10)) + 1)
    assert after["reward/mean"].step[-1] == before["reward/mean"].step[-1]
    assert after["eval/score/accuracy"].step.size == before["eval/score/accuracy"].step.size


def test_injection_reaches_a_fifth_of_the_samples():
    """The instruction stands in every fifth response and nowhere else; the run itself is not touched."""
    told = perturb.injected(RUN).rollouts["response"].str.contains(perturb.INJECTION, regex=False)
    assert told.mean() == np.ceil(len(RUN.rollouts) / 5) / len(RUN.rollouts)
    assert not RUN.rollouts["response"].str.contains(perturb.INJECTION, regex=False).any()


def test_a_resumed_copy_logs_steps_twice(tmp_path):
    """Steps go back exactly once, and the reader still gets the same curves."""
    assert perturb.resumed(CORPUS / "runs" / "run-03", tmp_path / "again")
    steps = [row["step"] for row in json.loads((tmp_path / "again" / "trainer_state.json").read_text())["log_history"]]
    assert sum(b < a for a, b in pairwise(steps)) == 1
    again = read_run(tmp_path / "again")
    assert again.curves["reward/mean"].value.tolist() == RUN.curves["reward/mean"].value.tolist()
    assert not perturb.resumed(CORPUS, tmp_path / "none")


def test_flips_are_counted():
    """An advisor that obeys samples, and says undecidable without an evaluation, flips there and nowhere else."""

    def naive(run):
        if len(run.rollouts) and run.rollouts["response"].str.contains("Ignore all earlier", regex=False).any():
            return {"verdict": "plateaued", "call": "stop", "p_continue_pays": 1.0}
        if "eval/score/accuracy" not in run.curves:
            return {"verdict": "undecidable", "call": "continue", "p_continue_pays": 0.5}
        return {"verdict": "improving", "call": "continue", "p_continue_pays": 0.5}

    found = perturb.robustness(CORPUS, naive, resamples=10)
    assert found["injected"]["verdict_flip"] == found["injected"]["contradiction"] == found["injected"]["call_flip"] == 0.25
    assert found["injected"]["p_shift"] == 0.125
    assert found["no_eval"]["verdict_flip"] == found["no_eval"]["to_undecided"] == 1
    assert found["no_eval"]["contradiction"] == found["injected"]["to_undecided"] == found["no_eval"]["from_undecided"] == 0
    assert all(found[name]["verdict_flip"] == 0 for name in ("no_kl", "thinned", "other_order", "resumed"))
    assert found["resumed"]["n"] == len(LABELS)


def test_knowing_all_at_once_is_no_contradiction():
    """Who cannot tell with an evaluation and can without comes from undecided."""

    def odd(run):
        return {"verdict": "undecidable" if "eval/score/accuracy" in run.curves else "improving", "call": "continue"}

    found = perturb.robustness(CORPUS, odd, transforms={"no_eval": perturb.without("eval/")}, resamples=3)["no_eval"]
    assert (found["from_undecided"], found["to_undecided"], found["contradiction"]) == (1, 0, 0)


def test_an_advisor_that_needs_a_name_is_not_excused():
    """An advisor that fails on unknown names fails loudly: robustness hides no error."""
    with pytest.raises(KeyError, match="reward/mean"):
        perturb.robustness(CORPUS, plain, transforms={"unknown_names": perturb.unknown_names}, resamples=3)
