"""Digits joined as in Python's source are no number in a log: a torn cell must not become a value that nobody wrote."""

from pathlib import Path

from rl_advisor.reading import read_run


def test_joined_digits_are_no_number(tmp_path: Path) -> None:
    """``0.49_84`` once became 0.4984."""
    rows = "".join(f"{i * 1000},0.5,{'0.49_84' if i == 3 else i / 8}\n" for i in range(1, 9))
    (tmp_path / "progress.csv").write_text("time/total_timesteps,train/loss,rollout/ep_rew_mean\n" + rows)
    run = read_run(tmp_path)
    assert not [v for c in run.curves.values() for v in c.value.tolist() if abs(v - 0.4984) < 1e-6]
    assert sum(c.value.size for c in run.curves.values()) >= 15
