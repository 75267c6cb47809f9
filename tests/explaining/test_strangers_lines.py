"""What people paste, in the classes in which answers once failed: the sign, and what looks like it and is none. All numbers are made."""

import numpy as np
import pytest
from rl_advisor.answers.explain.pasted import run_of
from rl_advisor.tools import explain_log

TRL = (
    "{{'loss': {loss}, 'grad_norm': 0.4, 'rewards/accuracy_reward': {acc}, 'rewards/steps': {steps}, "
    "'reward': {r}, 'reward_std': 0.3, 'kl': 0.01}}"
)


def trl(acc: list[float]) -> str:
    """Rows of a GRPO run whose second part differs."""
    rows = zip(acc, (0.41, 0.44, 0.38, 0.47), strict=True)
    return "\n".join(TRL.format(loss=0.001, acc=a, steps=s, r=round(a + s, 2)) for a, s in rows)


PAIRS = "{{'loss': {}, 'rewards/chosen': {}, 'rewards/rejected': {}, 'rewards/margins': {}, 'rewards/accuracies': 1.0, 'epoch': 0.4}}"
STEP = "step:{} - actor/kl_loss:{} - actor/pg_loss:0.01 - actor/grad_norm:0.3 - actor/entropy:0.4 - critic/score/mean:0.2"
HYDRA = (
    "step takes 31 s\nalgorithm.adv_estimator=grpo\ndata.train_batch_size=32\nactor_rollout_ref.rollout.n={}\ndata.max_prompt_length=99\n"
)
UNITY = "INFO: Jump: Step: {}000. Time Elapsed: {}.5 s Mean Reward: {}. Std of Reward: {}. Training."


@pytest.mark.parametrize(
    ("there", "sign", "near"),
    [
        ("does not depend on the answer", trl([0.3] * 4), trl([0.3, 0.3, 0.31, 0.3])),
        ("does not depend on the answer", trl([0.3] * 4), trl([1.0] * 4)),
        (
            "fitted by heart",
            "\n".join(PAIRS.format(0.002, c, c - 9, 9) for c in (-6.1, -6.6, -7.0)),
            "\n".join(PAIRS.format(0.31, c, c - 2, 2) for c in (-0.4, -0.6, -0.7)),
        ),
        ("should be 0", STEP.format(1, 0.6), STEP.format(40, 0.6)),
        ("should be 0", STEP.format(1, 0.6), STEP.format(1, 0.0004)),
        (
            "single episode ended",
            "\n".join(UNITY.format(i, i * 9, r, 0.0) for i, r in ((2, 1.5), (4, 0.9), (6, 1.1))),
            "\n".join(UNITY.format(i, i * 9, r, 0.4) for i, r in ((2, 1.5), (4, 0.9), (6, 1.1))),
        ),
        ("threw a batch away", "The average ratio of batch (31.50) exceeds threshold 10.00. Skipping batch.", "skipping comments"),
        ("nothing is trained", "Cube: Step: 0. Mean Reward: -3.1. Std of Reward: 0.6. Not Training.", "Mean Reward: -3.1. Training."),
        ("room for contacts", "PhysX warning: the simulation will miss interactions", "contacts: 12"),
        (
            "clipped far below",
            "The magnitude of your environment rewards are more than 31.0x the scale of `vf_clip_param`.",
            "vf_clip_param: 10",
        ),
        ("wrapped otherwise", "UserWarning: Training and eval env are not of the same type", "eval env: Hopper"),
        ("do not fit", "We recommend you to use a symmetric and normalized Box action space", "action space: Box(3,)"),
        ("keys and values is too small", "Sequence group 7 is preempted by PreemptionMode.RECOMPUTE", "preempted: 0"),
        ("main memory", "Worker 3 died with exit code 137", "Worker 3 ended with exit code 1"),
        ("main memory", "actor died, SIGKILL", "actor died, SIGKILL is one potential cause"),
        ("compiled code broke down", "exitcode: -11", "exitcode: 0"),
        ("left out of the loss", "Could not find response key `### A:` in the following instance", "response key: A"),
        (
            "has diverged",
            "\n".join(f"step {i} q_loss: {v} ep_reward: -3{i}.5" for i, v in enumerate((3.1e13, 8.2e14, 4.4e15, 6.1e16))),
            "\n".join(f"step {i} q_loss: {v} ep_reward: -3{i}.5" for i, v in enumerate((310.0, 820.5, 440.2, 610.7))),
        ),
        (
            "nothing to compare an answer with",
            HYDRA.format(1),
            HYDRA.format(6),
        ),
        ("a token to learn from", PAIRS.format("nan", -0.3, "nan", "nan"), PAIRS.format(0.6, -0.3, -0.5, 0.2)),
    ],
)
def test_a_sign_is_said_and_its_neighbour_is_not(there: str, sign: str, near: str) -> None:
    said, other = (str(explain_log(text)) for text in (sign, near))
    assert there.lower() in said.lower()
    assert there.lower() not in other.lower()


def test_what_a_frozen_tower_or_a_reference_prints_is_no_fault() -> None:
    answer = explain_log(
        "UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n" + PAIRS.format(0.6, -0.3, -0.5, 0.2)
    )
    assert "Not normal" not in answer["summary"]


def test_untrained_numbers_are_no_pattern_of_a_trained_policy() -> None:
    answer = explain_log(PAIRS.format("nan", -0.3, "nan", "nan"), "why nan?")
    assert "VecCheckNan" not in str(answer)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Episode {0}: {1}", {"c1"}),
        ("Episode {0}/400 | Reward moyen (50 ep): {1}", {"Reward moyen"}),
        ("Iter {0} - score (higher is better): {1}, loss (actor): 0.{0}1", {"score", "loss/actor"}),
        ("Step: {0}. Time Elapsed: {0}.25 s Mean Reward: {1}.", {"Time Elapsed", "Mean Reward"}),
    ],
)
def test_what_stands_between_a_name_and_its_number_is_no_name(line: str, names: set[str]) -> None:
    run = run_of("\n".join(line.format(i, round(3.7 + i % 4, 1)) for i in range(1, 24)))
    assert {c.raw for c in run.curves.values()} == names
    first = next(c for c in run.curves.values() if c.raw in ("c1", "Reward moyen", "score", "Mean Reward"))
    np.testing.assert_allclose(first.value[:3], [4.7, 5.7, 6.7])


def test_two_names_that_differ_in_their_note_stay_two() -> None:
    run = run_of("\n".join(f"Iter {i} reward (mean): {i}.5 reward (max): {i}.9 loss: 0.{i}" for i in range(1, 9)))
    assert {"reward/mean", "reward/max"} <= {c.raw for c in run.curves.values()}


def test_slashes_part_names_and_nan_keeps_its_row() -> None:
    run = run_of("\n".join(f"[{i}000] q_loss {i}.5 / actor_grad_norm nan / reward_loss 1.{i} / div inf" for i in (1, 2, 3)))
    broken = next(c for c in run.curves.values() if c.raw == "actor_grad_norm")
    assert broken.value.size == 3
    assert np.isnan(broken.value).all()


def test_a_number_in_words_is_one() -> None:
    assert "always does the same" in str(explain_log("entropy is constant at zero and the reward does not move", "why?"))
    assert "always does the same" not in str(explain_log("entropy is not zero", "why?"))


@pytest.mark.parametrize(
    ("question", "slow"),
    [
        ("why so slow?", True),
        ("where does the time go?", True),
        ("why is the reward 0.5 all the time?", False),
        ("is this the first time?", False),
    ],
)
def test_time_is_asked_for_by_more_than_the_word(question: str, slow: bool) -> None:
    rows = "{'loss': 0.1, 'reward': 0.5, 'reward_std': 0.2, 'eval_runtime': 284.3, 'epoch': 0.1}\n"
    assert ("which phase" in explain_log(rows * 2, question)["summary"]) == slow


def test_a_value_in_the_question_is_not_called_normal_where_it_proves_a_fault() -> None:
    assert "0 is normal" not in explain_log("entropy is constant at zero", "why is the entropy zero?")["summary"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("the model gives the same response no matter what the prompt is, learning_rate=2e-5", "The same answer"),
        ("my kl divergence explodes", "KL to the reference"),
        ("SAC critic loss diverges", "A critic"),
        ("the policy suddenly collapses after a while", "It was good and then fell"),
        ("in dpo my chosen reward keeps falling below zero", "Both implicit rewards"),
        (
            "it collapses suddenly\nagent:\n  class: PPO\n  rollouts: 24\n  lambda: 0.95\n  gamma: 0.9\nthe reward is lost",
            "It was good",
        ),
        ("the answers are diverse", None),
        ("critic and actor share a body", None),
    ],
)
def test_a_symptom_without_numbers_gets_its_steps(text: str, title: str | None) -> None:
    answer = explain_log(text)
    assert bool(answer["steps"]) == bool(title)
    assert answer["summary"].startswith(title or "")


def test_rows_of_measures_one_below_the_other_are_no_settings() -> None:
    rows = "mean_reward: 3.1\nkl: 0.02\npolicy_loss: 0.3\nvalue_loss: 1.2\nentropy: 0.9\n"
    run = run_of(f"what do you think of these?\n{rows}")
    assert not run.config
    assert len(run.curves) == 5


ASKED = (
    (
        "step 40 | entropy 0.3 | reward 0.5",
        "is entropy 0.3 normal for GRPO on a 7B model?",
        ["entropy 0.3 is normal", "GRPO"],
        ["is entropy", "-60"],
    ),
    ("step 40 | entropy 0.3 | reward 0.5", "is entropy 0.3 normal?", ["entropy 0.3 is normal"], ["is entropy"]),
    (
        "actor/grad_norm:30 - actor/entropy:0.4 - critic/score/mean:0.3",
        "my grad norm is 30, ok?",
        ["actor/grad_norm 30 is not usual"],
        ["grad norm 30 is"],
    ),
    ("actor/grad_norm:30 - actor/entropy:0.4 - critic/score/mean:0.3", "is a grad norm of 0.5 ok?", ["grad norm 0.5 is normal"], []),
    (
        "rollout_probs_diff_mean 0.01 reward 0.4",
        "is a rollout_probs_diff_mean of 0.01 fine?",
        ["rollout_probs_diff_mean 0.01 is normal"],
        ["Not understood"],
    ),
    ("policy_loss -0.02 entropy 1.2 reward 20", "is it normal that policy loss is negative?", ["policy_loss -0.02 is normal"], ["10000"]),
)


@pytest.mark.parametrize(("lines", "question", "said", "unsaid"), ASKED)
def test_what_is_asked_of_a_number_is_told_of_it(lines: str, question: str, said: list[str], unsaid: list[str]) -> None:
    summary = explain_log(lines + "\n", question)["summary"]
    assert all(words in summary for words in said) and not any(words in summary for words in unsaid), summary


def test_a_row_without_a_step_is_not_the_first() -> None:
    """A KL far from 0 says that the reference is another model only where the row is known to be the first."""
    row = "{'loss': 0.0, 'grad_norm': 0.4, 'reward': 0.5, 'reward_std': 0.2, 'kl': 0.3, 'completion_length': 60.0, 'epoch': 0.4}"
    assert "first step" not in str(explain_log(row)["summary"])
    assert "first step" in str(explain_log(row.replace("{", "{'step': 1, "))["summary"])


def test_null_throughout_is_nothing_measured() -> None:
    rows = "\n".join(f'{{"step": {i}, "loss": -0.{i}, "eval_loss": null, "reward": 0.1{i}}}' for i in (1, 2, 3))
    assert "eval_loss" not in str(explain_log(rows, "why does the loss rise?"))
    assert "NaN" in str(explain_log(rows.replace("null", "NaN"), "why nan?"))


def test_a_count_in_the_question_is_no_value_of_what_it_names() -> None:
    assert "400" not in explain_log("learning_rate=1e-6", "at 400 steps the kl spikes, why?")["summary"]
    assert "400" in explain_log("learning_rate=1e-6", "is an entropy of 400 ok?")["summary"]


def test_a_value_that_was_never_set_is_said() -> None:
    text = 'fps total: 121436.5\nTraceback (most recent call last):\n  File "a.py", line 3, in train\n    return best\n'
    assert "never set" in str(explain_log(text + "UnboundLocalError: local variable 'best' referenced before assignment"))


@pytest.mark.parametrize(
    ("line", "name", "normal"),
    [
        ("reward=0.2 kl=15 entropy=0.001", "kl", "unusual"),  # neither an update nor a policy beside its reference goes so far
        ("reward=0.2 kl=15 entropy=0.001", "entropy", "unknown"),  # usual where actions are continuous alone
        ("reward=0.2 kl=0.01 entropy=0.5", "entropy", "normal"),
        ("reward=0.2 learning_rate=0.3", "learning_rate", "unknown"),
        ("reward=0.2 learning_rate=3e-4", "learning_rate", "normal"),
    ],
)
def test_what_one_kind_alone_has_is_not_called_normal_of_any(line, name, normal) -> None:
    assert next(m for m in explain_log(line)["metrics"] if m["name"] == name)["normal"] == normal
