"""Every row of the table of priors has a sound run on its right side, and the lookup widens with ignorance."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.run import Curve, Run
from rl_advisor.settings.priors import Circumstances, Prior, prior, table
from rl_advisor.settings.priors.circumstances import circumstances, updates_per_batch, weights
from rl_advisor.vocabulary import metric

KNOWN = ("method", "framework", "phase", "weights", "updates", "action")
SOUND = tuple(csv.DictReader((Path(__file__).parent / "healthy.csv").read_text(encoding="utf-8").splitlines()))
"""Values of sound runs: of this project's corpora, of public repositories, and of published recipes (marked so)."""
ROWS = [row for rows in table().values() for row in rows]


def told(line: dict[str, str]) -> Circumstances:
    return Circumstances(**{name: line[name] or None for name in KNOWN})


@pytest.mark.parametrize("line", SOUND, ids=lambda x: f"{x['metric']}-{x['run'][:24]}-{x['phase']}")
def test_sound_runs_are_usual(line) -> None:
    row = prior(line["metric"], told(line))
    assert row is not None
    assert row.side(float(line["value"])) == "usual", row


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r.metric}-{'-'.join(v for v in vars(r.given).values() if v)}")
def test_every_row_has_a_sound_run(row: Prior) -> None:
    asked = {name: value for name, value in vars(row.given).items() if value}
    told_of = [x for x in SOUND if x["metric"] == row.metric and prior_of(x, asked)]
    assert any(row.side(float(x["value"])) == "usual" for x in told_of)


def prior_of(line: dict[str, str], asked: dict[str, str]) -> bool:
    from rl_advisor.settings.priors import wider

    return all(value in wider(line[name]) for name, value in asked.items())


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r.metric}-{'-'.join(v for v in vars(r.given).values() if v)}")
def test_rows_are_in_order(row: Prior) -> None:
    assert metric(row.metric) or row.metric.startswith("setting/")
    assert row.possible[0] <= row.usual[0] <= row.usual[1] <= row.possible[1]
    assert row.source
    assert row.below or row.above or row.inside


@pytest.mark.parametrize(
    ("value", "known", "side"),
    [
        (1e-6, {"method": "grpo", "weights": "full"}, "usual"),
        (1e-3, {"method": "grpo", "weights": "full"}, "above"),
        (0.3, {"method": "grpo", "weights": "full"}, "far_above"),
        (2e-4, {"method": "grpo", "weights": "lora"}, "usual"),
        (2e-4, {"method": "grpo", "weights": "pretrained"}, "usual"),
        (2e-4, {"method": "grpo"}, "usual"),
        (0.3, {"method": "grpo"}, "far_above"),
        (0.3, {"method": "ppo"}, "far_above"),
        (0.3, {}, "usual"),
        (2.0, {}, "far_above"),
        (1e-3, {"method": "ppo"}, "usual"),
        (1e-3, {"method": "ppo", "framework": "mlagents"}, "above"),
        (math.nan, {"method": "ppo"}, "not_a_number"),
        (math.inf, {"method": "ppo"}, "far_above"),
    ],
)
def test_less_known_is_wider(value: float, known: dict[str, str], side: str) -> None:
    row = prior("policy/learning_rate", Circumstances(**known))
    assert row is not None
    assert row.side(value) == side


def test_clipping_nothing_is_right_with_one_update_a_batch() -> None:
    one = prior("ratio/clip_fraction", Circumstances(method="grpo", updates="one"))
    several = prior("ratio/clip_fraction", Circumstances(method="grpo", updates="several"))
    assert one is not None
    assert several is not None
    assert one.side(0.0) == several.side(0.0) == "usual"
    assert (one.side(0.05), several.side(0.05)) == ("above", "usual")
    assert "one update" in one.means(0.0)


def test_a_metric_without_a_row_has_no_prior() -> None:
    assert prior("reward/mean") is None
    assert prior("eval/score/anything") is None


def logged(*names: str, **rest) -> Run:
    return Run(curves={n: Curve(n, n, "", np.arange(3.0), np.ones(3)) for n in names}, **rest)


@pytest.mark.parametrize(
    ("run", "method"),
    [
        (logged("response/length", "reward/mean"), "grpo"),
        (logged("response/length", "value/loss"), "ppo_language"),
        (logged("response/length", "value/loss", settings={"algorithm": "grpo"}), "grpo"),
        (logged("reward/mean", config={"algo": "sac"}), "actor_critic_replay"),
        (logged("reward/mean", config={"algo": "qrdqn"}), "dqn"),
        (logged("reward/mean", "kl/old"), "ppo"),
        (logged("reward/mean", "entropy/coef_loss"), "actor_critic_replay"),
        (logged("reward/mean", "episode/length"), "control"),
        (logged("reward/mean"), None),
    ],
)
def test_method_of_a_run(run: Run, method: str | None) -> None:
    assert circumstances(run).method == method


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({"num_iterations": 1, "steps_per_generation": 8, "gradient_accumulation_steps": 8}, 1),
        ({"num_iterations": 2, "steps_per_generation": 8, "gradient_accumulation_steps": 4}, 4),
        (
            {
                "data.train_batch_size": 512,
                "actor_rollout_ref.actor.ppo_mini_batch_size": 256,
                "actor_rollout_ref.actor.ppo_epochs": 1,
            },
            2,
        ),
        ({"n_epochs": 10, "n_steps": 2048, "batch_size": 64}, 320),
        ({"noptepochs": 15, "nminibatches": 1}, 15),
        ({"num_iterations": 1}, None),
        ({}, None),
    ],
)
def test_updates_of_a_batch(config: dict[str, float], count: float | None) -> None:
    assert updates_per_batch(Run(config=config)) == count


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"use_peft": True, "model_name_or_path": "Qwen/Qwen2.5-7B"}, "lora"),
        ({"use_peft": False, "model_name_or_path": "Qwen/Qwen2.5-7B"}, "full"),
        ({"model_name_or_path": "Qwen/Qwen2.5-7B"}, "pretrained"),
        ({"actor_rollout_ref.model.lora_rank": 32}, "lora"),
        ({"model_name_or_path": "local"}, None),
    ],
)
def test_weights_that_are_trained(config: dict[str, object], kind: str | None) -> None:
    assert weights(config, {}) == kind


@pytest.mark.parametrize(("value", "given", "said"), [(0.3, {}, "tabular"), (3e-4, {}, ""), (0.3, {"method": "tabular"}, "")])
def test_what_is_usual_in_one_kind_alone_is_not_usual_where_nothing_says_the_kind(value, given, said):
    """A range as wide as all rows lets everything through."""
    one = prior("policy/learning_rate", Circumstances(**given)).only(value)
    assert (one.among if one else "") == said
