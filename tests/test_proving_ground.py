"""The proving ground: the same seed gives the same runs, faults act when they should, labels follow from the truth, logs can be read."""

import dataclasses
import json
import tarfile

import numpy as np
import pytest
from evals.proving_ground import against, control, faults, figures, judge, logs, make, plans, tokens, training, truth
from evals.proving_ground.faults import Broken
from rl_advisor.evals.corpus import read_corpus
from rl_advisor.reading import read_run

AT = np.linspace(0, 1, 41)


def small(number: int, steps: int = 12) -> plans.Block:
    """A block of four runs and a few steps."""
    whole = plans.block(1, number)
    runs = [dataclasses.replace(s, steps=steps) for s in whole.runs[:4]]
    return dataclasses.replace(whole, steps=steps, runs=runs)


def numbers_with(*learners: str) -> list[int]:
    """One block a learner."""
    return [next(n for n in (*range(80), *range(plans.LATER, 280)) if plans.block(1, n).learner == learner) for learner in learners]


@pytest.mark.parametrize("learner", ["grpo", "ppo", "dqn", "soft", "ppo_tokens", "sac"])
def test_a_block_is_the_same_for_the_same_seed(learner) -> None:
    """Training twice gives the same numbers, of the promised shape."""
    block = small(*numbers_with(learner), 6)
    one, two = training.train(block), training.train(block)
    assert all(np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f") for name in one)
    assert one["metrics"].shape[:2] == (4, block.steps)
    assert one["truth"].shape == one["seen"].shape == (4, len(one["moments"]))


@pytest.mark.parametrize(("learner", "shape"), [("grpo", (8, 8)), ("ppo_tokens", (64, 1))])
def test_a_policy_that_is_rewarded_learns_and_one_that_is_punished_does_not(learner, shape) -> None:
    """The true score rises in a sound run, and stays down with the reward turned: what is learned is real."""
    block = small(next(n for n in range(80) if plans.block(1, n).task == "table"), 60)
    base = faults.OF_TOKENS | faults.OF_VALUES | dict.fromkeys(("cap", "true_cap", "eval_cap"), 10.0) | {"lr": 0.02}
    sound = dataclasses.replace(block.runs[0], base=base, broken=[])
    turned = dataclasses.replace(sound, broken=[Broken("reward turned", 1.0, 0.0)])
    block = dataclasses.replace(block, learner=learner, runs=[sound, turned], shape=shape, skill=0.6, hidden=0.0)
    told = training.train(block)["truth"]
    assert told[0, -5:].mean() > told[0, 0] + 0.2
    assert told[1, -5:].mean() < told[0, 0]


def test_a_continuous_policy_learns_to_swing_up() -> None:
    """Soft actor-critic gets most of the way from a random policy to a very good one, in most of four runs."""
    block = small(next(n for n in range(plans.LATER, 280) if plans.block(1, n).task == "pendulum"), 60)
    sound = [
        dataclasses.replace(s, base=s.base | {"lr": 0.004, "gamma": 0.97, "noise": 0.0, "forget": 0.0, "target_rate": 0.02}, broken=[])
        for s in block.runs
    ]
    told = training.train(dataclasses.replace(block, runs=sound))["truth"]
    assert np.median(told[:, -8:].mean(axis=1)) > -350 > told[:, 0].mean()


@pytest.mark.parametrize("fault", sorted(faults.FAULTS))
def test_a_fault_acts_between_its_onset_and_its_end_only(fault) -> None:
    """Knobs stand where they stood before and after, and a stronger dose moves them further."""
    base = {"lr": 0.01} | faults.OF_TOKENS | faults.OF_GAMES | {"soft": 0.1}
    healthy, weak, strong = (faults.table(base, b, 100) for b in ([], [Broken(fault, 0.1, 0.4, 0.6)], [Broken(fault, 1.0, 0.4, 0.6)]))
    moved = [name for name in healthy if not np.array_equal(healthy[name], strong[name])]
    assert moved
    for name in moved:
        assert np.array_equal(healthy[name][:40], strong[name][:40])
        assert np.array_equal(healthy[name][60:], strong[name][60:])
        assert abs(strong[name][50] - healthy[name][50]) >= abs(weak[name][50] - healthy[name][50]) - 1e-6


def test_as_many_runs_are_sound_as_broken_and_the_held_out_part_is_apart() -> None:
    """Half of every group is sound; no task or fault of the held-out part is in the other one."""
    runs = [s for n in range(40) for s in plans.block(1, n).runs]
    assert sum(not s.broken for s in runs) == len(runs) / 2
    seen = [s for s in runs if not s.held]
    assert not {s.task for s in seen} & plans.HELD_TASKS
    assert not {b.fault for s in seen for b in s.broken} & plans.HELD_FAULTS
    assert set(faults.FAULTS) >= plans.HELD_FAULTS
    assert set(tokens.TASKS) | set(control.GAMES) >= plans.HELD_TASKS


def curve(*points: float, sd: float = 0.01) -> truth.Floats:
    """A true score through these points, with a little noise."""
    value = np.interp(AT, np.linspace(0, 1, len(points)), points)
    return value + np.random.default_rng(0).normal(0, sd, AT.size)


@pytest.mark.parametrize(
    ("score", "must", "may"),
    [
        (curve(0.1, 0.3, 0.6, 0.9), "improving", ""),
        (curve(0.1, 0.8, 0.8, 0.8), "plateaued", ""),
        (curve(0.1, 0.8, 0.8, 0.8, sd=0.05), "plateaued", ""),
        (curve(0.1, 0.1, 0.1), "not_learning", ""),
        (curve(0.9, 0.9, 0.9), "plateaued", ""),
        (curve(0.1, 0.8, 0.8, 0.4, 0.4), "degrading", ""),
        (curve(0.1, 0.8, 0.8, 0.0, 0.0), "collapsed", ""),
        (curve(0.5, 0.5, 0.0, 0.0), "collapsed", ""),
        (curve(0.1, 0.8, 0.2, 0.8, 0.2, 0.8, 0.2, 0.8, 0.2, 0.8), "unstable", "degrading"),
        (curve(0.1, 0.8, 0.2, 0.8, 0.85, 0.85), "plateaued", "improving"),
        (curve(0.1, 0.8, 0.8, 0.84), "plateaued", "improving"),
    ],
)
def test_the_verdict_follows_from_the_true_score(score, must, may) -> None:
    """A clear case has one verdict, the one that its definition gives; a near one may have two."""
    found = truth.verdicts(score, 0.95)
    assert must in found
    assert found <= {must, may}


def scores(true: truth.Floats) -> truth.Scores:
    """A run whose logged evaluation is its true score."""
    return truth.Scores(AT, true, true, np.empty(0))


def test_the_link_is_what_was_broken_and_mattered() -> None:
    """A fault that did harm is the link, one without effect is none, and of two the one that did it."""
    rising, ruined = scores(curve(0.1, 0.3, 0.5, 0.7, 0.9)), scores(curve(0.1, 0.3, 0.5, 0.0, 0.0))
    turned, noisy = Broken("reward turned", 1.0, 0.5), Broken("not a number", 1.0, 0.2, 0.21)
    assert truth.links(ruined, [turned], [rising, rising], {"collapsed"}) == ({"reward_signal"}, turned)
    assert truth.links(rising, [turned], [rising, rising], {"improving"}) == ({"none"}, None)
    assert truth.links(ruined, [noisy, turned], [rising, rising], {"collapsed"}) == ({"reward_signal"}, turned)
    assert truth.links(rising, [], [rising], {"improving"}) == ({"none"}, None)


def test_going_on_is_judged_by_what_came() -> None:
    """It pays where the best after the cut beats the best before by what matters."""
    assert truth.going_on(scores(curve(0.1, 0.3, 0.6, 0.9)), 0.5)["continue_pays"]
    assert not truth.going_on(scores(curve(0.1, 0.8, 0.8, 0.8)), 0.5)["continue_pays"]
    assert truth.going_on(scores(curve(0.1, 0.8)), 1.0) == {}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What a learner's block of forty steps left, trained when it is first asked for."""
    folder = tmp_path_factory.mktemp("trained")
    return lambda learner: np.load(training.trained_to(folder, small(*numbers_with(learner), 40)))


@pytest.mark.parametrize("convention", [c.name for c in logs.CONVENTIONS])
def test_what_is_written_can_be_read(convention, trained, tmp_path, monkeypatch) -> None:
    """The real readers find the reward in the files of every convention."""
    chosen = next(c for c in logs.CONVENTIONS if c.name == convention)
    monkeypatch.setattr(logs, "chosen", lambda *_: chosen)
    data = trained("grpo" if chosen.kind == "language" else "ppo")
    specs = json.loads(str(data["specs"]))
    assert make.log(tmp_path / "run", data, specs[0], 0).convention.name == convention
    run = read_run(tmp_path / "run")
    assert "reward/mean" in run.curves
    assert len(truth.of_block(data, specs)) == 4


def test_the_sample_is_the_same_for_the_same_runs_and_holds_sound_and_broken_ones(tmp_path) -> None:
    """Packing twice gives the same bytes; what comes out is a corpus that the evaluation reads."""
    block = small(*numbers_with("ppo"))
    training.trained_to(tmp_path, block)
    assert make.write(tmp_path) == len(block.runs)
    for name in ("one", "two"):
        make.pack(tmp_path, 3, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with tarfile.open(tmp_path / "one") as archive:
        archive.extractall(tmp_path / "out", filter="data")
    corpus = read_corpus(tmp_path / "out")
    assert len(corpus.labels) == 3
    assert all(label.truth.size and set(label.prefixes) == {0.25, 0.5, 0.75} for label in corpus.labels.values())


def test_the_figures_count_what_they_say() -> None:
    """A sound run called broken is a false alarm, a late break is power, a call is scored against what came."""
    sound = {"verdicts": ["improving"], "links": [], "cause": None, "split": "test", "steps": 100, "broken": []}
    ill = sound | {"verdicts": ["collapsed"], "links": ["numerics"], "cause": "not a number"}
    ill["broken"] = [{"fault": "not a number", "dose": 0.9, "onset": 0.3, "until": 1.0}]
    said = {
        "cut": 1.0,
        "verdict": "collapsed",
        "link": "numerics",
        "p": 0.2,
        "call": "stop",
        "probabilities": {"collapsed": 0.8, "improving": 0.2},
    }
    rows = figures.rows_of({"a": sound, "b": ill}, [said | {"run": "a"}, said | {"run": "b"}])
    told = figures.judgement(rows)
    assert (told["verdict"], told["link"], told["sound runs"], told["called broken"]) == (0.5, 0.5, 1, 1.0)
    assert told["mass on the truth"] == pytest.approx(0.5)
    assert figures.seen(figures.power(rows)) == {"runs": 1, "seen": 1.0, "verdict": 1.0, "link": 1.0}
    assert figures.band(0.3, (0, 0.25, 0.5)) == "0.25 to 0.5"
    assert figures.scored(np.array([True, False]), np.array([0.9, 0.1]), np.array([True, True]))["AUROC"] == 1


def test_the_judge_is_asked_as_it_wants_to_be_asked(trained, tmp_path) -> None:
    """A logged run is judged, alone and beside its sound kin, and what was weighed is told: the names asked for are still there."""
    data = trained("grpo")
    folders = []
    for i, spec in enumerate(json.loads(str(data["specs"]))[:2]):
        folders.append(tmp_path / "runs" / spec["name"])
        make.log(folders[-1], data, spec, i)
    told = judge.answer((str(folders[0]), 1.0, 1e9))
    assert "error" not in told
    assert {"verdict", "p", "link", "amounts", "facts", "said", "found"} <= set(told)
    beside = against.answer((str(folders[0]), (str(folders[1]),)))
    assert [row["beside"] for row in beside] == list(against.BESIDE)
