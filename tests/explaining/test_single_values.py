"""What a row or a handful proves by its values alone, each beside a near-miss that proves nothing; the same in a folder as in a paste."""

import pytest
from rl_advisor import tools
from rl_advisor.tools import explain_log

VERL = (
    "(pid=7) step:9 - actor/entropy:0.31 - actor/pg_loss:0.01 - actor/ppo_kl:0.0002 - actor/grad_norm:0.14 - actor/lr:0.000001 - "
    "critic/score/mean:{mean} - critic/score/max:{max} - critic/score/min:{min} - critic/advantages/mean:0.000 - "
    "response_length/mean:420.5 - response_length/max:2048.0 - response_length/min:12.0 - response_length/clip_ratio:0.02\n"
)
BASELINES = (
    "| approxkl | {kl} |\n| clipfrac | 0.0 |\n| policy_loss | {loss} |\n| policy_entropy | 1.31 |\n"
    "| explained_variance | 0.8 |\n| value_loss | 0.004 |\n| eprewmean | 12.5 |\n"
)
RSL = (
    "Learning iteration 900/1500\n\nMean action noise std: {std}\nMean value_function loss: 0.31\n"
    "Mean surrogate loss: -0.004\nMean reward: 21.4\nMean episode length: 640.2\n"
)
PARTED = "".join(f"step {100 * i} | train/reward {0.6 + 0.1 * i} | eval/pass@1 {{{i}}} | kl 0.9\n" for i in range(4))
ML_AGENTS = (
    "default:\n  trainer: ppo\n  batch_size: 64\n  buffer_size: 12000\n  learning_rate: {lr}\n"
    "  num_epoch: 3\n  hidden_units: 64\n  gamma: 0.99\n"
)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (VERL.format(mean=0.0, max=0.0, min=0.0), "reward_signal"),
        (VERL.format(mean=-1.0, max=-1.0, min=-1.0), "reward_signal"),
        (VERL.format(mean=0.02, max=1.0, min=0.0), None),
        (VERL.format(mean=1.0, max=1.0, min=1.0), None),
        (BASELINES.format(kl="4.1e-16", loss="-2.2e-08"), "policy_update"),
        (BASELINES.format(kl="4.1e-03", loss="-2.2e-03"), None),
        (RSL.format(std=9.1), "exploration"),
        (RSL.format(std=0.9), None),
        (PARTED.format(0.31, 0.27, 0.22, 0.16), "reward_signal"),
        (PARTED.format(0.31, 0.33, 0.36, 0.41), None),
    ],
)
def test_values_prove(text: str, link: str | None) -> None:
    causes = explain_log(text)["causes"]
    assert (causes[0]["link"] if causes else None) == link


@pytest.mark.parametrize(("rate", "link"), [("0.02", "policy_update"), ("0.0003", "none")])
def test_a_folder_of_settings_is_undecided_and_says_what_they_tell(tmp_path, rate: str, link: str) -> None:
    (tmp_path / "config.yaml").write_text(ML_AGENTS.format(lr=rate))
    answer = tools.assess_run(tmp_path)
    assert (answer["verdict"], answer["first_broken_link"]) == ("undecidable", link)


@pytest.mark.parametrize(
    ("line", "link"), [("KL divergence is starting to become negative: -4.1", "data_freshness"), ("KL divergence: 0.4", None)]
)
def test_a_trainers_warning_alone_is_judged(tmp_path, line: str, link: str | None) -> None:
    (tmp_path / "log.txt").write_text(f"ppo_trainer.py:88: UserWarning: {line}\n")
    if link is None:
        with pytest.raises(ValueError, match="could be read"):
            tools.assess_run(tmp_path)
    else:
        assert tools.assess_run(tmp_path)["first_broken_link"] == link


@pytest.mark.parametrize("word", ["slow", "slower than expected", "taking so long"])
def test_a_question_of_speed_is_answered_by_the_phase(word: str) -> None:
    text = VERL.format(mean=0.2, max=1.0, min=0.0).strip() + " - timing_s/gen:70.0 - timing_s/update_actor:20.0 - timing_s/step:100.0\n"
    assert explain_log(text, question=f"Why is it {word}?")["summary"].startswith("timing_s/gen takes 70 of 100 s")


@pytest.mark.parametrize(
    ("rows", "link"),
    [((-200, -200, -200), "exploration"), ((-200, -184, -200), None), ((500, 500, 500), None)],
    ids=["floor", "moves", "top"],
)
def test_a_return_that_never_differs(rows: tuple[int, ...], link: str | None) -> None:
    text = "".join(f"episode {100 * i} return {r} epsilon {0.9 - 0.1 * i:.1f}\n" for i, r in enumerate(rows))
    causes = explain_log(text)["causes"]
    assert (causes[0]["link"] if causes else None) == link


@pytest.mark.parametrize(
    ("line", "link"),
    [
        ("[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE) ran for 600041 milliseconds", "systems"),
        ("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.", "numerics"),
        ("[Rank 2] finished its collective operation in time", None),
    ],
)
def test_what_a_trainer_prints_at_its_end(line: str, link: str | None) -> None:
    causes = explain_log(line)["causes"]
    assert (causes[0]["link"] if causes else None) == link


def dpo(*chosen: float) -> str:
    rows = ((c, c - 0.2 - i) for i, c in enumerate(chosen))
    return "".join(
        f"{{'loss': 0.5, 'learning_rate': 5e-06, 'rewards/chosen': {c}, 'rewards/rejected': {r}, 'rewards/accuracies': 0.7, "
        f"'rewards/margins': {c - r:.2f}, 'logps/chosen': -212.0, 'logps/rejected': -240.1}}\n"
        for c, r in rows
    )


@pytest.mark.parametrize(("chosen", "link"), [((-0.3, -1.3, -3.6), "policy_update"), ((-0.3, -0.4, -0.5), None), ((-0.3, 0.3, 0.9), None)])
def test_preferred_answers_that_become_less_likely(chosen: tuple[float, ...], link: str | None) -> None:
    assert next((c["link"] for c in explain_log(dpo(*chosen))["causes"] if "displacement" in c["cause"]), None) == link


def test_the_sentence_before_the_question_says_what_it_asks_about() -> None:
    said = explain_log(f"{dpo(-0.3, -0.4, -0.5)}In DPO rewards/chosen is below zero all the time. Is this normal?")["summary"]
    assert said.startswith("rewards/chosen -0.3 to -0.5 (3 rows) is normal")
