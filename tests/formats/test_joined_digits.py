"""Digits joined as in Python's source are no number in a log: a torn cell must not become a value that nobody wrote."""

import json
from pathlib import Path

import pytest
from rl_advisor.reading import read_run


def test_joined_digits_are_no_number(tmp_path: Path) -> None:
    """``0.49_84`` once became 0.4984."""
    rows = "".join(f"{i * 1000},0.5,{'0.49_84' if i == 3 else i / 8}\n" for i in range(1, 9))
    (tmp_path / "progress.csv").write_text("time/total_timesteps,train/loss,rollout/ep_rew_mean\n" + rows)
    run = read_run(tmp_path)
    assert not [v for c in run.curves.values() for v in c.value.tolist() if abs(v - 0.4984) < 1e-6]
    assert sum(c.value.size for c in run.curves.values()) >= 15


@pytest.mark.parametrize("name", ["metrics.jsonl", "trainer_state.json", "history.json", "completions.jsonl"])
def test_joined_digits_in_a_text_of_json_are_no_number(tmp_path: Path, name: str) -> None:
    """``"1_0"`` once became 10; texts that are numbers stay numbers."""
    rows = [{"step": i, "reward": "1_0" if i == 3 else f"{i}.5", "loss": 0.5} for i in range(1, 9)]
    if name.startswith("completions"):
        rows = [{**row, "prompt": "a", "completion": "b c"} for row in rows]
    text = "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps({"log_history": rows} if "state" in name else rows)
    (tmp_path / name).write_text(text)
    run = read_run(tmp_path)
    values = run.rollouts["reward"] if name.startswith("completions") else run.curves["reward/mean"].value
    assert 10.0 not in values.tolist()
    assert 4.5 in values.tolist()
