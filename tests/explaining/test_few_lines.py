"""A text of a few lines, in which there is no table, is judged as pasted lines are read: by every door the same."""

import pytest
from rl_advisor import tools
from rl_advisor.reading import UnreadableRun

ONE_ROW = "reward: 0.11   reward_std: 0.02   completions/mean_length: 211   completions/clipped_ratio: 0.25\ngrad_norm: 0.4   loss: 0.003\n"
RLLIB = "episode_len_mean: .nan\nepisode_reward_mean: .nan\nepisodes_this_iter: 0\nepisodes_total: 0\n"


@pytest.mark.parametrize("text", [ONE_ROW, RLLIB])
def test_one_row_is_judged_as_undecided(tmp_path, text):
    (tmp_path / "log.txt").write_text(text)
    answer = tools.assess_run(tmp_path)
    assert answer["verdict"] == "undecidable"
    assert any("few lines" in gap["why"] for gap in tools.load_run(tmp_path)["gaps"])


@pytest.mark.parametrize("text", ["It stayed at 95 % for us.\n", "learning_rate: 1e-6\n", "alpha: 3\nbeta: 4\n", "reward: 1.0\n", ""])
def test_what_holds_no_two_known_measures_is_refused(tmp_path, text):
    (tmp_path / "log.txt").write_text(text)
    with pytest.raises(UnreadableRun):
        tools.assess_run(tmp_path)


@pytest.mark.parametrize(
    ("row", "tells", "not_told"),
    [
        # A rate below the digits that are printed is no rate of 0.
        ("{{'loss': {0:.4f}, 'learning_rate': 0.0, 'rewards/chosen': {1:.3f}, 'rewards/rejected': -{1:.3f}}}", "Printed as 0", "too low"),
        ("{{'loss': {0:.4f}, 'learning_rate': 1e-09, 'rewards/chosen': {1:.3f}, 'rewards/rejected': -{1:.3f}}}", "", "Printed as 0"),
        ("gen={2} best_fitness={1:.2f} mean_fitness={1:.2f}", "Nearly all members are as good", "something to select"),
        ("gen={2} best_fitness={1:.2f} mean_fitness={3:.2f}", "something to select", "Nearly all"),
        # NaN beside a reward that goes on is told, and no collapse.
        ("step {2} | reward {1:.3f} | policy_loss {4} | value_loss {4}", "while the outcome goes on", "the computation broke"),
    ],
)
def test_what_a_number_says_by_its_neighbours(row, tells, not_told) -> None:
    """One row is read beside those before it, and beside what else stands in it."""
    rows = [row.format(0.7 / (1 + i), 1 + i / 9, i, 0.4 + i / 30, "nan" if i > 9 else 0.02 * (1 + i % 3)) for i in range(20)]
    text = str(tools.explain_log("\n".join(rows)))
    assert tells in text
    assert not_told not in text
