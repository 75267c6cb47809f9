"""Two small runs, on the test set and on the training set: each pair of ways has its answer, and noise is no rise."""

import json

import pytest
from click.testing import CliRunner
from evals.drawn import flat, make_run, rising, stepping
from rl_advisor.answers.probe import probe
from rl_advisor.answers.templates import case
from rl_advisor.cli.commands import main
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

UP, LEVEL = rising(n=80), flat(0.2, sd=0.03, n=80)


def run(values):
    return make_run({"reward/mean": values}, save_every=1000)


@pytest.mark.parametrize(
    ("test", "train", "branch"),
    [(UP, LEVEL, ("rose", "stayed")), (LEVEL, LEVEL, ("stayed", "stayed")), (UP, UP, ("rose", "rose")), (LEVEL, UP, ("stayed", "rose"))],
)
def test_each_pair_of_ways_has_its_answer(test, train, branch):
    """What is said and what to do follow from the two ways alone."""
    answer = probe(run(test), run(train))
    assert tuple(answer["branch"]) == branch
    assert {"said": answer["said"], "do": answer["do"]} == case("probe", dict(zip(("test", "train"), branch, strict=True)))
    assert ("should_accept_fn" in answer["do"]) == (branch == ("rose", "stayed"))


def test_a_rise_that_was_lost_again_is_a_rise():
    """The probe asks whether it can be learned, not whether it was kept."""
    lost = rising(0.2, 0.9, n=60).tolist() + stepping(0.05, 0.05, n=30).tolist()
    assert probe(run(lost), run(LEVEL))["branch"][0] == "rose"


@pytest.mark.parametrize("seed", range(12))
def test_noise_is_no_rise(seed):
    """Of curves without any course none is said to have risen."""
    assert probe(run(flat(0.3, sd=0.05, n=60, seed=seed)), run(LEVEL))["branch"][0] != "rose"


def test_few_points_tell_nothing_and_no_reward_is_refused():
    """Neither is taken for a reward that stayed."""
    assert probe(run(UP[:3]), run(UP))["branch"][0] == "cannot be told"
    with pytest.raises(UsageError, match="logs no training reward"):
        probe(Run(name="bare"), run(UP))


def test_the_command_takes_two_runs(tmp_path):
    """Test set first, training set second; a third is refused."""
    for name, values in (("test", UP), ("train", LEVEL)):
        (tmp_path / name).mkdir()
        rows = ({"step": i, "reward": float(v)} for i, v in enumerate(values))
        (tmp_path / name / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pair = [str(tmp_path / "test"), str(tmp_path / "train")]
    answer = json.loads(CliRunner().invoke(main, ["compare", "--probe", *pair, "--json"]).stdout)
    assert answer["branch"] == ["rose", "stayed"]
    assert "training data do not let it learn" in CliRunner().invoke(main, ["compare", "--probe", *pair]).output
    assert CliRunner().invoke(main, ["compare", "--probe", *pair, pair[0]]).exit_code == 2
