"""The wall between labels and advisors: every planted leak is found, and a blind view has none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from evals.lab.leaks import leaks
from rl_advisor.evals.blind import blind
from rl_advisor.evals.corpus import read_corpus
from rl_advisor.reading import read_run
from rl_advisor.run import Checkpoint, Curve, Event, Gap, Run
from shared_corpus import CORPUS, LABELS

LABEL = LABELS["run-03"]
WHOLE = read_run(CORPUS / "runs" / "run-03")
CUT = LABEL.prefixes[0.5].step


def clean() -> Run:
    return blind(WHOLE, CUT)


def with_curve(view: Run, curve: Curve) -> Run:
    return replace(view, curves={**view.curves, curve.name: curve})


def timed(view: Run, start: float) -> Run:
    reward = view.curves["reward/mean"]
    return with_curve(view, replace(reward, time=start + reward.step))


def with_telemetry(view: Run, times: list[float]) -> Run:
    return replace(timed(view, 0.0), telemetry=pd.DataFrame({"time": times, "gpu": 0}))


TRUE_SCORE = Curve("extra", "extra", "log.csv", LABEL.truth_steps[:9], LABEL.truth[:9])
PLANTS = {
    "run name": lambda v: replace(v, name="hack-polite-s1"),
    "later point": lambda v: with_curve(v, WHOLE.curves["kl/ref"]),
    "later time": lambda v: with_curve(timed(v, 500.0), replace(v.curves["kl/ref"], name="time/elapsed", value=v.curves["kl/ref"].step)),
    "later rollouts": lambda v: replace(v, rollouts=WHOLE.rollouts.drop(columns="source")),
    "later checkpoint": lambda v: replace(v, checkpoints=(*v.checkpoints, Checkpoint(250, "checkpoint-250"))),
    "later event": lambda v: replace(v, events=(Event("error", "crashed", "train.log", 280.0),)),
    "event of no step": lambda v: replace(v, events=(Event("error", "crashed", "train.log"),)),
    "later file": lambda v: replace(v, files=(*v.files, "completions_00277.parquet")),
    "later step in a gap": lambda v: replace(v, gaps=(Gap("train.log", "the line of step 290 is torn"),)),
    "later telemetry": lambda v: with_telemetry(v, [1.0, 900.0]),
    "telemetry without a clock": lambda v: replace(v, telemetry=pd.DataFrame({"time": [1.0], "gpu": 0})),
    "scenario in config": lambda v: replace(v, config={**v.config, "data": "hack-polite"}),
    "scenario in nested config": lambda v: replace(v, config={"a": {"b": ["x", "hack-polite"]}}),
    "scenario in settings": lambda v: replace(v, settings={"algorithm": LABEL.source}),
    "scenario in a file": lambda v: replace(v, files=("hack-polite.csv",)),
    "scenario in a curve's source": lambda v: with_curve(v, replace(v.curves["kl/ref"], source="hack-polite.csv")),
    "scenario in a checkpoint": lambda v: replace(v, checkpoints=(Checkpoint(50, "hack-polite-50"),)),
    "scenario in an event": lambda v: replace(v, events=(Event("warning", "saving hack-polite now", "train.log", 10.0),)),
    "note of the label": lambda v: replace(v, config={"comment": LABEL.note}),
    "path in config": lambda v: replace(v, config={"output": "/data/jobs/7"}),
    "path in an event": lambda v: replace(v, events=(Event("error", "in /data/jobs/7/x.py", "train.log", 10.0),)),
    "path of rollouts": lambda v: replace(v, rollouts=v.rollouts.assign(source="/data/jobs/7/a.parquet")),
    "label in config": lambda v: replace(v, config={"label": {"continue_pays": 0}}),
    "counter in config": lambda v: replace(v, config={"trainer.global_step": 300}),
    "best step in config": lambda v: replace(v, config={"best_global_step": 280}),
    "dates of points": lambda v: timed(v, 1.79e9),
    "dates of telemetry": lambda v: with_telemetry(v, [1.79e9]),
}


@pytest.mark.parametrize("kind", PLANTS)
def test_every_planted_leak_is_found(kind):
    """One leak a kind, planted in a view that has none."""
    assert leaks(PLANTS[kind](clean()), LABEL, 0.5)


def test_the_hidden_score_is_found():
    """A curve that is the true score leaks where the run's own log did not hold it, and is no leak where it did."""
    hidden = replace(LABEL, eval_visible=False)
    without = replace(clean(), curves={n: c for n, c in clean().curves.items() if not n.startswith("eval/")})
    assert not leaks(without, hidden, 0.5)
    assert leaks(with_curve(without, TRUE_SCORE), hidden, 0.5) == ["curve extra is the hidden true score"]
    assert not leaks(with_curve(without, TRUE_SCORE), LABEL, 0.5)


def test_a_score_that_stands_still_is_not_found_everywhere():
    """Where the true score is nothing throughout, a curve that is nothing too tells nothing."""
    still = replace(LABEL, truth=np.concatenate([[0.5], np.zeros(LABEL.truth.size - 1)]), eval_visible=False)
    nothing = Curve("x", "x", "log.csv", still.truth_steps[1:9], np.zeros(8))
    assert leaks(with_curve(clean(), nothing), still, 0.5) == []


@pytest.mark.parametrize("run", LABELS)
@pytest.mark.parametrize("cut", [0.25, 0.5, 0.75, 1.0])
def test_blind_views_leak_nothing(run, cut):
    """Of every run of the small corpus at every cut, and a plant that blinding must take out again."""
    label, read = LABELS[run], read_run(CORPUS / "runs" / run)
    told = replace(read, name=label.source, config={**read.config, "run_name": label.family, "output_dir": "/x/" + label.source})
    told = replace(told, gaps=(Gap(f"runs/{label.source}/train.log", "cannot read /x/y/z"),))
    told = timed(told, 1.79e9)
    step = label.steps if cut == 1 else label.prefixes[cut].step
    assert leaks(blind(told, step, whole=cut == 1), label, cut) == []


def test_blind_keeps_what_an_honest_reader_needs():
    """The plan, the hyper-parameters, the metrics and the texts of the samples stay."""
    view = blind(WHOLE, CUT)
    assert view.planned_steps == 300
    assert view.config["beta"] == WHOLE.config["beta"]
    assert view.curves.keys() == WHOLE.curves.keys()
    assert view.curves["kl/ref"].value.tolist() == WHOLE.curves["kl/ref"].until(CUT).value.tolist()
    assert view.rollouts["response"].tolist() == WHOLE.until(CUT).rollouts["response"].tolist()


def test_times_keep_their_distances():
    """The clock is started at 0 for points and telemetry alike."""
    run = replace(timed(WHOLE, 1.79e9), telemetry=pd.DataFrame({"time": [1.79e9 + 5, 1.79e9 + 8], "gpu": 0}))
    view = blind(run, LABEL.steps, whole=True)
    times = view.curves["reward/mean"].time
    assert times is not None
    assert times[0] == 0
    assert np.allclose(np.diff(times), np.diff(view.curves["reward/mean"].step))
    assert np.allclose(view.telemetry["time"] - (5 - WHOLE.curves["reward/mean"].step[0]), [0, 3])


@pytest.mark.parametrize("corpus", ["unseen", "second"])
def test_the_shipped_corpus_leaks_nothing(corpus):
    """Every run of a held-back set at its first cut and whole, under labels of both kinds."""
    root = Path(__file__).parents[2] / "evals" / "corpus" / corpus
    shipped = read_corpus(root).labels
    found = []
    for run, label in shipped.items():
        read = read_run(root / "runs" / run)
        found += leaks(blind(read, label.prefixes[0.25].step), label, 0.25) + leaks(blind(read, label.steps, whole=True), label)
    assert found == []
    assert {label.healthy for label in shipped.values()} == {True, False}
