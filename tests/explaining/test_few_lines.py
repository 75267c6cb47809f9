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
