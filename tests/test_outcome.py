"""Which metric of a stranger is taken as the outcome, and that it is called a guess."""

import numpy as np
import pytest
from rl_advisor.reading.outcome import Told, with_outcome
from rl_advisor.run import Curve, Run

NOISE = np.random.default_rng(3)


def _curves(*names: str) -> dict[str, Curve]:
    return {n: Curve(n, n, "log.csv", np.arange(30.0), np.cumsum(NOISE.normal(size=30))) for n in names}


@pytest.mark.parametrize(
    ("names", "chosen", "runner_up"),
    [
        (("proxy", "gold", "kl"), "gold", "proxy"),
        (("consensus_rprec", "best_f1", "policy_kl", "grad_norm"), "consensus_rprec", "best_f1"),
        (("critic_loss", "environment", "temp_loss", "value_scale"), "environment", ""),
        (("probe_yellow_win_rate", "probe_blue_win_rate", "sigma", "best_fitness"), "probe_yellow_win_rate", "probe_blue_win_rate"),
        (("Elo", "policy_loss", "entropy"), "Elo", ""),
        (("dev_bleu", "avg_exact_kl", "loss"), "dev_bleu", ""),
        (("losses/old_approx_kl", "entropy", "SPS"), "", ""),
        (("loss", "learning_rate", "grad_norm", "epoch"), "", ""),
        (("train_loss", "accuracy", "lr"), "", ""),
    ],
)
def test_the_likeliest_outcome(names: tuple[str, ...], chosen: str, runner_up: str) -> None:
    """Words decide first; where only losses are, or a supervised trainer writes, there is none."""
    curves, guess = with_outcome(_curves(*names), Told({}, "", names))
    assert (guess.raw if guess else "") == chosen
    assert (guess.runner_up if guess else "") == runner_up
    assert sum(c.guessed for c in curves.values()) == (chosen != "")


def test_configuration_and_readme_decide_between_equals() -> None:
    """What the configuration names as its metric goes before what stands first."""
    names = ("red_won", "blue_won", "entropy")
    for told in (Told({"metric_for_best_model": "blue_won"}, "", names), Told({}, "The main metric is `blue_won`.", names)):
        guess = with_outcome(_curves(*names), told)[1]
        assert guess is not None
        assert guess.raw == "blue_won"


def test_less_is_better_is_turned_and_said() -> None:
    """A cost goes down when things go well."""
    curves, guess = with_outcome(_curves("episode_cost", "entropy"), Told({}, "", ("episode_cost", "entropy")))
    assert guess is not None
    assert guess.lower_is_better
    assert "sign is turned" in curves["reward/mean"].note


def test_what_nobody_explained_and_moved() -> None:
    """Counters and noise are left out, the surest stands first."""
    steps = np.arange(50.0)
    rows = {"elo": 1000 + 5 * steps + NOISE.normal(size=50), "noise": NOISE.normal(size=50), "tokens": 100 * steps}
    run = Run(curves={n: Curve(n, n, "x", steps, v) for n, v in rows.items()})
    assert [raw for raw, *_ in run.unmapped_moved()] == ["elo"]
