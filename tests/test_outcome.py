"""Which metric of a stranger is taken as the outcome, and that it is called a guess."""

import numpy as np
import pytest
from rl_advisor.curves.outcomes import held_out
from rl_advisor.reading import read_run
from rl_advisor.reading.guessing import Told, with_outcome
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
        (("MB", "kB"), "", ""),
        (("TPU program HBM usage", "passes stage duration", "instructions"), "", ""),
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


def test_of_two_scores_with_as_many_points_the_one_that_moves_counts() -> None:
    """A score that never left its place says less than another one of the same evaluations."""
    step, moves = np.arange(10.0), Curve("eval/score/win_rate_percent", "win_rate_percent", "log.csv", np.arange(10.0), np.arange(10.0))
    still = Curve("eval/score/reward", "reward", "log.csv", step, np.zeros(10))
    for curves in ((moves, still), (still, moves)):
        assert held_out(Run(curves={c.name: c for c in curves})) is moves


@pytest.mark.parametrize(("name", "chosen"), [("indices", ""), ("wins", "wins")])
def test_what_only_counts_up_is_no_outcome(name: str, chosen: str) -> None:
    """A list of places rises by steps of any size; what speaks for an outcome may rise all the time."""
    rising = np.cumsum(np.random.default_rng(4).integers(1, 40, 300)).astype(float)
    _curves, guess = with_outcome({name: Curve(name, name, "log.json", np.arange(300.0), rising)}, Told({}))
    assert (guess.raw if guess else "") == chosen


def test_configuration_and_readme_decide_between_equals() -> None:
    """What the configuration names as its metric goes before what stands first."""
    names = ("red_won", "blue_won", "entropy")
    for told in (Told({"metric_for_best_model": "blue_won"}, "", names), Told({}, "The main metric is `blue_won`.", names)):
        guess = with_outcome(_curves(*names), told)[1]
        assert guess is not None
        assert guess.raw == "blue_won"


def test_less_is_better_is_turned_and_said() -> None:
    """A cost goes down when things go well, and its owner sees from the name that its sign is turned."""
    for cost in ("episode_cost", "exploitability", "NashConv", "final_distance", "total tardiness"):
        curves, guess = with_outcome(_curves(cost, "entropy"), Told({}, "", (cost, "entropy")))
        assert guess is not None
        assert guess.lower_is_better and guess.raw == cost
        assert "sign is turned" in curves["reward/mean"].note
        assert curves["reward/mean"].raw == f"-{cost}"
    for gain in ("distance_travelled", "episode_score"):
        assert with_outcome(_curves(gain, "entropy"), Told({}, "", (gain, "entropy")))[0]["reward/mean"].raw == gain


def test_what_nobody_explained_and_moved() -> None:
    """Counters and noise are left out, the surest stands first."""
    steps = np.arange(50.0)
    rows = {"elo": 1000 + 5 * steps + NOISE.normal(size=50), "noise": NOISE.normal(size=50), "tokens": 100 * steps}
    run = Run(curves={n: Curve(n, n, "x", steps, v) for n, v in rows.items()})
    assert [raw for raw, *_ in run.unmapped_moved()] == ["elo"]


@pytest.mark.parametrize(
    ("files", "inner", "raw"),
    [
        ({"stats.json": '{"ql_rewards": [1, 2, 3, 5], "dqn_rewards": [4, 6, 5, 7]}'}, "stats.json#ql_rewards", "ql_rewards"),
        ({"losses.txt": "0.5\n0.25\n0.2\n0.1\n0.05\n0.03\n", "rewards.txt": "3\n5\n4\n6\n6\n"}, "", "rewards"),
        (
            {
                "pre_log.csv": "epoch,train_loss,val_loss\n" + "".join(f"{i},{1 / i},{2 / i}\n" for i in range(1, 20)),
                "rl_log.csv": "epoch,loss,reward_mean\n" + "".join(f"{i},{1 / i},{i}\n" for i in range(1, 6)),
            },
            "",
            "reward_mean",
        ),
    ],
    ids=["a column is asked for", "files that only have an order", "beside supervised training"],
)
def test_the_outcome_stands_in_one_of_several_places(tmp_path, files, inner, raw):
    """Whatever lies beside it: the column that was asked for, the file of rewards, the part that learns by reward."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert [c.raw for n, c in read_run(tmp_path / inner if inner else tmp_path).curves.items() if n == "reward/mean"] == [raw]
