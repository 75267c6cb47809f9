"""What rises up to its last point lost nothing of it, whatever it did before; what falls after its best did."""

import numpy as np
import pytest
from rl_advisor import tools

RISES = np.linspace(20, 60, 60)
DIPS = np.r_[RISES, np.linspace(60, 45, 40)]
SOLVED = np.r_[DIPS, np.linspace(60, 300, 4)]


@pytest.mark.parametrize(
    ("values", "verdicts"),
    [(SOLVED, {"improving", "unstable"}), (np.r_[SOLVED, np.linspace(280, 60, 30)], {"degrading", "collapsed"})],
    ids=["solved at the end", "and then lost"],
)
def test_a_best_at_the_last_point_is_no_decline(tmp_path, values, verdicts):
    noise = np.random.default_rng(7).normal(0, 1.5, values.size)
    rows = "".join(f"{i},{v:.3f}\n" for i, v in enumerate(values + noise))
    (tmp_path / "progress.csv").write_text(f"step,mean_reward\n{rows}")
    assert tools.assess_run(tmp_path / "progress.csv")["verdict"] in verdicts
