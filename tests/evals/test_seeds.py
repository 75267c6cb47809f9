"""Situations of the seeds end to end: made as a framework leaves them, read, judged, and answered as the seed says."""

from pathlib import Path

import pytest
from evals.seeds.__main__ import SITUATIONS, asked
from evals.seeds.expected import lacking

HELD = (
    *("w1_exact", "w1_slight_decline", "w2", "sb3_w2_epochs10"),
    *("kl_up_rew_up", "kl_up_rew_flat_noeval", "kl_up_rew_flat_beta0", "kl_up_rew_down", "kl_flat_rew_up", "kl_flat_rew_flat"),
    *("notrising_trl", "areal_notrising", "eval_jump_down", "components", "splits", "areal_stale", "areal_seednames", "j_samey"),
)
"""Both walkthroughs, the cells of KL against reward, and one of each other kind; ``python -m evals.seeds`` asks them all."""


@pytest.mark.parametrize("name", HELD)
def test_situation(name: str, tmp_path: Path) -> None:
    """The answer has what the seed asks for and nothing that it forbids."""
    situation = SITUATIONS[name]
    assert lacking(asked(name, situation.frameworks[0], 1, tmp_path / "run"), situation.expected) == []


def test_every_situation_stands_for_a_row() -> None:
    """No situation is there for its own sake, and no name is used twice."""
    assert all(s.rows for s in SITUATIONS.values())
    assert len(SITUATIONS) >= 75
