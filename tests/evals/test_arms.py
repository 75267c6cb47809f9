"""The baseline arms on curves whose right answer is plain, and one table for all of them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from evals.lab import rules
from evals.lab.arms import ARMS, patience
from evals.lab.table import compare_answers, compare_arms, markdown
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run
from shared_corpus import CORPUS, LABELS, truth

STEPS = np.arange(0.0, 200.0)
RNG = np.random.default_rng(3)
NOISE = RNG.normal(0, 0.01, STEPS.size)
RISING = STEPS / 200
FLAT = 0.5 + 0 * STEPS
PEAKED = 1 - np.abs(STEPS - 60) / 140


def run(planned: int = 400, **curves) -> Run:
    names = {name.replace("__", "/"): values + NOISE for name, values in curves.items()}
    return Run(curves={n: Curve(n, n, "log.csv", STEPS, v) for n, v in names.items()}, planned_steps=planned)


@pytest.mark.parametrize(
    ("arm", "reward", "verdict", "call"),
    [
        ("always_continue", PEAKED, "improving", "continue"),
        ("always_stop", RISING, "plateaued", "stop"),
        ("patience_10", PEAKED, "plateaued", "stop"),
        ("patience_10", RISING, "improving", "continue"),
        ("patience_30", np.minimum(RISING, 0.75), "improving", "continue"),
        ("trend_test", RISING, "improving", "continue"),
        ("trend_test", PEAKED, "degrading", "stop"),
        ("trend_test", FLAT, "plateaued", "stop"),
        ("wandb_score", RISING, "improving", "continue"),
        ("wandb_score", FLAT, "plateaued", "stop"),
        ("wandb_score", 1 - RISING, "degrading", "stop"),
        ("rldoctor_like", RISING, "improving", "continue"),
        ("rldoctor_like", PEAKED, "degrading", "stop"),
    ],
)
def test_arms_answer_by_their_rule(arm, reward, verdict, call):
    """Rising, flat and peaked rewards, each judged as the rule says."""
    said = ARMS[arm](run(planned=250, reward__mean=reward))
    assert (said["verdict"], said["call"]) == (verdict, call)


def test_patience_counts_in_shares_of_the_plan():
    """A best value 140 steps old is stale at a third of 400 steps, and not at a third of 600."""
    arm = patience(0.33)
    assert arm(run(planned=400, reward__mean=PEAKED))["call"] == "stop"
    assert arm(run(planned=600, reward__mean=PEAKED))["call"] == "continue"


def test_budget_only_looks_at_nothing_else():
    """Half of the plan is left whatever the reward does."""
    for reward in (RISING, PEAKED):
        assert ARMS["budget_only"](run(planned=398, reward__mean=reward))["p_continue_pays"] == pytest.approx(0.5)


def test_the_loss_rule_reads_the_loss():
    """A falling loss passes, a rising one is taken for a break, whatever the reward does."""
    assert ARMS["wandb_loss"](run(policy__loss=1 - RISING, reward__mean=PEAKED))["verdict"] == "improving"
    assert ARMS["wandb_loss"](run(policy__loss=RISING, reward__mean=RISING))["verdict"] == "degrading"


@pytest.mark.parametrize(
    ("curves", "link"),
    [
        ({"kl__ref": 3 * RISING}, "policy_update"),
        ({"kl__ref": 1.5 * RISING}, "none"),
        ({"entropy__mean": 2 * np.exp(-STEPS / 50)}, "exploration"),
        ({"entropy__mean": 2 - RISING}, "none"),
        ({"reward__flat_groups": FLAT + 0.1}, "training_signal"),
        ({"eval__score/accuracy": 1 - RISING}, "reward_signal"),
    ],
)
def test_rldoctor_like_alarms_by_threshold(curves, link):
    """Each alarm beside a near miss, on a run whose reward rises."""
    assert ARMS["rldoctor_like"](run(reward__mean=RISING, **curves))["first_broken_link"] == link


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_survives_an_empty_run(arm):
    """No curve, no plan: still an answer, and no checkpoint is named that was never seen."""
    said = ARMS[arm](Run()) if arm != "rldoctor" else {"verdict": "improving", "call": "continue"}
    assert said["call"] in ("continue", "stop")
    assert not said.get("best_step")


def test_mann_kendall_by_hand():
    """S of four rising values is 6 with variance 26/3, ties take their part of the variance away."""
    assert rules.mann_kendall(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx((5 / (26 / 3) ** 0.5, 6))
    assert rules.mann_kendall(np.array([1.0, 1.0, 1.0])) == (0.0, 0.0)
    assert rules.mann_kendall(np.array([1.0, 1.0, 2.0]))[0] == pytest.approx(1 / ((66 - 18) / 18) ** 0.5)


def test_slope_ignores_an_outlier():
    """The median slope of a line with one wild point is that of the line."""
    values = 2 * STEPS
    values[50] = 1e6
    assert rules.slope(STEPS, values) == pytest.approx(2)


def test_one_table_for_all_arms():
    """Each arm is a line of each table, the probability columns are empty where an arm has none, and each run is read once."""
    reads = []

    def read(path):
        reads.append(path.name)
        return read_run(path)

    chosen = {name: ARMS[name] for name in ("always_continue", "budget_only")}
    results = compare_arms(CORPUS, chosen, read=read, resamples=5)
    text = markdown(results)
    assert reads == list(LABELS)
    assert text.count("| always_continue |") == text.count("| budget_only |") == 3
    pooled = text.split("pooled")[1]
    assert pooled.split("| always_continue |")[1].split("\n")[0].count("| - |") + 1 >= 2


def test_differences_are_paired():
    """An arm differs from itself by nothing in every sample, and from another by the difference of their scores."""
    chosen = {name: ARMS[name] for name in ("always_continue", "always_stop", "budget_only")}
    results = compare_arms(CORPUS, {"again": ARMS["always_stop"], **chosen}, reference="always_stop", resamples=20)
    assert results["again"]["difference"]["whole"]["verdict_hit"] == [0, 0, 0]
    scores = [results[name]["cuts"]["1"]["verdict_hit"] for name in ("always_continue", "always_stop")]
    assert results["always_continue"]["difference"]["whole"]["verdict_hit"][0] == pytest.approx(scores[0] - scores[1])
    assert results["budget_only"]["difference"]["prefixes"]["auroc"] == [None, None, None]
    assert "difference" not in results["always_stop"]


def test_answers_stand_beside_arms_on_what_they_answer(tmp_path):
    """Two files that share three answers: every line of the table is scored on these three, arms of ours too."""
    lines = [truth(label, cut) for label in LABELS.values() for cut in (0.5, 1.0)]
    files = {"right": tmp_path / "a.jsonl", "few": tmp_path / "b.jsonl"}
    for path, kept in zip(files.values(), (lines, lines[:3]), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    results = compare_answers(CORPUS, files, {"always_stop": ARMS["always_stop"]}, resamples=3)
    assert {name: sum(block["n"] for block in r["cuts"].values()) for name, r in results.items()} == dict.fromkeys(results, 3)
    assert results["right"]["cuts"]["1"]["verdict_hit"] == 1 > results["always_stop"]["cuts"]["1"]["verdict_hit"]
    (tmp_path / "b.jsonl").write_text(json.dumps({"run": "run-09", "verdict": "improving"}) + "\n")
    with pytest.raises(ValueError, match="no run"):
        compare_answers(CORPUS, files)


def test_the_table_is_one_command():
    """``python -m evals.lab CORPUS`` prints the table of the chosen arms and nothing else."""
    command = [sys.executable, "-m", "evals.lab", str(CORPUS), "--arm", "always_stop", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert json.loads(done.stdout)["always_stop"]["runs"] == 4
